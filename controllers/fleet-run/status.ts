import { conditionTypes, type FleetRunReason } from '../../crds/conditions.ts';
import type { FleetRun, FleetRunStatus } from '../../crds/schema/fleet-run.ts';
import { cutText } from '../../lib/cut-text.ts';
import type { FleetEnd } from '../../lib/fleet/plan.ts';
import { nextCondition } from '../runtime/next-condition.ts';
import { fleetRunLimits } from './limits.ts';

/** A reason as the status of a run states it, such as why it sends nothing. */
export interface StatedReason {
  readonly reason: string;
  readonly message: string;
}

/** `fields` over the status as it was; a reason is only there while it applies. */
export function statusWith(
  run: FleetRun,
  now: number,
  fields: Partial<FleetRunStatus>,
  why?: StatedReason,
): FleetRunStatus {
  const { reason: _reason, message: _message, sent_since: _sent, ...before } = run.status ?? {};
  const phase = fields.phase ?? before.phase ?? 'Pending';
  const said = why ?? {
    reason: phase,
    message: phase === 'Running' ? 'the run is under way' : 'the run has not begun',
  };
  const message = cutText(said.message, fleetRunLimits.messageLength);
  return {
    ...before,
    ...fields,
    phase,
    ...(why === undefined ? {} : { reason: why.reason, message }),
    ...observed(run),
    conditions: [
      nextCondition(run, { type: conditionTypes.succeeded, status: 'Unknown', reason: said.reason, message }, now),
    ],
  };
}

const reasons = { complete: 'Completed', halted: 'Halted', cancelled: 'Cancelled' } as const satisfies Record<
  FleetEnd['outcome'],
  FleetRunReason
>;

/** How a run ended, for people: the reason of its end where it was refused, or could not be continued. */
export type RunEnd =
  | (FleetEnd & { readonly cancelledBy?: string /** Hosts whose output was cut. */; readonly cutHosts?: number })
  | (StatedReason & Pick<FleetEnd, 'summary'> & { readonly outcome: 'refused' | 'halted' });

/** The status that stays. */
export function endedStatus(run: FleetRun, now: number, end: RunEnd, fields: Partial<FleetRunStatus>): FleetRunStatus {
  const { reason, message: text } = wordsOf(end);
  const message = cutText(text, fleetRunLimits.messageLength);
  const { open_outcomes: _open, sent_since: _sent, ...before } = run.status ?? {};
  const status = end.outcome === 'complete' ? ('True' as const) : ('False' as const);
  return {
    ...before,
    ...fields,
    phase: 'Ended',
    outcome: end.outcome,
    reason,
    message,
    summary: end.summary,
    in_flight: 0,
    ended_at: new Date(now).toISOString(),
    ...observed(run),
    conditions: [nextCondition(run, { type: conditionTypes.succeeded, status, reason, message }, now)],
  };
}

/** Complete all the same, as nothing failed (requirements AMB-110); `require_min_targets` is there to refuse it (2§2.4). */
const noTargets = {
  reason: 'NoTargets' satisfies FleetRunReason,
  message: 'the target resolved to no connected host, so nothing ran; policy.require_min_targets: 1 refuses such a run',
};

function wordsOf(end: RunEnd): StatedReason {
  if ('reason' in end) return { reason: end.reason, message: end.message };
  if (end.outcome === 'complete' && Object.values(end.summary).every((hosts) => hosts === 0)) return noTargets;
  const { ok, err, timed_out: late, cancelled, not_started: idle } = end.summary;
  const counts = `${ok} ok, ${err} err, ${late} timed out, ${cancelled} cancelled, ${idle} not started`;
  const by = end.outcome === 'cancelled' && end.cancelledBy !== undefined ? ` by ${end.cancelledBy}` : '';
  const cut = end.cutHosts === undefined || end.cutHosts === 0 ? '' : `; ${cutOutput(end.cutHosts)}`;
  return { reason: reasons[end.outcome], message: `${end.outcome}${by}: ${counts}${cut}` };
}

const cutOutput = (hosts: number): string =>
  `output of ${hosts} hosts was cut in the record, as fleet runs of the tenant had their share of memory`;

const observed = ({ metadata: { generation } }: FleetRun): Pick<FleetRunStatus, 'observedGeneration'> =>
  generation === undefined ? {} : { observedGeneration: generation };
