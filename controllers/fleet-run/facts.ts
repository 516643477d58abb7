import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import type { Fact } from '../runtime/facts.ts';

/** That a run has begun, for the event bus. No arguments and no output: who may read events may not read those. */
export function startFact(run: FleetRun): Fact | undefined {
  return factOf(run, 'started', 'FleetRunStarted', run.status?.started_at);
}

/** That a run has ended. */
export function endFact(run: FleetRun): Fact | undefined {
  return factOf(run, 'ended', 'FleetRunEnded', run.status?.ended_at);
}

function factOf(
  { metadata, spec, status }: FleetRun,
  word: string,
  type: string,
  time: string | undefined,
): Fact | undefined {
  const { uid = '', name, namespace = '' } = metadata;
  if (time === undefined || status === undefined) return undefined;
  const data = {
    fleet_command_id: uid,
    run: name,
    namespace,
    tool: spec.tool,
    requested_by: spec.requested_by,
    targets_resolved: status.targets_resolved,
    targets_skipped: status.targets_skipped,
    ...(word === 'ended' ? { outcome: status.outcome, reason: status.reason, summary: status.summary } : {}),
  };
  return { word, topic: 'edge', type, subject: uid, namespace, time, data };
}
