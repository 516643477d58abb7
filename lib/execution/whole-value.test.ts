import { describe, expect, it } from 'vitest';
import { shrink } from '../output-store/stored-value.ts';
import { wholeValue } from './whole-value.ts';

const noBlob = (): Promise<never> => Promise.reject(new Error('nothing may be read'));

describe('a value of status and output store', () => {
  it('needs no store when all of it is in status', async () => {
    expect(await wholeValue({ value: { a: [1, null] } }, noBlob)).toEqual({ a: [1, null] });
    expect(await wholeValue({}, noBlob)).toBeNull();
  });

  it.each<[title: string, value: unknown]>([
    ['a long string', 'x'.repeat(5_000)],
    ['long strings inside', { stdout: 'o'.repeat(3_000), output: { stderr: 'é'.repeat(2_000), exit_code: 1 } }],
    ['keys that a pointer must escape', { 'a/b~c': 'z'.repeat(4_000), '': { '~1': 'q'.repeat(4_000) } }],
    ['a list of many numbers, which moves as a whole', Array.from({ length: 3_000 }, (_, index) => index)],
    ['a key called __proto__', JSON.parse(`{"__proto__": "${'p'.repeat(4_000)}"}`)],
  ])('WF-CR-19 becomes again what the controller stored: %s', async (_title, value) => {
    const { stored, blobs } = shrink(value);
    expect(blobs.length).toBeGreaterThan(0);
    const byRef = new Map(blobs.map((blob) => [blob.ref, blob.data]));
    const read = async ({ ref }: { readonly ref: string }) => byRef.get(ref) ?? noBlob();
    expect(JSON.stringify(await wholeValue(stored, read))).toBe(JSON.stringify(value));
  });

  it('leaves the value alone where a reference leads nowhere', async () => {
    const refs = [{ path: '/gone/x', ref: 'a'.repeat(64), bytes: 1, encoding: 'text' as const }];
    expect(await wholeValue({ value: { a: 1 }, refs }, async () => Buffer.from('x'))).toEqual({ a: 1 });
  });
});
