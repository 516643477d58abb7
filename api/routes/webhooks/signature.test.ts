import { createHmac, timingSafeEqual } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { type SignatureProblem, type SignedBody, signatureError, signatureProblem } from './signature.ts';

const body = Buffer.from('{"a": 1}');
const secret = 'it is a secret';
const digest = (bytes: Uint8Array = body, key = secret): string =>
  createHmac('sha256', key).update(bytes).digest('hex');
const right = `sha256=${digest()}`;
const check = (signatures: readonly string[], more: Partial<SignedBody> = {}) =>
  signatureProblem({ signatures, secret, body, ...more });

describe('signatureProblem', () => {
  it.each<[title: string, signatures: string[]]>([
    ['STIM-14 STIM-22 the digest of the bytes', [right]],
    ['AMB-045 upper-case hexadecimal', [`sha256=${digest().toUpperCase()}`]],
  ])('accepts %s', (_title, signatures) => {
    expect(check(signatures)).toBeUndefined();
  });

  it.each<[title: string, signatures: string[], want: SignatureProblem]>([
    ['STIM-26 no header', [], 'missing_signature'],
    ['AMB-152 an empty header', [''], 'missing_signature'],
    ['STIM-27 a digest without the scheme', [digest()], 'malformed_signature'],
    ['STIM-27 another scheme', [`sha1=${digest()}`], 'malformed_signature'],
    ['AMB-152 the scheme in capitals', [`SHA256=${digest()}`], 'malformed_signature'],
    ['STIM-27 a blank before the scheme', [` ${right}`], 'malformed_signature'],
    ['AMB-045 the scheme alone', ['sha256='], 'malformed_signature'],
    ['AMB-045 a header that was sent twice', [right, right], 'malformed_signature'],
    ['AMB-045 a header that was sent twice, empty', ['', ''], 'malformed_signature'],
    ['STIM-28 a letter that is no hexadecimal digit', [`sha256=${'g'.repeat(64)}`], 'invalid_hex'],
    ['STIM-28 a blank in it', [`sha256=${digest().slice(0, 62)} 0`], 'invalid_hex'],
    ['AMB-045 an odd number of digits', [`sha256=${digest().slice(0, 63)}`], 'invalid_hex'],
    ['AMB-045 one digit', ['sha256=a'], 'invalid_hex'],
    ['STIM-28 digits of another alphabet', ['sha256=٠٠'], 'invalid_hex'],
    ['STIM-30 another digest', [`sha256=${'0'.repeat(64)}`], 'invalid_signature'],
    ['STIM-30 the digest under another secret', [`sha256=${digest(body, 'guess')}`], 'invalid_signature'],
    ['AMB-045 a byte too few', [`sha256=${digest().slice(0, 62)}`], 'invalid_signature'],
    ['AMB-045 a byte too many', [`sha256=${digest()}00`], 'invalid_signature'],
  ])('refuses %s', (_title, signatures, want) => {
    expect(check(signatures)).toBe(want);
  });

  it.each<[title: string, hex: string, want: SignatureProblem | undefined]>([
    ['is right', digest(), undefined],
    ['differs in its first byte', `00${digest().slice(2)}`, 'invalid_signature'],
    ['differs in its last byte', `${digest().slice(0, -2)}00`, 'invalid_signature'],
  ])('STIM-23 compares whole digests, once, where the one sent %s', (_title, hex, want) => {
    const equal = vi.fn<typeof timingSafeEqual>(timingSafeEqual);
    expect(signatureProblem({ signatures: [`sha256=${hex}`], secret, body }, equal)).toBe(want);
    expect(equal).toHaveBeenCalledExactlyOnceWith(Buffer.from(hex, 'hex'), Buffer.from(digest(), 'hex'));
  });

  it('STIM-22 refuses the signature of the same JSON written differently', () => {
    const reserialised = Buffer.from(JSON.stringify(JSON.parse(body.toString())));
    expect(check([`sha256=${digest(reserialised)}`])).toBe('invalid_signature');
  });

  it('STIM-22 signs bytes, not text: bytes that are no UTF-8 count as they are', () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00]);
    const decoded = Buffer.from(bytes.toString('utf8'));
    expect(check([`sha256=${digest(bytes)}`], { body: bytes })).toBeUndefined();
    expect(check([`sha256=${digest(decoded)}`], { body: bytes })).toBe('invalid_signature');
  });

  it('accepts a signed empty body', () => {
    const empty = Buffer.alloc(0);
    expect(check([`sha256=${digest(empty)}`], { body: empty })).toBeUndefined();
  });

  it.each<[signatures: string[], want: SignatureProblem]>([
    [[], 'missing_signature'],
    [['nonsense'], 'malformed_signature'],
    [['sha256=xyz'], 'invalid_hex'],
    [['sha256=00'], 'secret_not_found'],
    [[right], 'secret_not_found'],
  ])('AMB-045 looks for the secret after the form of %j, and before the digest', (signatures, want) => {
    expect(check(signatures, { secret: undefined })).toBe(want);
  });
});

describe('signatureError', () => {
  it.each<[problem: SignatureProblem, status: number]>([
    ['missing_signature', 401],
    ['malformed_signature', 400],
    ['invalid_hex', 400],
    ['secret_not_found', 401],
    ['invalid_signature', 401],
  ])('%s is answered with %i and its word alone', (problem, status) => {
    expect(signatureError(problem).options).toEqual({
      code: status === 401 ? 'unauthenticated' : 'invalid',
      status,
      error: problem,
    });
  });
});
