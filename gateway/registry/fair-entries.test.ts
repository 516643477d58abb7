import { describe, expect, it } from 'vitest';
import { createFairEntries } from './fair-entries.ts';

describe('entries of many tenants', () => {
  it('of the tenant with most of them make room, the oldest first', () => {
    const entries = createFairEntries<number>(100);
    entries.set('ada', 'a', 1);
    for (let at = 0; at < 10_000; at += 1) entries.set('mallory', `m${at}`, at);
    entries.set('grace', 'g', 2);
    expect([entries.get('a'), entries.get('g'), entries.size]).toEqual([1, 2, 100]);
    expect([entries.get('m9999'), entries.get('m9902'), entries.get('m9901')]).toEqual([9_999, 9_902, undefined]);
  });

  it('are replaced under their key, whichever tenant has it, and forgotten', () => {
    const entries = createFairEntries<number>(2);
    entries.set('ada', 'a', 1);
    entries.set('grace', 'a', 2);
    expect([entries.get('a'), entries.size]).toEqual([2, 1]);
    entries.delete('a');
    entries.delete('a');
    entries.set('ada', 'b', 3);
    entries.clear();
    expect([entries.get('a'), entries.get('b'), entries.size]).toEqual([undefined, undefined, 0]);
  });
});
