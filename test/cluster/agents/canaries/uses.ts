import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type KubeClient, type Pod, pods } from '../../../../lib/kube/index.ts';
import { kubeconfigPath } from '../../harness/cluster.ts';
import { isReady } from '../../harness/api-pods.ts';
import { programPath } from '../../outputs/programs.ts';

const run = promisify(execFile);
const namespace = 'windlass-system';
const ofPrograms = 'app.kubernetes.io/name=windlass-mcp-program';

/** Names of the Secrets that ready pods of the installation have: a kubelet starts no container without what it names. */
export async function secretsInUse(kube: KubeClient): Promise<ReadonlySet<string>> {
  const { items } = await kube.listAll(pods, { namespace });
  return new Set(items.filter(isReady).flatMap(namesIn));
}

/** Every name below `secret`, `secretKeyRef` and `secretRef`, and every `secretName`. */
function namesIn({ spec }: Pod): string[] {
  const names: string[] = [];
  JSON.stringify(spec, (field, value: unknown) => {
    if (field === 'secretName' && typeof value === 'string') names.push(value);
    if (/^secret(?:KeyRef|Ref)?$/.test(field)) {
      const { name } = value as { readonly name?: string };
      if (name !== undefined) names.push(name);
    }
    return value;
  });
  return names;
}

/** Prints the digest of the variable in the environment of each program over stdio, and never the variable. */
const digests = (variable: string): string => `
const { createHash } = require('node:crypto');
const { readdirSync, readFileSync } = require('node:fs');
const read = (path) => { try { return readFileSync(path, 'utf8').split('\\0'); } catch { return []; } };
for (const id of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)) {
  const found = read('/proc/' + id + '/environ').find((entry) => entry.startsWith('${variable}='));
  if (found && read('/proc/' + id + '/cmdline').includes('--eval'))
    console.log(createHash('sha256').update(found.slice(${variable.length + 1})).digest('hex'));
}`;

/** Digests of a variable in the processes of programs that speak over stdio, of all tenants. */
export async function programVariables(kube: KubeClient, variable: string): Promise<readonly string[]> {
  const { items } = await kube.listAll(pods, { namespace, labelSelector: ofPrograms });
  const kubectl = await programPath('kubectl');
  const command = ['--', '/usr/local/bin/node', '--eval', digests(variable)];
  const ofPod = async ({ metadata: { name = '' } }: Pod): Promise<string[]> => {
    const args = ['--kubeconfig', kubeconfigPath(), '--namespace', namespace, 'exec', name, ...command];
    return (await run(kubectl, args)).stdout.split('\n').filter((line) => line !== '');
  };
  return (await Promise.all(items.filter(isReady).map(ofPod))).flat();
}
