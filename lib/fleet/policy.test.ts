import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import type { FleetPolicySpec } from '../../crds/schema/fleet-run.ts';
import { completePolicy } from './policy.ts';

/** As it may come past the schema. */
const given = (policy: object) => completePolicy(policy as FleetPolicySpec);

describe('a dispatch policy', () => {
  it('AMB-103 has a default for every field', () => {
    expect(completePolicy()).toEqual({
      mode: 'Parallel',
      max_concurrency: 10,
      failure_policy: 'ContinueOnError',
      require_min_targets: null,
      per_target_deadline_secs: 60,
    });
  });

  it.each(['Sequential', 'Parallel', { Rolling: { batch: 1 } }, { Rolling: { batch: limits.fleetTargets } }])(
    'EDGE-RES-20 takes the mode %j',
    (mode) => expect(given({ mode }).mode).toEqual(mode),
  );

  it.each([
    'parallel',
    'Rolling',
    null,
    7,
    {},
    { Rolling: {} },
    { Rolling: { batch: 1, more: 1 } },
    { Rolling: { batch: 1 }, more: 1 },
    { Rolling: { batch: '1' } },
    { Rolling: { batch: 0 } },
    { Rolling: { batch: 1.5 } },
    { Rolling: { batch: limits.fleetTargets + 1 } },
  ])('EDGE-RES-20 refuses the mode %j and names the field', (mode) => {
    expect(() => given({ mode })).toThrow('policy.mode');
  });

  it.each(['FailFast', 'ContinueOnError', { StopAfter: 1 }])('EDGE-RES-22 takes the failure policy %j', (policy) =>
    expect(given({ failure_policy: policy }).failure_policy).toEqual(policy),
  );

  it.each(['StopAfter', { StopAfter: 0 }, { StopAfter: -1 }, { StopAfter: null }, [], { Stop: 1 }])(
    'EDGE-RES-22 refuses the failure policy %j and names the field',
    (policy) => expect(() => given({ failure_policy: policy })).toThrow('policy.failure_policy'),
  );

  it('AMB-103 max_concurrency is at least 1', () => {
    expect(given({ max_concurrency: 1 }).max_concurrency).toBe(1);
    expect(() => given({ max_concurrency: 0 })).toThrow('policy.max_concurrency: must be an integer from 1 to 10000');
  });

  it('EDGE-RES-23 require_min_targets is an integer or null', () => {
    expect(given({ require_min_targets: null }).require_min_targets).toBeNull();
    expect(given({ require_min_targets: 0 }).require_min_targets).toBe(0);
    expect(() => given({ require_min_targets: -1 })).toThrow('policy.require_min_targets');
  });

  it('EDGE-RES-24 a deadline is between a second and a day', () => {
    expect(given({ per_target_deadline_secs: 86_400 }).per_target_deadline_secs).toBe(86_400);
    expect(() => given({ per_target_deadline_secs: 86_401 })).toThrow('policy.per_target_deadline_secs');
    expect(() => given({ per_target_deadline_secs: 0 })).toThrow('policy.per_target_deadline_secs');
  });
});
