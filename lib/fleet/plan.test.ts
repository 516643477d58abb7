import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailurePolicy, FleetMode } from '../../crds/schema/fleet-run.ts';
import { growthOf, proportional } from '../../test/support/processor-time.ts';
import { createProgress, type FleetFact, type FleetPlan, fleetTimes, next, nodeOutcomes } from './plan.ts';

const named = (count: number) => Array.from({ length: count }, (_, index) => `n${String(index).padStart(5, '0')}`);
const planOf = (count: number, policy: Partial<FleetPlan['policy']> = {}): FleetPlan => ({
  nodes: named(count),
  policy: {
    mode: 'Parallel',
    max_concurrency: 10,
    failure_policy: 'ContinueOnError',
    per_target_deadline_secs: 60,
    ...policy,
  },
});
const launching = (node: string): FleetFact => ({ kind: 'launching', node });
const sent = (node: string, at = 0): FleetFact => ({ kind: 'sent', node, at });
const result = (node: string, outcome: 'ok' | 'err' | 'timed_out' | 'cancelled' = 'ok'): FleetFact => ({
  kind: 'result',
  node,
  outcome,
});
const [a = '', b = '', c = '', d = ''] = named(4);

describe('the plan of a fleet run', () => {
  it('EDGE-RES-20 Sequential sends to one host after the other', () => {
    const plan = planOf(3, { mode: 'Sequential' });
    expect(next(plan, [], 0).commands).toEqual([a]);
    expect(next(plan, [sent(a)], 0).commands).toEqual([]);
    expect(next(plan, [sent(a), result(a)], 0).commands).toEqual([b]);
  });

  it('EDGE-RES-21 Parallel sends to as many as max_concurrency allows', () => {
    const plan = planOf(4, { max_concurrency: 2 });
    expect(next(plan, [], 0).commands).toEqual([a, b]);
    expect(next(plan, [sent(a), sent(b)], 0).commands).toEqual([]);
    expect(next(plan, [sent(a), sent(b), result(b)], 0).commands).toEqual([c]);
  });

  it('EDGE-RES-20 Rolling begins a batch when the one before it has ended', () => {
    const plan = planOf(4, { mode: { Rolling: { batch: 2 } } });
    const first = [sent(a), sent(b), result(a)];
    expect(next(plan, first, 0).commands).toEqual([]);
    expect(next(plan, [...first, result(b, 'err')], 0).commands).toEqual([c, d]);
  });

  it('EDGE-RES-21 max_concurrency bounds a batch as well', () => {
    expect(next(planOf(4, { mode: { Rolling: { batch: 3 } }, max_concurrency: 2 }), [], 0).commands).toEqual([a, b]);
  });

  it('AMB-110 ends complete when all are terminal, even if some failed', () => {
    const facts = [sent(a), sent(b), result(a, 'err'), result(b, 'timed_out')];
    expect(next(planOf(2), facts, 0).end).toEqual({
      outcome: 'complete',
      summary: { ok: 0, err: 1, timed_out: 1, cancelled: 0, not_started: 0 },
    });
    expect(next(planOf(0), [], 0).end?.outcome).toBe('complete');
  });

  it.each(['err', 'timed_out'] as const)(
    'AMB-104 FailFast halts at the first %s and cancels what is in flight',
    (bad) => {
      const plan = planOf(4, { failure_policy: 'FailFast', max_concurrency: 3 });
      const facts = [sent(a), sent(b), sent(c), result(b, bad)];
      expect(next(plan, facts, 0)).toMatchObject({ commands: [], cancels: [a, c] });
      const rest = [...facts, result(a, 'cancelled'), result(c, 'ok')];
      expect(next(plan, rest, 0).end).toEqual({
        outcome: 'halted',
        summary: { ok: 1, err: 0, timed_out: 0, cancelled: 1, not_started: 1, [bad]: 1 },
      });
    },
  );

  it('EDGE-RES-22 AMB-104 StopAfter halts at the N-th failure, not before, and lets those in flight finish', () => {
    const plan = planOf(4, { failure_policy: { StopAfter: 2 }, max_concurrency: 3 });
    const before = [sent(a), sent(b), sent(c), result(a, 'err')];
    expect(next(plan, before, 0).commands).toEqual([d]);
    const facts = [...before, result(b, 'timed_out')];
    expect(next(plan, facts, 0)).toMatchObject({ commands: [], cancels: [] });
    expect(next(plan, facts, 0).end).toBeUndefined();
    expect(next(plan, [...facts, result(c)], 0).end).toMatchObject({ outcome: 'halted', summary: { not_started: 1 } });
  });

  it('AMB-104 neither ok nor cancelled is a failure', () => {
    const plan = planOf(3, { failure_policy: 'FailFast', max_concurrency: 1 });
    expect(next(plan, [sent(a), result(a), sent(b), result(b, 'cancelled')], 0).commands).toEqual([c]);
  });

  it('EDGE-REST-40 EDGE-FLOW-16 a cancellation cancels each host in flight, and starts none', () => {
    const plan = planOf(3, { max_concurrency: 2 });
    const facts: FleetFact[] = [sent(a), sent(b), result(a), { kind: 'cancel' }];
    expect(next(plan, facts, 0)).toMatchObject({ commands: [], cancels: [b] });
    expect(next(plan, [...facts, { kind: 'cancel_sent', node: b, at: 0 }], 0).cancels).toEqual([]);
    expect(next(plan, [...facts, result(b, 'cancelled')], 0).end).toEqual({
      outcome: 'cancelled',
      summary: { ok: 1, err: 0, timed_out: 0, cancelled: 1, not_started: 1 },
    });
  });

  it('EDGE-REST-39 a run that was halted stays so, whatever succeeds or is cancelled afterwards', () => {
    const plan = planOf(5, { failure_policy: { StopAfter: 1 }, max_concurrency: 3 });
    const halted: FleetFact[] = [sent(a), sent(b), sent(c), result(a, 'err')];
    expect(next(plan, [...halted, result(b), result(c)], 0)).toMatchObject({
      commands: [],
      end: { outcome: 'halted' },
    });
    const cancelled: FleetFact[] = [...halted, result(b), { kind: 'cancel' }];
    expect(next(plan, cancelled, 0)).toMatchObject({ commands: [], cancels: [c] });
    expect(next(plan, [...cancelled, result(c, 'cancelled')], 0).end).toMatchObject({
      outcome: 'halted',
      summary: { ok: 1, err: 1, cancelled: 1, not_started: 2 },
    });
  });

  it('EDGE-REST-40 a run that was cancelled stays so, whatever fails afterwards', () => {
    const plan = planOf(3, { failure_policy: 'FailFast', max_concurrency: 2 });
    const facts: FleetFact[] = [sent(a), sent(b), { kind: 'cancel' }, result(a, 'err'), result(b, 'cancelled')];
    expect(next(plan, facts, 0).end?.outcome).toBe('cancelled');
  });

  it.each([
    [0, 'cancelled'],
    [1, 'halted'],
    [2, 'halted'],
  ])('EDGE-REST-39 a cancellation that came after %i results, read after all of them, ends %s', (count, want) => {
    const plan = planOf(3, { failure_policy: 'FailFast', max_concurrency: 2 });
    const results = [sent(a), sent(b), result(a, 'err'), result(b)];
    expect(next(plan, [...results, { kind: 'cancel', afterResults: count }], 0).end?.outcome).toBe(want);
  });

  it('EDGE-RES-24 a host without a result counts as timed out when deadline and grace are over, not before', () => {
    const plan = planOf(1, { per_target_deadline_secs: 5 });
    const over = 5_000 + fleetTimes.resultGraceMs;
    expect(next(plan, [sent(a)], over - 1).expired).toEqual([]);
    expect(next(plan, [sent(a)], over).expired).toEqual([{ node: a, outcome: 'timed_out' }]);
    expect(next(plan, [sent(a)], 0).lookAt).toBe(over);
  });

  it('EDGE-RES-24 the deadline counts from when the command left, not while it waits to be handed over', () => {
    const plan = planOf(2, { per_target_deadline_secs: 5, max_concurrency: 1 });
    const over = 5_000 + fleetTimes.resultGraceMs;
    expect(next(plan, [launching(a)], 10 * over)).toMatchObject({ commands: [], expired: [] });
    expect(next(plan, [launching(a)], 0).lookAt).toBeUndefined();
    const facts = [launching(a), sent(a, 100), sent(a, 200)];
    expect(next(plan, facts, over + 199).expired).toEqual([]);
    expect(next(plan, facts, over + 200).expired).toEqual([{ node: a, outcome: 'timed_out' }]);
    expect(next(plan, [launching(a), result(a, 'err')], 0).commands).toEqual([b]);
  });

  it('EDGE-REST-40 a cancellation counts a command that waits to be handed over, and asks until it was delivered', () => {
    const facts: FleetFact[] = [launching(a), { kind: 'cancel' }];
    expect(next(planOf(1), facts, 0)).toMatchObject({ cancels: [a] });
    expect(next(planOf(1), facts, 0).end).toBeUndefined();
    expect(next(planOf(1), [...facts, sent(a)], 99_999_999).cancels).toEqual([a]);
    const delivered: FleetFact[] = [...facts, sent(a), { kind: 'cancel_sent', node: a, at: 0 }, sent(a)];
    expect(next(planOf(1), delivered, 0).cancels).toEqual([]);
  });

  it('EDGE-REST-40 a host that does not answer a cancellation counts as cancelled after its grace', () => {
    const facts: FleetFact[] = [sent(a), { kind: 'cancel' }, { kind: 'cancel_sent', node: a, at: 100 }];
    const over = 100 + fleetTimes.cancelGraceMs;
    expect(next(planOf(1), facts, over - 1).expired).toEqual([]);
    expect(next(planOf(1), facts, over).expired).toEqual([{ node: a, outcome: 'cancelled' }]);
  });

  it.each<[string, Partial<FleetPlan['policy']>, FleetFact]>([
    ['a cancellation', {}, { kind: 'cancel' }],
    ['FailFast', { failure_policy: 'FailFast' }, result(b, 'err')],
  ])(
    'EDGE-REST-40 a silent host in flight at %s ends cancelled, though its deadline is over',
    (_stop, policy, stop) => {
      const plan = planOf(2, { per_target_deadline_secs: 1, ...policy });
      const stopped: FleetFact[] = [sent(a), sent(b), stop];
      const late = 1_000 + fleetTimes.resultGraceMs;
      expect(next(plan, stopped, late)).toMatchObject({ cancels: policy.failure_policy ? [a] : [a, b], expired: [] });
      const facts: FleetFact[] = [...stopped, { kind: 'cancel_sent', node: a, at: 2_000 }];
      const over = 2_000 + fleetTimes.cancelGraceMs;
      expect(next(plan, facts, over - 1)).toMatchObject({ expired: [], lookAt: over });
      expect(next(plan, facts, over).expired).toEqual([{ node: a, outcome: 'cancelled' }]);
      expect(next(plan, [...facts, result(a)], over)).toMatchObject({ expired: [] });
    },
  );

  it('EDGE-RES-24 a host in flight where StopAfter halts times out at its deadline: it is let finish', () => {
    const plan = planOf(2, { per_target_deadline_secs: 1, failure_policy: { StopAfter: 1 } });
    const over = 1_000 + fleetTimes.resultGraceMs;
    expect(next(plan, [sent(a), sent(b), result(b, 'err')], over).expired).toEqual([{ node: a, outcome: 'timed_out' }]);
  });

  it('EDGE-FLOW-11 the first result of a host counts, and hosts of other runs do not', () => {
    const facts = [sent(a), result(a), result(a, 'err'), result('stranger', 'err'), sent('stranger')];
    expect(next(planOf(1), facts, 0).end?.summary).toMatchObject({ ok: 1, err: 0 });
  });
});

const anyMode: fc.Arbitrary<FleetMode> = fc.oneof(
  fc.constantFrom('Sequential' as const, 'Parallel' as const),
  fc.integer({ min: 1, max: 7 }).map((batch) => ({ Rolling: { batch } })),
);
const anyFailurePolicy: fc.Arbitrary<FailurePolicy> = fc.oneof(
  fc.constantFrom('FailFast' as const, 'ContinueOnError' as const),
  fc.integer({ min: 1, max: 6 }).map((count) => ({ StopAfter: count })),
);
const anyPlan = fc
  .record({
    count: fc.integer({ min: 0, max: 25 }),
    mode: anyMode,
    max_concurrency: fc.integer({ min: 1, max: 8 }),
    failure_policy: anyFailurePolicy,
    per_target_deadline_secs: fc.constantFrom(1, 60),
  })
  .map(({ count, ...policy }) => planOf(count, policy));

interface Script {
  /** The answer of each host; `silent` answers nothing. */
  readonly answers: readonly ('ok' | 'err' | 'timed_out' | 'silent')[];
  /** Which of those in flight answers next. */
  readonly picks: readonly number[];
  /** Steps at which the process dies. */
  readonly deaths: ReadonlySet<number>;
  readonly cancelAt: number;
  /** No host answers a cancellation. */
  readonly isDeaf: boolean;
}
const anyScript: fc.Arbitrary<Script> = fc.record({
  answers: fc.array(fc.constantFrom('ok', 'ok', 'err', 'timed_out', 'silent'), { minLength: 25, maxLength: 25 }),
  picks: fc.array(fc.nat(7), { minLength: 1, maxLength: 10 }),
  deaths: fc.array(fc.nat(60), { maxLength: 3 }).map((steps) => new Set(steps)),
  cancelAt: fc.oneof(fc.constant(-1), fc.nat(40)),
  isDeaf: fc.boolean(),
});

const limitOf = ({ mode, max_concurrency: most }: FleetPlan['policy']): number => {
  if (mode === 'Sequential') return 1;
  return mode === 'Parallel' ? most : Math.min(most, mode.Rolling.batch);
};

/**
 * Hosts, a stream of results and claims, which outlive the process, and a process that dies in between. Gives back what a
 * run of the plan over them comes to.
 */
class Sim {
  readonly #plan: FleetPlan;
  readonly #script: Script;
  /** Results as the stream holds them. */
  readonly stream: FleetFact[] = [];
  readonly claims = new Set<string>();
  readonly received: string[] = [];
  readonly open = new Set<string>();
  most = 0;
  /** Outcomes of the hosts that gave no result after the run had cancelled them. */
  readonly lateAfterCancel: string[] = [];
  #facts: FleetFact[] = [];
  isCancelled = false;
  /** Failures that had come when it was cancelled, and results of any kind. */
  failedAtCancel = 0;
  #resultsAtCancel = 0;
  #isResumed = false;

  constructor(plan: FleetPlan, script: Script) {
    this.#plan = plan;
    this.#script = script;
  }

  run() {
    let progress = createProgress(this.#plan);
    let isNew = false;
    for (let step = 0, now = 0; step < 2_000; step += 1) {
      if (this.#script.deaths.has(step)) {
        progress = createProgress({ ...this.#plan, isResumed: true });
        this.#isResumed = true;
        this.#facts = [];
        for (const fact of this.stream) this.#tell(progress, fact);
        if (this.isCancelled) this.#tell(progress, { kind: 'cancel', afterResults: this.#resultsAtCancel });
        isNew = true;
      }
      if (step === this.#script.cancelAt && progress.next(now).end === undefined) {
        this.isCancelled = true;
        this.failedAtCancel = progress.summary.err + progress.summary.timed_out;
        this.#resultsAtCancel = progress.terminal;
        this.#tell(progress, { kind: 'cancel' });
      }
      const decision = progress.next(now);
      assert.deepEqual(next({ ...this.#plan, isResumed: this.#isResumed }, this.#facts, now), decision);
      if (decision.end !== undefined) return { end: decision.end, progress };
      this.#act(progress, decision, now);
      if (isNew) this.#tell(progress, { kind: 'probed' });
      isNew = false;
      this.most = Math.max(this.most, this.open.size);
      if (!this.#answer(progress, step)) now = Math.max(now, progress.next(now).lookAt ?? now);
    }
    throw new Error('the run does not end');
  }

  #tell(progress: ReturnType<typeof createProgress>, fact: FleetFact): void {
    this.#facts.push(fact);
    progress.record(fact);
  }

  #act(progress: ReturnType<typeof createProgress>, decision: ReturnType<typeof next>, now: number): void {
    for (const node of decision.commands) {
      this.#tell(progress, launching(node));
      this.#tell(progress, sent(node, now));
      if (this.claims.has(node)) continue;
      this.claims.add(node);
      this.received.push(node);
      this.open.add(node);
    }
    for (const node of decision.probes) {
      if (this.claims.has(node)) this.#tell(progress, sent(node, now));
      else this.#tell(progress, { kind: 'result', node, outcome: 'not_started' });
      this.claims.add(node);
    }
    for (const node of decision.cancels) {
      this.#tell(progress, { kind: 'cancel_sent', node, at: now });
      if (this.open.has(node) && !this.#script.isDeaf) this.#store(progress, node, 'cancelled');
    }
    const cancels = this.isCancelled || (progress.isStopped && this.#plan.policy.failure_policy === 'FailFast');
    if (cancels) this.lateAfterCancel.push(...decision.expired.map(({ outcome }) => outcome));
    for (const { node, outcome } of decision.expired) this.#store(progress, node, outcome);
  }

  #store(progress: ReturnType<typeof createProgress>, node: string, outcome: 'ok' | 'err' | 'timed_out' | 'cancelled') {
    this.open.delete(node);
    this.stream.push(result(node, outcome));
    this.#tell(progress, result(node, outcome));
  }

  /** One of the hosts in flight answers; false where all are silent. */
  #answer(progress: ReturnType<typeof createProgress>, step: number): boolean {
    const { answers, picks } = this.#script;
    const talking = [...this.open].filter((node) => answers[this.#plan.nodes.indexOf(node)] !== 'silent');
    const node = talking[(picks[step % picks.length] ?? 0) % Math.max(1, talking.length)];
    const answer = node === undefined ? undefined : answers[this.#plan.nodes.indexOf(node)];
    if (node === undefined || answer === undefined || answer === 'silent') return false;
    this.#store(progress, node, answer);
    return true;
  }
}

describe('any plan over any hosts, with a process that dies at any step', () => {
  const simulate = (check: (sim: Sim, ran: ReturnType<Sim['run']>, plan: FleetPlan, script: Script) => void) =>
    fc.assert(
      fc.property(anyPlan, anyScript, (plan, script) => {
        const sim = new Sim(plan, script);
        check(sim, sim.run(), plan, script);
      }),
      { numRuns: 400 },
    );

  it('EDGE-RES-21 never has more in flight than the policy allows', () => {
    simulate((sim, _ran, plan) => expect(sim.most).toBeLessThanOrEqual(limitOf(plan.policy)));
  });

  it('EDGE-RES-26 EDGE-REST-38 ends with a summary that adds up to the resolved hosts', () => {
    simulate((_sim, { end }, plan) => {
      expect(Object.keys(end.summary).sort()).toEqual([...nodeOutcomes].sort());
      expect(Object.values(end.summary).reduce((sum, count) => sum + count, 0)).toBe(plan.nodes.length);
    });
  });

  it('EDGE-REST-38 sends each command once at most, and counts as not started only what was never sent', () => {
    simulate((sim, { end, progress }, plan) => {
      expect(new Set(sim.received).size).toBe(sim.received.length);
      const idle = plan.nodes.filter((node) => (progress.outcomeOf(node) ?? 'not_started') === 'not_started');
      expect(idle).toHaveLength(end.summary.not_started);
      expect(idle.filter((node) => sim.received.includes(node))).toEqual([]);
    });
  });

  it('EDGE-REST-39 halts exactly where as many hosts failed as the policy says, and was not cancelled', () => {
    simulate((sim, { end }, { policy }) => {
      const failed = end.summary.err + end.summary.timed_out;
      const { failure_policy: failure } = policy;
      const allowed = typeof failure === 'object' ? failure.StopAfter : failure === 'FailFast' ? 1 : Infinity;
      const want = failed >= allowed ? 'halted' : 'complete';
      const wantCancelled = sim.failedAtCancel >= allowed ? 'halted' : 'cancelled';
      expect(end.outcome).toBe(sim.isCancelled ? wantCancelled : want);
      expect(end.outcome === 'complete' ? end.summary.not_started + end.summary.cancelled : 0).toBe(0);
    });
  });

  it('EDGE-REST-40 counts every host that stays silent after a cancellation or FailFast as cancelled', () => {
    simulate((sim) => expect(sim.lateAfterCancel.filter((outcome) => outcome !== 'cancelled')).toEqual([]));
  });

  it('EDGE-RES-22 sends nothing after the failure that halts', () => {
    simulate((sim, _ran, { policy }) => {
      const failedAt = sim.stream.findIndex((fact) => fact.kind === 'result' && fact.outcome !== 'ok');
      const isHalted = policy.failure_policy === 'FailFast' && failedAt >= 0;
      expect(isHalted ? sim.received.length : 0).toBeLessThanOrEqual(failedAt + 1 + limitOf(policy));
    });
  });

  it('EDGE-RES-20 gives the same decision again for the same facts', () => {
    fc.assert(
      fc.property(anyPlan, anyScript, (plan, script) => {
        expect(new Sim(plan, script).run().end).toEqual(new Sim(plan, script).run().end);
      }),
    );
  });
});

describe('a run over thousands of hosts', () => {
  const run = (count: number): void => {
    const plan = planOf(count, { max_concurrency: 100 });
    const progress = createProgress(plan);
    const queue: string[] = [];
    for (let decision = progress.next(0); decision.end === undefined; decision = progress.next(0)) {
      for (const node of decision.commands) {
        progress.record(sent(node));
        queue.push(node);
      }
      progress.record(result(queue.shift() ?? ''));
    }
  };

  it('EDGE-RES-21 takes processor time in proportion to the hosts, one fact at a time', async () => {
    expect(await growthOf(1_000, run)).toBeLessThan(proportional);
  });
});
