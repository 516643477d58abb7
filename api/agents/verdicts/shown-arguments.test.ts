import { describe, expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import { costRatio } from '../../../test/support/processor-time.ts';
import { shownArguments } from './shown-arguments.ts';

const most = limits.askArgumentsLength;
const around = '{"a":""}'.length;
/** Signs that are shown as six characters each. */
const signs = Math.floor((most - around) / 6);

describe('arguments that a person is shown', () => {
  it.each([
    ['plain', most - around - 1, 'x', true],
    ['plain', most - around, 'x', true],
    ['plain', most - around + 1, 'x', false],
    ['unseen', signs - 1, '\u200b', true],
    ['unseen', signs, '\u200b', true],
    ['unseen', signs + 1, '\u200b', false],
  ])('of %s signs, %i of them, are shown where they fit', (_kind, count, sign, isShown) => {
    expect(shownArguments({ a: sign.repeat(count) }) !== undefined).toBe(isShown);
  });

  it('that are far too long cost no escapes', async () => {
    const showing = (count: number) => {
      const args = { a: '\u200b'.repeat(count) };
      return () => {
        for (let run = 0; run < 100; run += 1) shownArguments(args);
      };
    };
    // Escapes of all signs would take fifty times as long.
    expect(await costRatio(showing(50 * signs), showing(signs))).toBeLessThan(15);
  });
});
