import type { AgentAsk, AgentExecution, AgentSignal } from '../../../crds/schema/agent-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import { openAsk } from '../../../lib/decision/open-ask.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import type { Informer } from '../../../lib/informer/index.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import { findObject, isConflict, type KubeClient, mayPass } from '../../../lib/kube/index.ts';
import { doublingWhile, tryPaced } from '../../../lib/retry.ts';
import { Stopped } from '../conversation/log.ts';

/**
 * The conversation waits for a person, or for an agent that judges. Nothing is held for it meanwhile; the replica that continues reads its log
 * again.
 */
export class Parked extends Error {
  override readonly name = 'Parked';
}

/** Outcome of an ask; without `by` no answer came in time. */
type AskOutcome = Pick<AgentSignal, 'feedback' | 'via'> & { readonly approved: boolean; readonly by?: string };

/** Tool calls that wait for a person, on the objects of their executions (ADR 0082). */
export interface Approvals {
  /** Resolves when the execution waits for no person, as far as the cache knows, or `signal` aborts. */
  idle(uid: string, signal: AbortSignal): Promise<void>;
  /**
   * Outcome of the ask, once it is removed from the object, so that no later answer is taken. Undefined while it
   * waits; then it is on the object. Keeps trying however long the API server is away or refuses us.
   * @throws Stopped where the execution is gone; the reason of `signal` where that aborts.
   */
  settle(execution: AgentExecution, ask: AgentAsk, signal: AbortSignal): Promise<AskOutcome | undefined>;
}

interface ApprovalsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'mergePatch'>;
  readonly clock: Clock;
  readonly executions: Pick<Informer<AgentExecution, 'namespace'>, 'onChange'> & {
    readonly cache: Pick<CacheReader<AgentExecution>, 'getByUid' | 'remember'>;
  };
}

/** Pauses while the API server is away, or refuses us: the execution is there, and ours to change. */
const pauseAfter = doublingWhile({ baseMs: 100, maxMs: 5_000 }, mayPass);

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const waiting = new Map<string, Set<() => void>>();
  deps.executions.onChange(({ before, after }) => {
    for (const wake of waiting.get((after ?? before)?.metadata.uid ?? '') ?? []) wake();
  });
  return {
    async idle(uid, signal) {
      while (!signal.aborted) {
        const leftMs = askedMs(deps, uid);
        if (leftMs === 0) return;
        await changeOf(waiting, uid, (over) => deps.clock.sleep(leftMs, AbortSignal.any([signal, over])));
      }
    },
    settle: (execution, ask, signal) =>
      tryPaced({ clock: deps.clock, pauseAfter, signal }, () => settle(deps, execution, ask)),
  };
}

/** Milliseconds for which the execution may still wait for a person; 0 where it does not. */
function askedMs({ clock, executions }: ApprovalsDeps, uid: string): number {
  const now = clock.now();
  const execution = executions.cache.getByUid(uid);
  const ask = execution && openAsk(execution, now);
  return ask === undefined ? 0 : Date.parse(ask.until) - now;
}

/** Sleeps until the object changes, or `sleep` ends by itself. */
async function changeOf(
  waiting: Map<string, Set<() => void>>,
  uid: string,
  sleep: (over: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  const wake = (): void => over.abort();
  const wakes = waiting.get(uid) ?? new Set();
  waiting.set(uid, wakes.add(wake));
  await sleep(over.signal);
  wakes.delete(wake);
  if (wakes.size === 0) waiting.delete(uid);
}

async function settle(
  deps: ApprovalsDeps,
  { metadata }: AgentExecution,
  ask: AgentAsk,
): Promise<AskOutcome | undefined> {
  const { name, namespace = '', uid } = metadata;
  for (;;) {
    const latest = await findObject(deps.kube, agentExecutions, { name, namespace });
    if (latest === undefined || latest.metadata.uid !== uid) throw new Stopped();
    const answer = latest.spec.signals?.find(({ id }) => id === ask.id);
    const isOver = answer !== undefined || deps.clock.now() >= Date.parse(ask.until);
    if (await shows(deps, latest, isOver ? undefined : ask)) return isOver ? outcomeOf(answer) : undefined;
  }
}

/**
 * Brings the object to this ask, or to none, against the version that was read. False where another client wrote in
 * between.
 */
async function shows(deps: ApprovalsDeps, latest: AgentExecution, ask: AgentAsk | undefined): Promise<boolean> {
  if (latest.spec.ask?.id === ask?.id) {
    // The cache may be older, and then nothing would be waited for.
    if (ask !== undefined) deps.executions.cache.remember(latest);
    return true;
  }
  const { name, namespace = '', uid, resourceVersion } = latest.metadata;
  const patch = { metadata: { uid, resourceVersion }, spec: { ask: ask ?? null } };
  try {
    deps.executions.cache.remember(await deps.kube.mergePatch(agentExecutions, { name, namespace }, patch));
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

function outcomeOf(answer: AgentSignal | undefined): AskOutcome {
  if (answer === undefined) return { approved: false };
  const { response, by, via, feedback } = answer;
  return {
    approved: response === 'approved',
    by,
    ...(via === undefined ? {} : { via }),
    ...(feedback === undefined ? {} : { feedback }),
  };
}
