import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pause } from '../../harness/wait.ts';
import { kubeconfigPath } from '../../harness/cluster.ts';
import { programPath } from '../../outputs/programs.ts';
import { programOf } from './mirror.ts';

const run = promisify(execFile);
const namespace = 'windlass-system';
const deployment = 'deployment/windlass-api';
const port = 8_099;
const variable = 'PAYMENT_PROVIDER_API_URL';
const container = 'payment-mirror';

async function kubectl(...args: string[]): Promise<string> {
  const program = await programPath('kubectl');
  const of = ['--kubeconfig', kubeconfigPath(), '--namespace', namespace];
  return (await run(program, [...of, ...args])).stdout;
}

/**
 * Has the API take an address of its own pod for the payment provider. The chart sets no other one than the true one.
 * The caller installs next, and waits there for the pods of both changes.
 */
export const usePaymentMirror = (): Promise<string> =>
  kubectl('set', 'env', deployment, `${variable}=http://127.0.0.1:${port}/`);

export const forgetPaymentMirror = (): Promise<string> => kubectl('set', 'env', deployment, `${variable}-`);

/** Starts the mirror in the pod, whose address nothing else reaches. Resolves to what it has got once that is something. */
export async function startPaymentMirror(pod: string, image: string): Promise<() => Promise<string>> {
  const command = ['/usr/local/bin/node', '--input-type=module', '--eval', programOf('127.0.0.1', port)];
  const options = [`--image=${image}`, `--container=${container}`, '--profile=restricted', '--attach=false', '--quiet'];
  await kubectl('debug', `pod/${pod}`, ...options, '--', ...command);
  const log = (): Promise<string> => kubectl('logs', pod, '--container', container);
  for (let attempt = 0; attempt < 60; attempt += 1) {
    if ((await log().catch(() => '')).includes('mirror listens')) return log;
    await pause(1_000);
  }
  throw new Error(`the mirror does not start in the pod ${pod}`);
}
