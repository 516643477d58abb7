import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Consensus } from '../../crds/schema/consensus.ts';
import { agreementOf, type Ballot, consensusOf, thresholdOf } from './consensus.ts';

interface Vector {
  readonly name: string;
  readonly consensus: Consensus;
  readonly judges: readonly { readonly score?: number; readonly confidence?: number; readonly weight?: number }[];
  readonly expected: { readonly score: number; readonly confidence: number; readonly metadata: object } | null;
}

const file = new URL('../../docs/reference/consensus-vectors.json', import.meta.url);
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { readonly vectors: readonly Vector[] };

const ballotsOf = ({ judges }: Vector): Ballot[] =>
  judges.map(({ score, confidence, weight = 1 }) => ({
    weight,
    ...(score === undefined ? {} : { verdict: { score, confidence } }),
  }));

/** Numbers as the vectors write them. */
const rounded = (value: unknown): unknown => {
  if (typeof value === 'number') return Number(value.toFixed(9));
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, rounded(child)]));
};

describe('the published vectors', () => {
  it.each(vectors)('AMB-082 $consensus.strategy: $name', (vector) => {
    expect(rounded(consensusOf(vector.consensus, ballotsOf(vector)) ?? null)).toEqual(vector.expected);
  });

  it('cover every strategy', () => {
    const strategies = ['best_of_n', 'majority', 'unanimous', 'weighted_average'];
    expect([...new Set(vectors.map(({ consensus }) => consensus.strategy))].toSorted()).toEqual(strategies);
  });
});

const verdicts = (...rows: readonly (readonly [number, number?, number?])[]): Ballot[] =>
  rows.map(([score, confidence, weight = 1]) => ({ weight, verdict: { score, confidence } }));

const average = { strategy: 'weighted_average' } as const;

describe('weighted_average', () => {
  it('WF-PAR-16 equal scores are worth more confidence than scores that spread around the same mean', () => {
    const agreed = consensusOf(average, verdicts([0.6, 0.5], [0.6, 0.5]));
    const spread = consensusOf(average, verdicts([0.5, 0.5], [0.7, 0.5]));
    expect(spread?.score).toBe(agreed?.score);
    expect(spread?.confidence).toBeLessThan(agreed?.confidence ?? 0);
  });

  it('WF-PAR-13 WF-PAR-14 the factors are 0.7 and 0.3 where the state names none', () => {
    expect(consensusOf(average, verdicts([1, 0], [0, 0]))?.confidence).toBe(0);
    expect(consensusOf(average, verdicts([1, 1], [0, 1]))?.confidence).toBe(0.3);
    expect(consensusOf(average, verdicts([1, 0], [1, 0]))?.confidence).toBe(0.7);
  });

  it('WF-PAR-09 three judges at exactly the threshold have the threshold as their mean', () => {
    expect(consensusOf(average, verdicts([0.7], [0.7], [0.7]))?.score).toBe(0.7);
  });

  it('weights of any size are only compared with each other', () => {
    const small = consensusOf(average, verdicts([0.2, 1, 1], [0.8, 1, 3]));
    const huge = consensusOf(average, verdicts([0.2, 1, 5e307], [0.8, 1, 1.5e308]));
    expect(huge?.score).toBe(0.65);
    expect(huge).toEqual(small);
  });
});

describe('majority', () => {
  it.each([
    [0.69, 0],
    [0.7, 1],
    [0.71, 1],
  ])('WF-PAR-17 a score of %d of 0.7 → share %d', (score, share) => {
    expect(consensusOf({ strategy: 'majority' }, verdicts([score]))).toMatchObject({ score: share, confidence: 1 });
  });

  it('WF-PAR-05 has no answer where every judge that completed has the weight 0', () => {
    expect(consensusOf({ strategy: 'majority' }, verdicts([1, 1, 0]))).toBeUndefined();
  });
});

describe('unanimous', () => {
  it('WF-PAR-18 takes the lowest score and the lowest confidence', () => {
    const result = consensusOf({ strategy: 'unanimous' }, verdicts([0.9, 0.5], [0.8, 0.7]));
    expect(result).toMatchObject({ score: 0.8, confidence: 0.5, metadata: { unanimous: true } });
  });

  it('AMB-183 a judge that did not complete has not approved', () => {
    const result = consensusOf({ strategy: 'unanimous' }, [...verdicts([1, 1]), { weight: 1 }]);
    expect(result).toMatchObject({ score: 0, metadata: { unanimous: false, completed: 1, judges: 2 } });
  });
});

describe('best_of_n', () => {
  it.each([
    [1, [1]],
    [2, [1, 2]],
    [3, [1, 2, 0]],
    [4, [1, 2, 0]],
  ])('WF-PAR-19 n of %i averages the judges %j', (n, selected) => {
    const ballots = verdicts([0.9, 0.1], [0.8, 1], [0.7, 1]);
    expect(consensusOf({ strategy: 'best_of_n', n }, ballots)?.metadata).toMatchObject({ selected });
  });

  it('WF-PAR-19 the rank is that of score × confidence alone, whatever the weights', () => {
    const ballots = verdicts([0.9, 1, 0], [0.8, 1, 1], [0.7, 1, 9]);
    expect(consensusOf({ strategy: 'best_of_n', n: 2 }, ballots)).toMatchObject({
      score: 0.8,
      metadata: { selected: [0, 1] },
    });
    expect(consensusOf({ strategy: 'best_of_n', n: 1 }, ballots)).toBeUndefined();
  });
});

describe('what a state says of its consensus', () => {
  it('WF-PAR-09 the threshold is 0.7 by default', () => {
    expect(thresholdOf(average)).toBe(0.7);
    expect(thresholdOf({ ...average, threshold: 0 })).toBe(0);
  });

  it('WF-PAR-10 agreement is another name of min_agreement_confidence', () => {
    expect(agreementOf({ ...average, agreement: 0.4 })).toBe(0.4);
    expect(agreementOf({ ...average, min_agreement_confidence: 0.3 })).toBe(0.3);
    expect(agreementOf(average)).toBeUndefined();
  });
});

const unit = fc.double({ min: 0, max: 1, noNaN: true });
const weight = fc.oneof(fc.constantFrom(0, 1, 2), fc.double({ min: 0, max: Number.MAX_VALUE, noNaN: true }));
const confidence = fc.option(unit, { nil: undefined });
const ballot: fc.Arbitrary<Ballot> = fc.record({
  weight,
  verdict: fc.option(fc.record({ score: unit, confidence }), { nil: undefined }),
});
const ballots = fc.array(ballot, { minLength: 1, maxLength: 20 });
const rule: fc.Arbitrary<Consensus> = fc.record({
  strategy: fc.constantFrom('weighted_average', 'majority', 'unanimous', 'best_of_n'),
  threshold: unit,
  n: fc.integer({ min: 1, max: 20 }),
});

describe('any panel', () => {
  it('AMB-082 has a score and a confidence from 0 to 1, or none at all', () => {
    fc.assert(
      fc.property(rule, ballots, (consensus, panel) => {
        const result = consensusOf(consensus, panel);
        for (const value of [result?.score ?? 0, result?.confidence ?? 0]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it('AMB-083 has an answer whenever a judge of some weight completed', () => {
    fc.assert(
      fc.property(rule, ballots, (consensus, panel) => {
        fc.pre(panel.some((one) => one.weight > 0 && one.verdict !== undefined));
        // The best may have no weight, although others do.
        fc.pre(consensus.strategy !== 'best_of_n' || (consensus.n ?? 0) >= panel.length);
        expect(consensusOf(consensus, panel)).toBeDefined();
      }),
    );
  });

  it('WF-PAR-16 has a mean between its lowest and its highest score', () => {
    fc.assert(
      fc.property(ballots, (panel) => {
        const scores = panel.flatMap((one) => one.verdict?.score ?? []);
        const score = consensusOf(average, panel)?.score;
        fc.pre(score !== undefined);
        expect(score).toBeGreaterThanOrEqual(Math.min(...scores) - 1e-9);
        expect(score).toBeLessThanOrEqual(Math.max(...scores) + 1e-9);
      }),
    );
  });

  it('has the same consensus in any order of its judges, but for which of equals is best', () => {
    fc.assert(
      fc.property(fc.constantFrom('weighted_average', 'majority', 'unanimous'), ballots, (strategy, panel) => {
        const one = consensusOf({ strategy }, panel);
        const other = consensusOf({ strategy }, panel.toReversed());
        expect(rounded(other)).toEqual(rounded(one));
      }),
    );
  });

  it('loses nothing in agreement when its judges all say the same', () => {
    fc.assert(
      fc.property(unit, unit, fc.integer({ min: 1, max: 20 }), (score, own, count) => {
        const panel = Array.from({ length: count }, () => ({ weight: 1, verdict: { score, confidence: own } }));
        expect(consensusOf(average, panel)?.confidence).toBeCloseTo(0.7 + 0.3 * own, 9);
      }),
    );
  });
});
