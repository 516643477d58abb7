import { describe, expect, it } from 'vitest';
import { canonicalHash } from '../../lib/definition/canonical.ts';
import { hostileShapes } from './support/json-shapes.ts';
import { restedMsOf, turnMs } from './support/turns.ts';

/** Shapes whose parts are many and small, which take the most. */
const dearest = ['lists in lists', 'objects in objects', 'objects of one field'];

describe('an attacker who may register a definition with a megabyte of any JSON', () => {
  it.each(dearest)('does not hold the loop while it is hashed: %s', (name) => {
    const value: unknown = JSON.parse(hostileShapes[name] ?? '');
    expect(restedMsOf(() => canonicalHash(value), turnMs)).toBeLessThan(turnMs);
  });
});
