import type { EdgeGroup } from '../../../crds/schema/edge-group.ts';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import { edgeUnavailableReason } from '../../../lib/edge/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { checkArgs } from '../../../lib/fleet/args.ts';
import { completePolicy } from '../../../lib/fleet/policy.ts';
import type { FrozenTargets } from '../../../lib/fleet/run-record.ts';
import { type FleetHost, resolveTarget } from '../../../lib/fleet/selector.ts';
import type { StatedReason } from '../status.ts';

export type FixedTargets =
  | { readonly kind: 'fixed'; readonly targets: FrozenTargets }
  | { readonly kind: 'refused'; readonly why: StatedReason; readonly targets: FrozenTargets };

export interface Surroundings {
  /** Those of the tenant's namespace. */
  readonly hosts: Iterable<FleetHost>;
  /** The group that the run names; absent where its tenant has none of that id. */
  readonly group: EdgeGroup | undefined;
  /** Whether more than one host may get the tool (requirements AMB-108). */
  readonly isFleetCapable: boolean;
}

const none: FrozenTargets = { resolved: [], skipped: [] };

/** Fixes the targets of a run in full, or says why it cannot begin (spec 2 §3, §7). */
export async function fixTargets(
  { spec }: FleetRun,
  { hosts, group, isFleetCapable }: Surroundings,
): Promise<FixedTargets> {
  try {
    const policy = completePolicy(spec.policy);
    checkArgs(spec.args);
    const { resolved, skipped } = await resolveTarget(spec.target, { hosts, group: () => group?.spec });
    const targets = {
      resolved: resolved.map(({ nodeId, uid, name }) => ({ node_id: nodeId, host_uid: uid, name })),
      skipped,
    };
    const why = refusalOf(spec, targets, { least: policy.require_min_targets, isFleetCapable });
    return why === undefined ? { kind: 'fixed', targets } : { kind: 'refused', why, targets };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind: 'refused', why: { reason: error.reason, message: error.message }, targets: none };
  }
}

/** Reasons of refusals that other hosts, or another group, would take back. */
const ofSurroundings: ReadonlySet<string> = new Set([edgeUnavailableReason, 'RequireMinNotSatisfied', 'GroupNotFound']);

/** Whether it follows from a host or a group that is not there, which a cache that is behind shows too. */
export function restsOnAbsence(fixed: FixedTargets): boolean {
  if (fixed.kind === 'refused') return ofSurroundings.has(fixed.why.reason);
  const { resolved, skipped } = fixed.targets;
  return resolved.length === 0 || skipped.some(({ reason }) => reason === 'NotFound');
}

function refusalOf(
  { target, tool }: FleetRun['spec'],
  { resolved, skipped }: FrozenTargets,
  { least, isFleetCapable }: { readonly least: number | null; readonly isFleetCapable: boolean },
): StatedReason | undefined {
  const [lost] = skipped;
  if (target.Node !== undefined && lost !== undefined) {
    return { reason: edgeUnavailableReason, message: `host ${lost.node_id} cannot take a command: ${lost.reason}` };
  }
  if (target.Node === undefined && !isFleetCapable) {
    return { reason: 'NotFleetCapable', message: `tool is not fleet capable: name one host, as Node, for ${tool}` };
  }
  if (least === null || resolved.length >= least) return undefined;
  const message = `${resolved.length} hosts can take a command; require_min_targets asks for ${least}`;
  return { reason: 'RequireMinNotSatisfied', message };
}
