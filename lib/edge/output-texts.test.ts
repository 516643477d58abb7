import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOutputTexts } from './output-texts.ts';

const parts = (bytes: Buffer, at: readonly number[]): Buffer[] => {
  const cuts = [0, ...at.map((one) => one % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((to, index) => bytes.subarray(cuts[index], to));
};

describe('text of output that comes in chunks', () => {
  it('EDGE-REST-29 is whole, wherever chunks are cut, and whatever other streams say in between', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.nat()), (text, at) => {
        const texts = createOutputTexts();
        let seen = '';
        for (const part of parts(Buffer.from(text), at)) {
          seen += texts.next('a', 'stdout', part);
          texts.next('a', 'stderr', Buffer.from([0xe2]));
          texts.next('b', 'stdout', Buffer.from([0x82, 0xe2]));
        }
        expect(seen).toBe(text);
      }),
    );
  });

  it('EDGE-REST-29 says at the end that a character was never completed, once', () => {
    const texts = createOutputTexts();
    expect(texts.next('a', 'stderr', Buffer.from([0x61, 0xe2, 0x82]))).toBe('a');
    expect(texts.end('a')).toEqual([{ stream: 'stderr', text: '\ufffd' }]);
    expect(texts.end('a')).toEqual([]);
    expect(texts.next('a', 'stderr', Buffer.from([0xac]))).toBe('\ufffd');
  });
});
