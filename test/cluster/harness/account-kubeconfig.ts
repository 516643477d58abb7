import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programPath } from '../outputs/programs.ts';
import { buildDir } from './project.ts';

const run = promisify(execFile);

interface Kubeconfig {
  readonly clusters: readonly { readonly name: string; readonly cluster: object }[];
}

/**
 * A kubeconfig with which a process on this machine is that service account of the release to the API server, by a token
 * of six hours, as it would be in a pod. Written to a file `NAME.kubeconfig` that only we can read.
 */
export async function writeAccountKubeconfig(admin: string, account: string, name: string): Promise<string> {
  const kubectl = await programPath('kubectl');
  const ask = async (...args: string[]): Promise<string> =>
    (await run(kubectl, ['--kubeconfig', admin, ...args])).stdout;
  const config = JSON.parse(await ask('config', 'view', '--minify', '--raw', '--output', 'json')) as Kubeconfig;
  const token = await ask('--namespace', 'windlass-system', 'create', 'token', account, '--duration', '6h');
  const [cluster] = config.clusters;
  const file = join(buildDir, `${name}.kubeconfig`);
  await mkdir(buildDir, { recursive: true });
  await writeFile(file, '', { mode: 0o600 });
  await chmod(file, 0o600);
  await writeFile(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'cluster', cluster: cluster?.cluster }],
      users: [{ name: account, user: { token: token.trim() } }],
      contexts: [{ name: account, context: { cluster: 'cluster', user: account } }],
      'current-context': account,
    }),
  );
  return file;
}
