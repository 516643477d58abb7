import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LargeValue } from '../template/large-value.ts';
import { createBlob, parseLocator } from './blob.ts';
import { RawText, withoutRaw } from './raw-text.ts';
import { inlineBytes, open, type Shrunk, shrink } from './stored-value.ts';

const uid = 'c0ffee00-0000-4000-8000-000000000001';

/** The value with every blob put back where `open` says one belongs. */
function putBack({ stored, blobs }: Shrunk): unknown {
  const byRef = new Map(blobs.map((blob) => [blob.ref, blob.data]));
  const load = (large: LargeValue): unknown => {
    const { ref, encoding, executionUid } = parseLocator(large.ref);
    const data = byRef.get(ref);
    if (data === undefined || executionUid !== uid) throw new Error(`no blob ${large.ref}`);
    expect(large.bytes).toBe(data.byteLength);
    const text = Buffer.from(data).toString('utf8');
    return encoding === 'text' ? text : JSON.parse(text);
  };
  const replaced = (value: unknown): unknown => {
    if (value instanceof LargeValue) return load(value);
    if (Array.isArray(value)) return value.map(replaced);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, replaced(child)]));
  };
  return replaced(open(stored, uid));
}

const raw = fc.uint8Array({ minLength: 1, maxLength: 600 }).map((bytes) => {
  const broken = new Uint8Array([...bytes, 0xff]);
  return new RawText(Buffer.from(broken).toString('utf8'), broken);
});
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 900 }),
  fc.string({ maxLength: 12 }).map((part) => part.repeat(200)),
);
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'a/b', '~1', '')), tie('value'), { maxKeys: 6 }),
    raw,
  ),
}));

/** `-0` is `0` in JSON. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(withoutRaw(value)));

describe('AMB-022 a value between status and output store', () => {
  it('property: is itself again once its blobs are put back, and fits the limit meanwhile', () => {
    fc.assert(
      fc.property(anyValue, fc.integer({ min: 2, max: 3_000 }), (value, limit) => {
        const shrunk = shrink(value, limit);
        expect(Buffer.byteLength(JSON.stringify(shrunk.stored.value ?? null))).toBeLessThanOrEqual(Math.max(limit, 4));
        expect(asJson(putBack(shrunk))).toEqual(asJson(value));
      }),
      { numRuns: 500 },
    );
  });

  it('property: names each blob by its content, and every blob is used', () => {
    fc.assert(
      fc.property(anyValue, fc.integer({ min: 2, max: 1_000 }), (value, limit) => {
        const { stored, blobs } = shrink(value, limit);
        const used = new Set(stored.refs?.map(({ ref }) => ref));
        for (const blob of blobs) expect(blob).toEqual(createBlob(blob.data));
        expect(new Set(blobs.map(({ ref }) => ref))).toEqual(used);
      }),
      { numRuns: 200 },
    );
  });

  it.each<[title: string, length: number, moves: boolean]>([
    ['one byte below the limit', 2_045, false],
    ['exactly the limit', 2_046, false],
    ['one byte above the limit', 2_047, true],
  ])('moves out a text whose JSON is above 2,048 bytes: %s', (_title, length, moves) => {
    const { stored, blobs } = shrink('x'.repeat(length));
    expect(blobs.length).toBe(moves ? 1 : 0);
    expect(stored.value === undefined).toBe(moves);
  });

  it('counts bytes and not characters', () => {
    expect(shrink('é'.repeat(1_023)).blobs).toEqual([]);
    expect(shrink('é'.repeat(1_024)).blobs).toHaveLength(1);
  });

  it('moves the longest strings only, as many as it takes', () => {
    const { stored, blobs } = shrink({ a: 'a'.repeat(1_500), b: 'b'.repeat(1_000), c: 'c'.repeat(700), n: 1 });
    expect(stored.refs?.map(({ path }) => path)).toEqual(['/a']);
    expect(stored.value).toMatchObject({ a: null, b: 'b'.repeat(1_000), c: 'c'.repeat(700), n: 1 });
    expect(blobs).toHaveLength(1);
  });

  it('stores a value of two places once', () => {
    const long = 'same'.repeat(1_000);
    const { stored, blobs } = shrink({ stdout: long, output: { stdout: long } });
    expect(stored.refs?.map(({ path }) => path).sort()).toEqual(['/output/stdout', '/stdout']);
    expect(blobs).toHaveLength(1);
  });

  it('WF-CR-19 keeps the very bytes of output that is no text, however short it is', () => {
    const bytes = new Uint8Array([0xff, 0x00, 0x0a]);
    const { stored, blobs } = shrink({ stdout: new RawText('\uFFFD\u0000\n', bytes), exit_code: 0 });
    expect(stored).toMatchObject({ value: { stdout: null, exit_code: 0 }, refs: [{ path: '/stdout', bytes: 3 }] });
    expect(blobs[0]?.data).toEqual(bytes);
  });

  it('measures itself in the form of status', () => {
    expect(inlineBytes({ value: 'é' })).toBe(Buffer.byteLength('{"value":"é"}'));
  });
});
