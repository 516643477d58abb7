import { globalNamespace } from '../../../crds/labels.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import { isUid } from '../../../crds/uid.ts';
import { isBeingDeleted, unlessBeingDeleted } from '../../../lib/being-deleted.ts';
import { agents } from '../../../lib/kinds.ts';
import { findAgain, findObject, findWanted, type KubeClient } from '../../../lib/kube/index.ts';

type Reader = Pick<KubeClient, 'get' | 'list'>;

/**
 * Whether the server has an agent that the cache lacks: a watch may be behind for as long as its API server is away. One that
 * is being deleted runs nothing any more.
 */
export async function isAgentThere(kube: Reader, namespace: string, nameOrUid: string): Promise<boolean> {
  for (const place of [namespace, globalNamespace]) {
    if (await isIn(kube, place, nameOrUid)) return true;
  }
  return false;
}

async function isIn(kube: Reader, namespace: string, nameOrUid: string): Promise<boolean> {
  const found = isUid(nameOrUid)
    ? await findWanted(kube, agents, { namespace, isWanted: ({ metadata: { uid } }) => uid === nameOrUid })
    : [await findObject(kube, agents, { namespace, name: nameOrUid })];
  return found.some((agent) => agent !== undefined && !isBeingDeleted(agent));
}

/** The agent as the server has it; undefined where it is gone, or has no other version than the cache. */
export async function newerAgent(kube: Pick<Reader, 'get'>, known: Agent): Promise<Agent | undefined> {
  const latest = unlessBeingDeleted(await findAgain(kube, agents, known));
  return latest?.metadata.resourceVersion === known.metadata.resourceVersion ? undefined : latest;
}
