import type { ToolCall, ToolCallClaim, ToolCallStatus } from '../../crds/schema/tool-call.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { toolCalls } from '../../lib/kinds.ts';
import {
  findAgain,
  findObject,
  isAbsent,
  isConflict,
  isFailedTest,
  isInvalid,
  isTooLarge,
  type KubeClient,
} from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { doublingWhile, firstAnswer, tryPaced } from '../../lib/retry.ts';
import { withoutAnswer } from './outcome.ts';

export interface WriteDeps {
  readonly kube: Pick<KubeClient, 'get' | 'mergePatchStatus' | 'jsonPatchStatus'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}

const refOf = ({ metadata: { name, namespace = '' } }: ToolCall) => ({ name, namespace });

/** Writes of others that come between a read and the claim. */
const attempts = 5;

interface Claiming {
  readonly claim: ToolCallClaim;
  /** Whether there is something to claim in a version of the call. */
  readonly isWanted: (latest: ToolCall) => boolean;
}

/**
 * Claims a call against the version that was read, so that exactly one replica has it. Gives the whole call as it is with the
 * claim; undefined where a newer version has nothing to claim. A claim that this replica has already is its own, and
 * its call may be unwanted by now.
 * @throws KubeError; it leaves open whether the claim was written.
 */
export async function claimCall(
  { kube }: Pick<WriteDeps, 'kube'>,
  call: ToolCall,
  claiming: Claiming,
): Promise<ToolCall | undefined> {
  if (isClaimedBy(call, claiming)) return findClaimed(kube, call, claiming);
  const ended = await firstAnswer(attempts, async (attempt): Promise<ToolCall | 'nothing' | undefined> => {
    const latest = attempt === 1 ? call : await findObject(kube, toolCalls, refOf(call));
    if (latest === undefined || latest.metadata.uid !== call.metadata.uid) return 'nothing';
    if (latest !== call && isClaimedBy(latest, claiming)) return latest;
    return claiming.isWanted(latest) ? tryToClaim(kube, latest, claiming) : 'nothing';
  });
  return ended === 'nothing' ? undefined : ended;
}

/** The caches have no arguments, and another replica may have taken the call over since. */
async function findClaimed(kube: WriteDeps['kube'], call: ToolCall, claiming: Claiming): Promise<ToolCall | undefined> {
  const latest = await findAgain(kube, toolCalls, call);
  return latest !== undefined && isClaimedBy(latest, claiming) ? latest : undefined;
}

/** A write that was sent twice, because its answer was lost, finds its own claim. */
const isClaimedBy = ({ status }: ToolCall, { claim }: Claiming): boolean =>
  status?.phase === 'running' && status.claim?.by === claim.by;

/** Undefined where the call has changed; `nothing` where it is gone. */
async function tryToClaim(
  kube: WriteDeps['kube'],
  call: ToolCall,
  { claim }: Claiming,
): Promise<ToolCall | 'nothing' | undefined> {
  const { resourceVersion } = call.metadata;
  const patch = { metadata: { resourceVersion }, status: { phase: 'running', claim } };
  try {
    return await kube.mergePatchStatus(toolCalls, refOf(call), patch);
  } catch (error) {
    if (isAbsent(error)) return 'nothing';
    if (isConflict(error)) return undefined;
    throw error;
  }
}

const doubling = doublingWhile({ baseMs: 100, maxMs: 5_000 });

/** Tries after the end of the call: about a minute. */
const lastTries = 12;

interface Until {
  /** Aborts when the process has no time left to write. */
  readonly silent: AbortSignal;
  /** Aborts when nothing waits for the call any more: it keeps its place for a last minute. */
  readonly over: AbortSignal;
}

/**
 * Writes the status that follows from what a call was when `holder` had it (undefined: no replica), once. A call that has
 * changed hands, has ended or is gone keeps what it is. A status that the API server has no room for is written without the
 * answer. Tries again until it succeeds or `until` says no more.
 */
export async function writeStatus(
  deps: WriteDeps,
  call: ToolCall,
  { holder, status }: { readonly holder: string | undefined; readonly status: ToolCallStatus },
  { silent, over }: Until,
): Promise<void> {
  const { kube, clock, logger } = deps;
  const { namespace, name } = call.metadata;
  let wanted = status;
  let left = lastTries;
  const pauseAfter = (error: unknown, failures: number): number => {
    const next = afterRefusal(status, wanted, error);
    if (next === undefined) throw error;
    wanted = next;
    if (!isConflict(error))
      logger.warn({ namespace, call: name, problem: messageOf(error) }, 'tool call not written yet');
    if (over.aborted) left -= 1;
    if (left === 0) throw error;
    return doubling(error, failures);
  };
  // Each error behind which it is tried no more means that nothing more is to be written.
  await tryPaced({ clock, pauseAfter, signal: silent }, () =>
    kube.jsonPatchStatus(toolCalls, refOf(call), operationsOf(call, holder, wanted)),
  ).catch(() => undefined);
}

/** The next write after one that failed; undefined: nothing more. */
function afterRefusal(status: ToolCallStatus, wanted: ToolCallStatus, error: unknown): ToolCallStatus | undefined {
  // A failed test is of a call that is not ours any more.
  if (isAbsent(error) || isFailedTest(error)) return undefined;
  if (!isInvalid(error) && !isTooLarge(error)) return wanted;
  return wanted === status ? withoutAnswer(status, error.serverMessage) : undefined;
}

function operationsOf(call: ToolCall, holder: string | undefined, status: ToolCallStatus) {
  const held = [
    { op: 'test', path: '/status/phase', value: 'running' },
    { op: 'test', path: '/status/claim/by', value: holder },
  ] as const;
  return [
    { op: 'test', path: '/metadata/uid', value: call.metadata.uid },
    // A call that no replica has ever had has no status, and one that was let go is claimed anew at once.
    ...(holder === undefined
      ? [{ op: 'test', path: '/metadata/resourceVersion', value: call.metadata.resourceVersion } as const]
      : held),
    { op: 'add', path: '/status', value: status },
  ] as const;
}
