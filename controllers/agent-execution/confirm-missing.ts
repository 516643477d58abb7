import { globalNamespace } from '../../crds/labels.ts';
import type { AgentMount } from '../../crds/schema/agent.ts';
import { isUid } from '../../crds/uid.ts';
import { agents, volumes } from '../../lib/kinds.ts';
import { findObject, findWanted, type KubeClient } from '../../lib/kube/index.ts';

type Reader = Pick<KubeClient, 'get' | 'list'>;

/** Whether the server has an agent that the cache lacks: a watch may be behind for as long as its API server is away. */
export async function isAgentThere(kube: Reader, namespace: string, nameOrUid: string): Promise<boolean> {
  for (const place of [namespace, globalNamespace]) {
    if (await isIn(kube, place, nameOrUid)) return true;
  }
  return false;
}

async function isIn(kube: Reader, namespace: string, nameOrUid: string): Promise<boolean> {
  if (!isUid(nameOrUid)) return (await findObject(kube, agents, { namespace, name: nameOrUid })) !== undefined;
  const found = await findWanted(kube, agents, { namespace, isWanted: ({ metadata: { uid } }) => uid === nameOrUid });
  return found.length > 0;
}

/** Whether the server has all volumes of the mounts. */
export async function areVolumesThere(
  kube: Pick<Reader, 'get'>,
  namespace: string,
  mounts: readonly AgentMount[],
): Promise<boolean> {
  for (const { volume: name } of mounts) {
    if ((await findObject(kube, volumes, { namespace, name })) === undefined) return false;
  }
  return true;
}
