import type * as crypto from 'node:crypto';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { signatureProblem as SignatureProblem } from './signature.ts';

vi.mock('node:crypto', async (original) => {
  const real = await original<typeof crypto>();
  return { ...real, timingSafeEqual: vi.fn<typeof timingSafeEqual>(real.timingSafeEqual) };
});

const body = Buffer.from('{"a":1}');
const secret = 'it is a secret';
const right = createHmac('sha256', secret).update(body).digest('hex');

describe('the comparison of signatures', () => {
  let signatureProblem: typeof SignatureProblem;

  // Test files share their modules: another one may have loaded this one before, without the spy.
  beforeAll(async () => {
    vi.resetModules();
    ({ signatureProblem } = await import('./signature.ts'));
  });

  afterAll(() => void vi.resetModules());

  beforeEach(() => {
    vi.mocked(timingSafeEqual).mockClear();
  });

  it.each([
    ['is right', right, undefined],
    ['differs in its first byte', `00${right.slice(2)}`, 'invalid_signature'],
    ['differs in its last byte', `${right.slice(0, -2)}00`, 'invalid_signature'],
  ])('STIM-23 is made in constant time, once, where the digest %s', (_title, digest, want) => {
    expect(signatureProblem({ signatures: [`sha256=${digest}`], secret, body })).toBe(want);
    expect(timingSafeEqual).toHaveBeenCalledExactlyOnceWith(Buffer.from(digest, 'hex'), Buffer.from(right, 'hex'));
  });
});
