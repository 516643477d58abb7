import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelValue, slotMetadata, slotOf } from './pod-slot.ts';

const stateName = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,62}$/);

describe('the slot of a pod', () => {
  it('AMB-061 every legal state name makes a valid label, and another one for another name', () => {
    fc.assert(
      fc.property(stateName, stateName, (a, b) => {
        expect(labelValue(a)).toMatch(/^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/);
        expect(labelValue(a) === labelValue(b)).toBe(a === b);
      }),
    );
  });

  it.each(['_x', 'x-', '_', 'a'.repeat(64), '-_-'])('the name %s, which no label can have, is hashed', (name) => {
    expect(labelValue(name)).toMatch(/^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/);
  });

  it('is read back as it was written', () => {
    const slot = fc.record(
      {
        state: stateName,
        visit: fc.integer({ min: 1, max: 20 }),
        attempt: fc.integer({ min: 1, max: 20 }),
        step: stateName,
      },
      { requiredKeys: ['state', 'visit', 'attempt'] },
    );
    fc.assert(
      fc.property(slot, (one) => {
        expect(slotOf(slotMetadata(one))).toEqual(one);
      }),
    );
  });

  it('a pod of another owner has none', () => {
    expect(slotOf({ labels: { app: 'x' } })).toBeUndefined();
  });
});
