import { describe, expect, it } from 'vitest';
import { secretPlaces, withoutSecrets } from './without-secrets.ts';

const strip = async (body: string, ...secrets: string[]): Promise<string | undefined> =>
  (await withoutSecrets(Buffer.from(body), secrets))?.toString();

describe('withoutSecrets', () => {
  it.each([
    ['{"auth":"Bearer secret-token-1"}', 'secret-token-1', '{"auth":"Bearer [secret]"}'],
    [String.raw`{"k":"a\"b\\c/d-long"}`, 'a"b\\c/d-long', '{"k":"[secret]"}'],
    [String.raw`{"k":"a\/b\/c\/d-long"}`, 'a/b/c/d-long', '{"k":"[secret]"}'],
    ['{"k":"schlüssel-ä","x":"ö"}', 'schlüssel-ä', '{"k":"[secret]","x":"ö"}'],
    ['secret-1secret-1', 'secret-1', '[secret][secret]'],
    [String.raw`{"auth":"Bearer abc\u0026def\u003Cghi"}`, 'abc&def<ghi', '{"auth":"Bearer [secret]"}'],
    [String.raw`{"auth":"Basic dGVz\u002BdGVzdA=="}`, 'dGVz+dGVzdA==', '{"auth":"Basic [secret]"}'],
    [String.raw`{"k":"\u0073\u0065\u0063\u0072\u0065\u0074-1"}`, 'secret-1', '{"k":"[secret]"}'],
    [String.raw`{"k":"schl\u00FCssel-\ud83d\uDE00"}`, 'schlüssel-😀', '{"k":"[secret]"}'],
    [String.raw`{"k":"two\nlines\u000aof it"}`, 'two\nlines\nof it', '{"k":"[secret]"}'],
    [String.raw`{"k":"a.b*c-longer \\"}`, 'a+b*c-longer', String.raw`{"k":"a.b*c-longer \\"}`],
    ['{"n":"$&"}', 'nothing-of-it', '{"n":"$&"}'],
  ])('takes them out of %s', async (body, secret, want) => expect(await strip(body, secret)).toBe(want));

  it('takes the longer one of two, and leaves short ones', async () => {
    expect(await strip('secret-key secret-key-2 abc', 'secret-key', 'secret-key-2', 'abc')).toBe(
      '[secret] [secret] abc',
    );
  });

  it('covers two that overlap with one mark, plain and escaped', async () => {
    expect(await strip('a one-two-three b', 'one-two-', '-two-three')).toBe('a [secret] b');
    expect(await strip(String.raw`a one-two-three b`, 'one-two-', '-two-three')).toBe('a [secret] b');
  });

  it.each([
    ['as it is', 'secret-1'],
    ['escaped', String.raw`secret-1`],
  ])('takes out a secret %s in up to 256 places, and gives nothing of a body with more', async (_title, written) => {
    const marks = (count: number) => '[secret]'.repeat(count);
    expect(await strip(written.repeat(secretPlaces - 1), 'secret-1', 'another-1')).toBe(marks(secretPlaces - 1));
    expect(await strip(written.repeat(secretPlaces), 'secret-1', 'another-1')).toBe(marks(secretPlaces));
    expect(await strip(written.repeat(secretPlaces + 1), 'another-1', 'secret-1')).toBeUndefined();
  });

  it('ends where a secret is the mark itself, and takes out two that are escaped', async () => {
    const body = String.raw`{"a":"[secret]\n","b":"one\u002dsecret","c":"other\u002dsecret"}`;
    const want = String.raw`{"a":"[secret]\n","b":"[secret]","c":"[secret]"}`;
    expect(await strip(body, '[secret]', 'one-secret', 'other-secret')).toBe(want);
  });

  it('takes out a secret of 64 KiB, in whatever way JSON writes it', async () => {
    const secret = 'k+'.repeat(32_768);
    const escaped = String.raw`k\u002b`.repeat(32_768);
    expect(await strip(`{"k":"${escaped}"}`, secret)).toBe('{"k":"[secret]"}');
  });

  it('leaves a body without them as it is, and one that is no text', async () => {
    const body = Buffer.from([0xff, 0x00, 0xc3]);
    expect(await withoutSecrets(body, ['secret-token-1'])).toBe(body);
    const mixed = Buffer.concat([body, Buffer.from('secret-token-1'), body]);
    expect(await withoutSecrets(mixed, ['secret-token-1'])).toEqual(
      Buffer.concat([body, Buffer.from('[secret]'), body]),
    );
  });
});
