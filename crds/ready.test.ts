import { describe, expect, it } from 'vitest';
import { readyOf } from './ready.ts';
import type { Condition } from './schema/condition.ts';

const condition = (type: string, observedGeneration: number): Condition => ({
  type,
  status: 'True',
  reason: 'Accepted',
  message: '',
  lastTransitionTime: '2026-01-02T03:04:05Z',
  observedGeneration,
});
const judged = (observed: number, generation: number, type = 'Ready') => ({
  metadata: { generation },
  status: { conditions: [condition('Other', 9), condition(type, observed)] },
});

describe('what the controllers say of an object', () => {
  it.each([
    [1, 2, false],
    [2, 2, true],
  ])('that they judged at generation %i counts at %i: %s', (observed, generation, counts) => {
    expect(readyOf(judged(observed, generation)) !== undefined).toBe(counts);
  });

  it.each([
    [1, true],
    [2, true],
    [3, false],
  ])('at generation 2 counts for the writer of generation %i: %s', (written, counts) => {
    expect(readyOf(judged(2, 4), written) !== undefined).toBe(counts);
  });

  it.each([
    ['nothing was said', { metadata: { generation: 1 } }],
    ['only another condition is there', judged(1, 1, 'Succeeded')],
  ])('is nothing where %s', (_title, object) => {
    expect(readyOf(object)).toBeUndefined();
  });
});
