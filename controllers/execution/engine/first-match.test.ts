import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ruleConditions } from '../../../crds/schema/rule-condition-names.ts';
import { LargeValue } from '../../../lib/template/large-value.ts';
import { createScope } from '../../../lib/template/scope.ts';
import { firstMatch, matches, type Rule, type StateOutcome } from './first-match.ts';

const scope = createScope({
  input: {},
  workflow: {},
  blackboard: { build: { output: { exit_code: 2, stdout: new LargeValue('ref-1', 9_000) } } },
  execution: { id: 'e-1' },
  stateNames: ['build'],
  completedStates: ['build'],
});

function anOutcome(facts: Partial<StateOutcome> = {}): StateOutcome {
  return { kind: 'ContainerRun', failed: false, scope, ...facts };
}

function matched(rule: Rule, facts: Partial<StateOutcome> = {}): boolean {
  const match = matches(rule, anOutcome(facts));
  if (match.kind === 'needs') throw new Error('needs stored values');
  return match.matched;
}

const judged = (
  scores: readonly (number | undefined)[],
  facts: { score?: number; confidence?: number; agreement?: number } = {},
) => ({
  kind: 'ParallelAgents' as const,
  consensus: { score: 0.7, confidence: 0.6, threshold: 0.7, scores, ...facts },
});

describe('conditions', () => {
  it('WF-COND-01 WF-COND-09 an absent condition and always match whatever happened', () => {
    for (const facts of [{}, { failed: true }, { kind: 'Human' as const, signal: 'no' }]) {
      expect([matched({}, facts), matched({ condition: 'always' }, facts)]).toEqual([true, true]);
    }
  });

  it('WF-COND-10 WF-COND-11 on_success and on_failure follow the outcome of the state', () => {
    expect([matched({ condition: 'on_success' }), matched({ condition: 'on_failure' })]).toEqual([true, false]);
    const failed = { failed: true };
    expect([matched({ condition: 'on_success' }, failed), matched({ condition: 'on_failure' }, failed)]).toEqual([
      false,
      true,
    ]);
  });

  it.each([
    [0, true, false],
    [1, false, true],
    [-1, false, true],
    [255, false, true],
    [undefined, false, false],
  ])('WF-COND-12 WF-COND-13 exit code %s: zero %s, non-zero %s', (exitCode, zero, nonZero) => {
    expect(matched({ condition: 'exit_code_zero' }, { exitCode })).toBe(zero);
    expect(matched({ condition: 'exit_code_non_zero' }, { exitCode })).toBe(nonZero);
  });

  it.each([
    ['2', 2, true],
    ['2', 1, false],
    ['2', 3, false],
    ['0', 0, true],
    ['-1', -1, true],
    ['02', 2, false],
    ['2.0', 2, false],
    [' 2', 2, false],
    ['2', undefined, false],
    [undefined, 2, false],
  ])('WF-COND-14 value %j against exit code %s is %s', (value, exitCode, want) => {
    expect(matched({ condition: 'exit_code', value }, { exitCode })).toBe(want);
  });

  it.each([
    [0.79, false, true],
    [0.8, false, false],
    [0.81, true, false],
    [undefined, false, false],
  ])('WF-COND-15 WF-COND-16 AMB-066 score %s: above 0.8 %s, below 0.8 %s', (score, above, below) => {
    expect(matched({ condition: 'score_above', threshold: 0.8 }, { score })).toBe(above);
    expect(matched({ condition: 'score_below', threshold: 0.8 }, { score })).toBe(below);
  });

  it.each([
    [0.39, false],
    [0.4, true],
    [0.5, true],
    [0.6, true],
    [0.61, false],
    [undefined, false],
  ])('WF-COND-17 AMB-066 score %s between 0.4 and 0.6 is %s', (score, want) => {
    expect(matched({ condition: 'score_between', min: 0.4, max: 0.6 }, { score })).toBe(want);
  });

  it.each([
    [0.49, false],
    [0.5, false],
    [0.51, true],
    [undefined, false],
  ])('WF-COND-18 AMB-066 confidence %s above 0.5 is %s', (confidence, want) => {
    expect(matched({ condition: 'confidence_above', threshold: 0.5 }, { confidence })).toBe(want);
  });

  it('AMB-066 a number that the rule lacks makes it false', () => {
    const facts = { score: 0.5, confidence: 0.5 };
    expect(matched({ condition: 'score_above' }, facts)).toBe(false);
    expect(matched({ condition: 'score_below' }, facts)).toBe(false);
    expect(matched({ condition: 'score_between', min: 0 }, facts)).toBe(false);
    expect(matched({ condition: 'score_between', max: 1 }, facts)).toBe(false);
    expect(matched({ condition: 'confidence_above' }, facts)).toBe(false);
  });

  it.each([
    [0.7, 0.6, true],
    [0.69, 0.6, false],
    [0.7, 0.59, false],
    [0.71, 0.61, true],
  ])('WF-COND-19 consensus score %s, confidence %s against 0.7 and 0.6 is %s', (score, confidence, want) => {
    const rule: Rule = { condition: 'consensus', threshold: 0.7, agreement: 0.6 };
    expect(matched(rule, judged([score], { score, confidence }))).toBe(want);
  });

  it('AMB-064 consensus without its own numbers takes those of the state, and 0 for an absent agreement', () => {
    const rule: Rule = { condition: 'consensus' };
    expect(matched(rule, judged([], { score: 0.7, confidence: 0 }))).toBe(true);
    expect(matched(rule, judged([], { score: 0.69, confidence: 1 }))).toBe(false);
    expect(matched(rule, judged([], { confidence: 0.59, agreement: 0.6 }))).toBe(false);
    expect(matched(rule, judged([], { confidence: 0.6, agreement: 0.6 }))).toBe(true);
    expect(matched({ ...rule, threshold: 0 }, judged([], { score: 0 }))).toBe(true);
    expect(matched(rule, { kind: 'ParallelAgents', failed: true })).toBe(false);
  });

  it.each([
    [[0.7, 0.9], true, false],
    [[0.69, 0.9], false, true],
    [[0.71], true, false],
    [[0, 0], false, true],
    [[], false, false],
  ])('WF-COND-20 WF-COND-21 scores %j: all approved %s, any rejected %s', (scores, all, any) => {
    expect(matched({ condition: 'all_approved' }, judged(scores))).toBe(all);
    expect(matched({ condition: 'any_rejected' }, judged(scores))).toBe(any);
  });

  it.each([
    [[0.9, undefined], false, false],
    [[undefined], false, false],
    [[0.6, undefined], false, true],
    [[0.9, 0.7], true, false],
  ])('AMB-183 a judge that did not complete has not approved: %j, all %s, any rejected %s', (scores, all, any) => {
    expect(matched({ condition: 'all_approved' }, judged(scores))).toBe(all);
    expect(matched({ condition: 'any_rejected' }, judged(scores))).toBe(any);
  });

  it.each([
    ['ship', 'ship', true],
    ['ship', 'Ship', false],
    ['ship', ' ship', false],
    ['', '', true],
    ['ship', undefined, false],
    [undefined, undefined, false],
  ])('WF-COND-22 AMB-065 input_equals %j against %j is %s', (value, signal, want) => {
    expect(matched({ condition: 'input_equals', value }, { kind: 'Human', signal })).toBe(want);
  });

  it.each([
    ...['yes', 'approve', 'approved', 'true', ' YES\n', 'Approved'].map((signal) => [signal, true, false] as const),
    ...['no', 'reject', 'rejected', 'false', ' No ', 'REJECTED'].map((signal) => [signal, false, true] as const),
    ...['', 'y', 'maybe', 'yes please', 'approval', undefined].map((signal) => [signal, false, false] as const),
  ])('WF-COND-23 WF-COND-24 AMB-065 signal %j: yes %s, no %s', (signal, yes, no) => {
    expect(matched({ condition: 'input_equals_yes' }, { kind: 'Human', signal })).toBe(yes);
    expect(matched({ condition: 'input_equals_no' }, { kind: 'Human', signal })).toBe(no);
  });

  it('WF-COND-25 custom holds when its expression does', () => {
    expect(matched({ condition: 'custom', expression: '{{build.output.exit_code}} == 2' })).toBe(true);
    expect(matched({ condition: 'custom', expression: '{{build.output.exit_code}} > 2' })).toBe(false);
  });

  it('custom asks for stored values', () => {
    const rule: Rule = { condition: 'custom', expression: 'build.output.stdout == "x"' };
    expect(matches(rule, anOutcome())).toEqual({ kind: 'needs', refs: ['ref-1'] });
    expect(matches(rule, anOutcome({ loaded: new Map([['ref-1', 'x']]) }))).toEqual({ kind: 'match', matched: true });
  });
});

describe('firstMatch', () => {
  it('WF-COND-26 the first rule that matches wins and later ones are not evaluated', () => {
    const rules: Rule[] = [
      { condition: 'on_failure' },
      { condition: 'exit_code_zero' },
      { condition: 'custom', expression: 'this is no expression' },
    ];
    expect(firstMatch(rules, anOutcome({ exitCode: 0 }))).toEqual({ kind: 'rule', index: 1, rule: rules[1] });
  });

  it('says when no rule matches, or there is none', () => {
    expect(firstMatch([{ condition: 'on_failure' }], anOutcome())).toEqual({ kind: 'none' });
    expect(firstMatch([], anOutcome())).toEqual({ kind: 'none' });
  });

  it('stops at a rule that needs stored values, because an earlier match would win', () => {
    const rules: Rule[] = [{ condition: 'custom', expression: 'build.output.stdout' }, {}];
    expect(firstMatch(rules, anOutcome())).toEqual({ kind: 'needs', refs: ['ref-1'] });
  });

  it('WF-COND-26 agrees with testing every rule on its own', () => {
    const rule = fc.record({
      condition: fc.constantFrom(...ruleConditions),
      threshold: fc.double({ min: 0, max: 1, noNaN: true }),
      value: fc.constantFrom('0', '1', 'yes'),
      expression: fc.constantFrom('true', 'false', 'build.output.exit_code == 2'),
      min: fc.constant(0.2),
      max: fc.constant(0.6),
    });
    const facts = fc.record({
      failed: fc.boolean(),
      exitCode: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
      score: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
      signal: fc.option(fc.constantFrom('yes', 'no', '1'), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), facts, (rules, outcome) => {
        const index = rules.findIndex((one) => matched(one, outcome));
        const choice = firstMatch(rules, anOutcome(outcome));
        expect(choice.kind === 'rule' ? choice.index : -1).toBe(index);
      }),
    );
  });
});
