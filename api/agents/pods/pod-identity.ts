import { hash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { LRUCache } from 'lru-cache';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined } from '../../../lib/defined.ts';
import { AppError } from '../../../lib/errors.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import { isAbsent, type KubeClient, type Pod, pods, type TokenAnswer } from '../../../lib/kube/index.ts';

/** Audience of the tokens that agents' pods are given. */
const podAudience = 'windlass-agents';

interface PodIdentityDeps {
  readonly kube: Pick<KubeClient, 'get' | 'reviewToken'>;
  readonly clock: Clock;
}

/** A request as far as it shows which pod sent it. */
export interface PodRequest {
  /** The header Authorization, where there is one. */
  readonly authorization: string | undefined;
  readonly remoteAddress: string;
}

/** Tells whether a request comes from the pod that its execution names (requirements AMB-017, AMB-197). */
export interface PodIdentity {
  /** @throws AppError `forbidden` for any other sender, `unavailable` where the execution names no pod yet. */
  require(execution: AgentExecution, request: PodRequest): Promise<Pod>;
}

/** A server that cannot look a token up just now refuses it as one that is forged. */
const kept = { tokens: 2_000, tokenMs: 60_000, refusedMs: 2_000, pods: 2_000, podMs: 15_000 } as const;
/** Questions to the API server at a time, and those that wait with the first bytes of their bodies; each tenant has a share. */
const asks = { atOnce: 8, waiting: 1_024 } as const;

/**
 * A pod proves itself by the projected token of its service account, which is bound to its uid, or, where it sends none, by
 * the address that only this pod has. Names, labels and owners prove nothing. An address passes to another pod when the
 * containers end, so that the API server is asked for the pod each time it is the proof; a token is the old pod's for good.
 */
export function createPodIdentity(deps: PodIdentityDeps): PodIdentity {
  const reader = createPodReader(deps);

  /** A token that does not even claim to be of this pod costs the API server nothing. */
  async function proves(token: string, { uid = '', namespace = '' }: Pod['metadata']): Promise<boolean> {
    if (claimedPod(token) !== uid) return false;
    const { isAuthenticated, podUid } = await reader.review(token, namespace);
    return isAuthenticated && podUid === uid;
  }

  return {
    async require(execution, { authorization, remoteAddress }) {
      const place = placeOf(execution);
      const pod = authorization === undefined ? await reader.readPod(place) : await reader.knownPod(place);
      const isOurs =
        authorization === undefined
          ? !hasEnded(pod) && plain(remoteAddress) === pod.status?.podIP
          : await proves(tokenOf(authorization), pod.metadata);
      if (!isOurs) throw foreign();
      return pod;
    },
  };
}

type PodPlace = Readonly<Record<'namespace' | 'name' | 'uid', string>>;

function placeOf({ metadata: { namespace = '' }, status }: AgentExecution): PodPlace {
  const { name = '', uid } = status?.pod ?? {};
  if (uid === undefined) throw new AppError('unavailable', 'the execution names no pod yet; ask again');
  return { namespace, name, uid };
}

/** Questions to the API server, whose answers on tokens and on pods that sent one are kept for a while. */
function createPodReader({ kube, clock }: PodIdentityDeps) {
  const turns = createFairPool({ size: asks.atOnce, waiting: asks.waiting, clock });
  const time = { perf: { now: () => clock.steadyMs() }, ttlResolution: 0 };
  const answers = new LRUCache<string, TokenAnswer>({ max: kept.tokens, ttl: kept.tokenMs, ...time });
  const known = new LRUCache<string, Pod>({ max: kept.pods, ttl: kept.podMs, ...time });

  async function readPod({ namespace, name, uid }: PodPlace): Promise<Pod> {
    const found = await turns.run({ tenant: namespace }, () => kube.get(pods, { namespace, name })).catch(absent);
    const pod = found && slim(found);
    if (pod?.metadata.uid !== uid) throw new AppError('forbidden', 'the pod of this execution is gone');
    // One that has no address yet will have one soon.
    if (pod.status?.podIP !== undefined) known.set(uid, pod);
    return pod;
  }

  return {
    readPod,
    knownPod: async (place: PodPlace): Promise<Pod> => known.get(place.uid) ?? readPod(place),
    async review(token: string, namespace: string): Promise<TokenAnswer> {
      const key = hash('sha256', token);
      const held = answers.get(key);
      if (held !== undefined) return held;
      const answer = await turns.run({ tenant: namespace }, () => kube.reviewToken(token, [podAudience]));
      answers.set(key, answer, { ttl: answer.isAuthenticated ? kept.tokenMs : kept.refusedMs });
      return answer;
    },
  };
}

/** Without what its author chooses the size of: many pods are kept. */
const slim = ({ metadata: { name, namespace, uid }, status: { phase, podIP, containerStatuses } = {} }: Pod): Pod => ({
  metadata: { name, ...defined({ namespace, uid }) },
  spec: { containers: [] },
  status: {
    ...defined({ phase, podIP }),
    ...(containerStatuses && { containerStatuses: containerStatuses.map(slimContainer) }),
  },
});
const slimContainer = ({ name, containerID, state }: ContainerStatus): ContainerStatus => ({
  name,
  ...defined({ containerID }),
  ...(state?.terminated && { state: { terminated: { exitCode: state.terminated.exitCode } } }),
});

/** Its status keeps the address, which may be another pod's by now. */
const hasEnded = ({ status }: Pod): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed' || status?.containerStatuses?.every(isOver) === true;
const isOver = ({ state }: ContainerStatus): boolean => state?.terminated !== undefined;
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

const tokenOf = (authorization: string): string => /^Bearer ([\w.~+/=-]+)$/i.exec(authorization)?.[1] ?? '';

const foreign = (): AppError =>
  new AppError('forbidden', 'only the pod that the status of the execution names may ask', { reason: 'ForeignPod' });

function absent(error: unknown): undefined {
  if (!isAbsent(error)) throw error;
  return undefined;
}

/** An IPv4 address as it is, where the listener has both families. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** The uid of the pod that a header Authorization claims. */
export const claimedPodIn = (authorization: string): unknown => claimedPod(tokenOf(authorization));

/** The uid of the pod that a projected token says it is bound to. */
function claimedPod(token: string): unknown {
  try {
    return decodeJwt<BoundClaims>(token)['kubernetes.io']?.pod?.uid;
  } catch {
    return undefined;
  }
}

interface BoundClaims {
  readonly 'kubernetes.io'?: { readonly pod?: { readonly uid?: unknown } };
}
