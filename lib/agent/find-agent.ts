import { globalNamespace } from '../../crds/labels.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import { meantBy } from '../../crds/similar-name.ts';
import { isUid } from '../../crds/uid.ts';
import type { CacheReader } from '../informer/index.ts';

/**
 * The agent that a name or uid means in a namespace: one in that namespace hides a global one of its name. An agent of
 * another namespace is not found. An id never means a name.
 */
export function cachedAgent<A extends Agent>(
  cache: Pick<CacheReader<A>, 'get' | 'getByUid'>,
  namespace: string,
  nameOrUid: string,
): A | undefined {
  if (isUid(nameOrUid)) {
    const found = cache.getByUid(nameOrUid);
    return found !== undefined && isVisible(found, namespace) ? found : undefined;
  }
  return cache.get(`${namespace}/${nameOrUid}`) ?? cache.get(`${globalNamespace}/${nameOrUid}`);
}

/**
 * Whether one of the namespace would hide the agent that a name means in a cache, which may lack what was created a moment ago.
 */
export const mayBeHidden = ({ metadata }: Agent, namespace: string, nameOrUid: string): boolean =>
  !isUid(nameOrUid) && metadata.namespace !== namespace;

/** A cache of agents that also says which there are in a namespace. */
export type KnownAgents = Pick<CacheReader<Agent, 'namespace'>, 'get' | 'getByUid' | 'byIndex'>;

/** The agent that a name is probably mistyped for, as the end of a sentence. */
export function meantAgent(cache: Pick<KnownAgents, 'byIndex'>, namespace: string, written: string): string {
  const names = [namespace, globalNamespace].flatMap((place) => cache.byIndex('namespace', place));
  return meantBy(
    written,
    names.map(({ metadata }) => metadata.name ?? ''),
  );
}

/** Whether executions of a namespace may run the agent. */
const isVisible = ({ metadata }: Pick<Agent, 'metadata'>, namespace: string): boolean =>
  metadata.namespace === namespace || metadata.namespace === globalNamespace;
