import type { CacheReader } from '../../lib/informer/cache.ts';
import type { Informer } from '../../lib/informer/index.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  createOwn,
  findObject,
  isQuotaExceeded,
  type KubeClient,
  type KubeObject,
  keyOf,
  type Own,
  type Pod,
  pods,
} from '../../lib/kube/index.ts';
import { createQuotaGate, type QuotaGate } from './quota-gate.ts';

export interface OwnPodDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get'>;
  readonly pods: Pick<CacheReader<Pod>, 'get'>;
  readonly quota: Pick<QuotaGate, 'create' | 'leave'>;
}

/**
 * Makes the one pod of its owner in the line of its namespace (`quota-gate.ts`), or finds that it was made before. A full
 * quota refuses even what exists, and the pod that exists may be what fills it. An existing pod skips the line.
 * @throws KubeError of the refusal
 */
export async function makeOwnPod(
  { kube, pods: cache, quota }: OwnPodDeps,
  owner: KubeObject,
  wanted: Pod,
  isOurs: (there: Pod) => boolean,
): Promise<Own<Pod>> {
  const { name = '', namespace = '' } = wanted.metadata;
  const key = keyOf(owner);
  const known = cache.get(`${namespace}/${name}`);
  if (known !== undefined && isOurs(known)) {
    quota.leave(key);
    return { kind: 'ours', object: known };
  }
  let isAsked = false;
  const make = (): Promise<Own<Pod>> => {
    isAsked = true;
    return createOwn(kube, pods, wanted, isOurs);
  };
  try {
    return await quota.create({ namespace, resource: pods.plural, key }, make);
  } catch (error) {
    // Those in line ask the server nothing.
    const mayBeThere = isAsked && isQuotaExceeded(error);
    const there = mayBeThere ? await findObject(kube, pods, { namespace, name }) : undefined;
    if (there === undefined) throw error;
    quota.leave(key);
    return isOurs(there) ? { kind: 'ours', object: there } : { kind: 'foreign' };
  }
}

/** A gate that pods of steps open when they end: from then on they count in no quota of pods. */
export function podQuotaGate(
  clock: Clock,
  pods: Pick<Informer<Pod>, 'onChange'>,
  wake: (key: string) => void,
): QuotaGate {
  const gate = createQuotaGate(clock, wake);
  const counts = (pod: Pod | undefined): boolean =>
    pod !== undefined && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed';
  pods.onChange(({ before, after }) => {
    if (counts(before) && !counts(after)) gate.freed(before?.metadata.namespace ?? '');
  });
  return gate;
}
