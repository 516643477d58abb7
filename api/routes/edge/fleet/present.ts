import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import { completePolicy } from '../../../../lib/fleet/policy.ts';
import type { NodeRecord } from '../../../../lib/fleet/node-record.ts';
import type { FleetRunSummary, NodeResult, Policy, RunOutcome, Summary, Target } from './schema.ts';

export const isEnded = ({ status }: Pick<FleetRun, 'status'>): boolean => status?.phase === 'Ended';

/** A refused run has started nothing: of the outcomes of the specification it is halted (ADR 0073). */
export function outcomeOf(run: Pick<FleetRun, 'status'>): RunOutcome | null {
  const outcome = isEnded(run) ? run.status?.outcome : undefined;
  return outcome === 'refused' ? 'halted' : (outcome ?? null);
}

const none: Summary = { ok: 0, err: 0, timed_out: 0, cancelled: 0, not_started: 0 };
export const summaryOf = ({ status }: Pick<FleetRun, 'status'>): Summary => status?.summary ?? none;

const presentTarget = ({ All: all, ...target }: FleetRun['spec']['target']): Target =>
  all === undefined ? (target as Target) : { All: null };

/** With its defaults; one that got past the admission is shown as it is. */
function presentPolicy(policy: FleetRun['spec']['policy']): Policy {
  try {
    return completePolicy(policy) as Policy;
  } catch {
    return {};
  }
}

/** spec 2 §2.4, as in a list. */
export function presentRunSummary(run: FleetRun): FleetRunSummary {
  const { metadata, spec, status } = run;
  return {
    fleet_command_id: metadata.uid ?? '',
    tool: spec.tool,
    target: presentTarget(spec.target),
    policy: presentPolicy(spec.policy),
    started_at: status?.started_at ?? null,
    ended_at: status?.ended_at ?? null,
    outcome: outcomeOf(run),
    ...(status?.reason !== undefined && { reason: status.reason }),
    ...(status?.message !== undefined && { message: status.message }),
    requested_by: spec.requested_by,
    summary: summaryOf(run),
  };
}

/** spec 2 §2.4, and why the host has no result of its own. */
export const presentNode = (record: NodeRecord): NodeResult => ({
  node_id: record.node_id,
  command_id: record.command_id,
  outcome: record.outcome,
  exit_code: record.exit_code,
  duration_ms: record.duration_ms,
  stdout_tail: record.stdout_tail,
  stderr_tail: record.stderr_tail,
  ...(record.code !== undefined && { code: record.code }),
  ...(record.message !== undefined && { message: record.message }),
});
