import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';
import { createKubeClient, findCredentials, type KubeClient } from '../../../lib/kube/index.ts';

/** The cluster that the tests run on. */
export interface Cluster {
  readonly kube: KubeClient;
  /** Kubeconfig file of the administrator. */
  readonly kubeconfig: string;
}

const stateDir = process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state');

/** KUBECONFIG where it is set, else the development cluster's (`make up`). */
export function kubeconfigPath(): string {
  const named = process.env.KUBECONFIG;
  if (named !== undefined && named !== '') return named;
  return join(stateDir, 'windlass', 'clusters', process.env.CLUSTER_NAME || 'dev', 'kubeconfig');
}

/** Connects as administrator; throws with what to do where no cluster is up. */
export async function connect(kubeconfig: string = kubeconfigPath()): Promise<Cluster> {
  await readFile(kubeconfig).catch((cause: unknown) => {
    throw new Error(`no kubeconfig at ${kubeconfig}: run make up, or set KUBECONFIG`, { cause });
  });
  const credentials = await findCredentials({ env: {}, now: () => Date.now(), kubeconfig });
  const kube = createKubeClient({ credentials, clock: systemClock }, { userAgent: 'windlass-test', maxRequests: 64 });
  return { kube, kubeconfig };
}

/**
 * Whether the cluster is one of `make up` whose machines are processes of this host: only there can nodes, kubelets and
 * the API server be broken at will.
 */
export function isNativeCluster(): boolean {
  const kind = join(dirname(kubeconfigPath()), 'kind');
  return existsSync(kind) && readFileSync(kind, 'utf8').trim() === 'native';
}
