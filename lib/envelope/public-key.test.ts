import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readNewPublicKey, readPublicKey, readRawPublicKey } from './public-key.ts';

const prime = 2n ** 255n - 19n;
const littleEndian = (y: bigint, sign = 0): string => {
  const bytes = Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse();
  bytes.writeUInt8(bytes.readUInt8(31) | (sign << 7), 31);
  return bytes.toString('base64');
};
const mod = (value: bigint): bigint => ((value % prime) + prime) % prime;
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let rest = exponent, square = mod(base); rest > 0n; rest >>= 1n, square = mod(square * square))
    if (rest & 1n) result = mod(result * square);
  return result;
}
const d = mod(-121665n * power(121666n, prime - 2n));

/** A point of order 8 doubles to one with y = 0, so that x² = -y² on the curve: d·y⁴ + 2·y² - 1 = 0. */
const order8 = [
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
];

describe('a public key', () => {
  it('GW-SESS-04 of 32 raw bytes verifies what its private key signed', () => {
    const pair = generateKeyPairSync('ed25519');
    const raw = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
    const key = readPublicKey(raw, 'agent_public_key');
    expect(verify(null, Buffer.from('x'), key, sign(null, Buffer.from('x'), pair.privateKey))).toBe(true);
  });

  it('AMB-142 the coordinates of order 8 fulfil the equation of such points', () => {
    expect(order8.map((y) => mod(d * power(y, 4n) + 2n * y * y - 1n))).toEqual([0n, 0n]);
  });

  it.each([0n, 1n, prime - 1n, ...order8].flatMap((y) => [0, 1].map((sign) => [littleEndian(y, sign)])))(
    'AMB-142 %s of small order is refused',
    (text) => {
      expect(() => readPublicKey(text, 'agent_public_key')).toThrow(/^agent_public_key is a key of small order/);
    },
  );

  it.each([
    [prime, 'refused'],
    [prime + 1n, 'refused'],
    [2n ** 255n - 1n, 'refused'],
    [prime - 2n, 'accepted'],
    [2n, 'accepted'],
  ])('AMB-142 with y = %i is %s', (y, want) => {
    let verdict = 'accepted';
    try {
      readPublicKey(littleEndian(y), 'key');
    } catch {
      verdict = 'refused';
    }
    expect(verdict).toBe(want);
  });

  it.each([0, 1].flatMap((sign) => [2n, 7n, prime - 2n].map((y) => [littleEndian(y, sign)])))(
    'AMB-142 %s, which is no point of the curve, cannot be registered',
    (text) => {
      const refusal = expect.objectContaining({
        message: 'agent_public_key is no point of the curve; make another key pair',
        reason: 'PublicKeyInvalid',
      });
      expect(() => readNewPublicKey(text, 'agent_public_key')).toThrow(refusal);
      expect(() => readRawPublicKey(Buffer.from(text, 'base64'), 'agent_public_key')).toThrow(refusal);
    },
  );

  it('GW-SESS-04 of any key pair can be registered', () => {
    for (let count = 0; count < 32; count += 1) {
      const { publicKey } = generateKeyPairSync('ed25519');
      const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
      expect(readNewPublicKey(raw.toString('base64'), 'key').equals(publicKey)).toBe(true);
      expect(readRawPublicKey(raw, 'key').equals(publicKey)).toBe(true);
    }
  });

  it.each([
    ['PEM', '-----BEGIN PUBLIC KEY-----', 'it is PEM'],
    ['31 bytes', Buffer.alloc(31, 7).toString('base64'), 'it is the base64 of 31 bytes'],
    ['33 bytes', Buffer.alloc(33, 7).toString('base64'), 'it is the base64 of 33 bytes'],
    ['base64 without its padding', Buffer.alloc(32, 7).toString('base64').replace('=', ''), 'its padding is missing'],
    [
      'base64 with other last bits',
      `${Buffer.alloc(32, 7).toString('base64').slice(0, 42)}d=`,
      'its padding is missing',
    ],
    ['base64url', Buffer.alloc(32, 0xfb).toString('base64url'), 'it is base64url'],
    ['a public key in DER', Buffer.alloc(44, 7).toString('base64'), 'it is a key in DER'],
    ['a private key in DER', Buffer.alloc(48, 7).toString('base64'), 'it is a private key in DER'],
    ['hexadecimal with a colon', 'ab:cd', 'it has characters that base64 has not'],
    ['empty', '', 'it is the base64 of 0 bytes'],
    ['a number', 7, 'it is no text'],
    ['nothing', undefined, 'it is no text'],
  ])('GW-SESS-04 that is %s is refused, and says so: %s', (_what, text, why) => {
    const start = 'agent_public_key must be the base64 of a raw Ed25519 public key of 32 bytes; ';
    expect(() => readPublicKey(text, 'agent_public_key')).toThrow(`${start}${why}`);
  });
});
