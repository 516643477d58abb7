import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildDir } from '../../harness/project.ts';
import { programPath } from '../../outputs/programs.ts';

const run = promisify(execFile);

/** The account of the API that the chart makes: the admission policies trust it to name others as authors. */
const account = { namespace: 'windlass-system', name: 'windlass-api' };

interface Kubeconfig {
  readonly clusters: readonly { readonly name: string; readonly cluster: object }[];
}

/**
 * A kubeconfig with which a process on this machine is the API's service account to the API server, by a token of six
 * hours, as it would be in a pod. Written to a file that only we can read.
 */
export async function writeApiKubeconfig(admin: string, name: string): Promise<string> {
  const kubectl = await programPath('kubectl');
  const ask = async (...args: string[]): Promise<string> =>
    (await run(kubectl, ['--kubeconfig', admin, ...args])).stdout;
  const config = JSON.parse(await ask('config', 'view', '--minify', '--raw', '--output', 'json')) as Kubeconfig;
  const token = await ask('--namespace', account.namespace, 'create', 'token', account.name, '--duration', '6h');
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
      users: [{ name: 'api', user: { token: token.trim() } }],
      contexts: [{ name: 'api', context: { cluster: 'cluster', user: 'api' } }],
      'current-context': 'api',
    }),
  );
  return file;
}
