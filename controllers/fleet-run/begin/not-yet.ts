import type { FleetRunReason } from '../../../crds/conditions.ts';
import { conditionTypes } from '../../../crds/conditions.ts';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import { AppError, hasReason } from '../../../lib/errors.ts';
import { completePolicy } from '../../../lib/fleet/policy.ts';
import type { ReconcileResult } from '../../runtime/outcome.ts';
import { type FinishDeps, finish, noSummary, write } from '../finish.ts';
import { fleetRunLimits } from '../limits.ts';
import { isNotStored, notStored } from '../record/not-stored.ts';
import { type StatedReason, statusWith } from '../status.ts';

/** Why a run waits, and after which time it looks again. Default: `retryMs`. */
type Wanted = StatedReason & { readonly againMs?: number };

/** A run that cannot begin yet, and what it waits for. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
  readonly why: Wanted;

  constructor(why: Wanted, cause?: unknown) {
    super(why.message, { cause });
    this.why = why;
  }
}

/** Those that a run waits for. The texts stay the same while it waits, so that its status is written once. */
const awaited = {
  gateway: {
    reason: 'GatewayUnavailable' satisfies FleetRunReason,
    message: 'the run waits for the tool gateway, which knows whether a fleet can run the tool',
  },
  bus: {
    reason: 'EventBusUnavailable' satisfies FleetRunReason,
    message: 'the run waits for the event bus (NATS), by which its commands leave',
  },
} as const;

/** The answer of the gateway or the bus. Throws NotYet where it is away. */
export async function answerOrNotYet<T>(asking: Promise<T>, from: keyof typeof awaited): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
    // The gateway is asked by the bus.
    const isBus = hasReason(error.cause, 'EventBusUnavailable');
    throw new NotYet(isBus ? awaited.bus : awaited[from], error);
  }
}

/** A part of a run that the API server stores. Throws NotYet where it stores none, such as for want of room in a quota. */
export async function storedOrNotYet<T>(storing: Promise<T>): Promise<T> {
  try {
    return await storing;
  } catch (error) {
    if (!isNotStored(error)) throw error;
    throw new NotYet(notStored('targets', error), error);
  }
}

/**
 * Says in the status what a run waits for that has not begun. It is refused when it has waited for a command's deadline, and for
 * `beginWaitMs` at least: a command that comes hours late surprises its host (ADR 0167). A run that is cancelled meanwhile ends.
 */
export async function waitToBegin(
  deps: FinishDeps,
  run: FleetRun,
  why: Wanted,
  refuse: (why: StatedReason) => Promise<ReconcileResult>,
): Promise<ReconcileResult> {
  const { cancel } = run.spec;
  if (cancel !== undefined)
    return finish(deps, run, { outcome: 'cancelled', summary: noSummary, cancelledBy: cancel.by }, {});
  const now = deps.clock.now();
  const waitedMs = now - (waitsSince(run) ?? now);
  if (waitedMs >= longestWaitMs(run)) {
    return refuse({ ...why, message: `${why.message}; it waited for ${Math.floor(waitedMs / 1_000)} s` });
  }
  await write(deps, run, statusWith(run, now, { phase: 'Pending' }, why));
  return { requeueAfterMs: why.againMs ?? fleetRunLimits.retryMs, reason: why.reason };
}

/** The condition keeps the time of its first wait, whichever process leads. */
function waitsSince({ status }: FleetRun): number | undefined {
  const known = status?.conditions?.find(({ type }) => type === conditionTypes.succeeded);
  return known === undefined ? undefined : Date.parse(known.lastTransitionTime);
}

const longestWaitMs = ({ spec }: FleetRun): number =>
  Math.max(completePolicy(spec.policy).per_target_deadline_secs * 1_000, fleetRunLimits.beginWaitMs);
