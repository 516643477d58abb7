import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonPieceLength, jsonPieces } from './json-pieces.ts';

const textOf = (value: unknown): string => [...jsonPieces(value)].join('');

describe('the pieces of a JSON text', () => {
  it('are together what JSON.stringify makes of the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(textOf(value)).toBe(JSON.stringify(value));
      }),
    );
    const odd = { none: undefined, rows: [undefined, null, { none: undefined }, () => 1], empty: [], at: new Date(0) };
    expect(textOf(odd)).toBe(JSON.stringify(odd));
    expect(textOf({ none: undefined })).toBe('{}');
    expect(textOf(new Date(0))).toBe(JSON.stringify(new Date(0)));
  });

  it('are no longer than a piece and one row', () => {
    const row = { text: 'x'.repeat(10_000) };
    const pieces = [...jsonPieces({ rows: Array.from({ length: 100 }, () => row), next: null })];
    expect(pieces.length).toBeGreaterThan(10);
    for (const piece of pieces) expect(piece.length).toBeLessThan(jsonPieceLength + 10_100);
  });
});
