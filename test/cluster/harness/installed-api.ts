import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { kubeconfigPath } from './cluster.ts';
import { projectDir } from './project.ts';

const run = promisify(execFile);

/** The API of the installation of dev/demo/install, as a user of its tenant `demo` sees it. */
export interface InstalledApi {
  /** Where it answers on this machine. */
  readonly server: string;
  readonly token: string;
  close(): Promise<void>;
}

/** Reaches the installed API through a port of the loopback interface. */
export async function openInstalledApi(user: string): Promise<InstalledApi> {
  const token = (await run(join(projectDir, 'dev/oidc/token'), ['--user', user, '--tenant', 'demo'])).stdout.trim();
  return { token, ...(await forwardTo('windlass-api', 8_080)) };
}

/** Reaches a service of the installation so. Network policies do not see who asks. */
export async function forwardTo(service: string, port: number): Promise<Pick<InstalledApi, 'server' | 'close'>> {
  const forward = spawn('kubectl', ['-n', 'windlass-system', 'port-forward', `service/${service}`, `:${port}`], {
    env: { ...process.env, KUBECONFIG: kubeconfigPath() },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return {
    server: `http://127.0.0.1:${await portOf(forward.stdout)}`,
    async close() {
      forward.kill();
      await once(forward, 'exit');
    },
  };
}

async function portOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const port = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return port;
  }
  throw new Error('kubectl port-forward ended without a port');
}
