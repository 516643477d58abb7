import { limits } from '../../crds/limits.ts';
import type { FailurePolicy, FleetMode, FleetPolicySpec } from '../../crds/schema/fleet-run.ts';
import { AppError } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';

/** A dispatch policy with nothing left open. */
export interface FleetPolicy {
  readonly mode: FleetMode;
  readonly max_concurrency: number;
  readonly failure_policy: FailurePolicy;
  readonly require_min_targets: number | null;
  readonly per_target_deadline_secs: number;
}

/**
 * A policy with the defaults of requirements AMB-103. It may have come by kubectl past the admission policies.
 * @throws AppError `invalid` that names the field.
 */
export function completePolicy(given: FleetPolicySpec = {}): FleetPolicy {
  const { mode = 'Parallel', failure_policy: failure = 'ContinueOnError', require_min_targets: least = null } = given;
  return {
    mode: modeOf(mode),
    max_concurrency: whole('max_concurrency', given.max_concurrency ?? limits.fleetConcurrencyDefault, 1),
    failure_policy: failureOf(failure),
    require_min_targets: least === null ? null : whole('require_min_targets', least, 0),
    per_target_deadline_secs: whole(
      'per_target_deadline_secs',
      given.per_target_deadline_secs ?? limits.fleetDeadlineSecsDefault,
      1,
      limits.fleetDeadlineSecsMax,
    ),
  };
}

function modeOf(mode: unknown): FleetMode {
  if (mode === 'Sequential' || mode === 'Parallel') return mode;
  const rolling = onlyMember(mode, 'Rolling');
  const batch = onlyMember(rolling, 'batch');
  if (batch === undefined) throw invalid('mode', 'must be Sequential, Parallel or {"Rolling": {"batch": 5}}');
  return { Rolling: { batch: whole('mode.Rolling.batch', batch, 1) } };
}

function failureOf(policy: unknown): FailurePolicy {
  if (policy === 'FailFast' || policy === 'ContinueOnError') return policy;
  const failures = onlyMember(policy, 'StopAfter');
  if (failures === undefined) {
    throw invalid('failure_policy', 'must be FailFast, ContinueOnError or {"StopAfter": 3}');
  }
  return { StopAfter: whole('failure_policy.StopAfter', failures, 1) };
}

/** The value of the only member of an object; undefined for anything else. */
function onlyMember(value: unknown, name: string): unknown {
  if (!isJsonObject(value) || !Object.hasOwn(value, name) || Object.keys(value).length !== 1) return undefined;
  return value[name];
}

function whole(field: string, value: unknown, least: number, most: number = limits.fleetTargets): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalid(field, `must be an integer from ${least} to ${most}`);
}

const invalid = (field: string, rule: string): AppError =>
  new AppError('invalid', `policy.${field}: ${rule}`, { reason: 'InvalidPolicy' });
