import { createPublicKey, type KeyObject } from 'node:crypto';
import { AppError } from '../errors.ts';

const keyBytes = 32;
/** Base64 of 32 bytes, with its padding. */
const keyLength = 44;

/** The DER frame of RFC 8410 in front of the raw key; base64 of its bytes has no padding. */
const spkiPrefix = 'MCowBQYDK2VwAyEA';
const spkiPrefixBytes = 12;

/** The prime of Curve25519. */
const prime = 2n ** 255n - 19n;

/** The y coordinates of the eight points of small order: a signature under one of them proves nothing. */
const smallOrder: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  prime - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

/** The constant of the curve: -x² + y² = 1 + d·x²·y². */
const curveD = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;

/**
 * Reads a key that a caller registers. Refuses also one that is no point of the curve, under which no signature verifies.
 * @throws AppError `invalid`; the message begins with the name of the field.
 */
export function readNewPublicKey(text: unknown, field: string): KeyObject {
  const key = readPublicKey(text, field);
  requirePoint(rawPublicKey(key), field);
  return key;
}

/**
 * Reads the base64 of a raw Ed25519 public key of 32 bytes. Refuses points of small order and encodings that are not
 * canonical, which Node's own verifier accepts (requirements AMB-142).
 * @throws AppError `invalid`; the message begins with the name of the field.
 */
export function readPublicKey(text: unknown, field: string): KeyObject {
  const raw = typeof text === 'string' && text.length === keyLength ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  if (raw.length !== keyBytes || raw.toString('base64') !== text)
    throw refused(field, `must be the base64 of a raw Ed25519 public key of 32 bytes; ${misformOf(text)}`);
  return keyOf(raw, field);
}

/** Bytes of the usual frames of the same key, and what they are. */
const framed: Readonly<Record<number, string>> = {
  44: 'it is a key in DER; leave out the 12 bytes before the raw key',
  48: 'it is a private key in DER; send the public one',
};

/** How a text differs from the base64 of a key. The text is not repeated: it may be a private key. */
function misformOf(text: unknown): string {
  if (typeof text !== 'string') return 'it is no text';
  if (text.includes('-----BEGIN')) return 'it is PEM';
  if (/^[\w-]+=*$/.test(text) && /[-_]/.test(text)) return 'it is base64url; write + and / for - and _';
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return 'it has characters that base64 has not';
  const { length } = Buffer.from(text, 'base64');
  if (length === keyBytes) return 'its padding is missing, or its last character has bits to spare';
  return framed[length] ?? `it is the base64 of ${length} bytes`;
}

/**
 * The same as `readNewPublicKey` for the 32 raw bytes of a key.
 * @throws AppError `invalid`; the message begins with the name of the field.
 */
export function readRawPublicKey(raw: Uint8Array, field: string): KeyObject {
  if (raw.length !== keyBytes) throw refused(field, 'must be a raw Ed25519 public key of 32 bytes');
  requirePoint(raw, field);
  return keyOf(Buffer.from(raw), field);
}

/** The 32 bytes of a key. */
export function rawPublicKey(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(spkiPrefixBytes);
}

function keyOf(raw: Buffer, field: string): KeyObject {
  if (isWeak(raw)) throw refused(field, 'is a key of small order or not in canonical form; make another key pair');
  // Node throws and catches four errors before it reads a key that comes in an object. They take longer than all else
  // about it, and a relay reads the keys of a fleet that comes back.
  return createPublicKey(
    `-----BEGIN PUBLIC KEY-----\n${spkiPrefix}${raw.toString('base64')}\n-----END PUBLIC KEY-----\n`,
  );
}

function isWeak(raw: Uint8Array): boolean {
  const y = yOf(raw);
  return y >= prime || smallOrder.has(y);
}

function yOf(raw: Uint8Array): bigint {
  const bytes = Buffer.from(raw);
  // The highest bit is the sign of x; the rest is y, the lowest byte first.
  bytes.writeUInt8(bytes.readUInt8(keyBytes - 1) & 0x7f, keyBytes - 1);
  return BigInt(`0x${bytes.reverse().toString('hex')}`);
}

/** x² is (y² - 1) / (d·y² + 1), which is a square exactly where the product of both is one. */
function requirePoint(raw: Uint8Array, field: string): void {
  const square = yOf(raw) ** 2n % prime;
  if (power(((square - 1n) * (curveD * square + 1n)) % prime, (prime - 1n) / 2n) === prime - 1n)
    throw refused(field, 'is no point of the curve; make another key pair');
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let rest = exponent, factor = base; rest > 0n; rest >>= 1n, factor = (factor * factor) % prime)
    if (rest & 1n) result = (result * factor) % prime;
  return result;
}

const refused = (field: string, problem: string): AppError =>
  new AppError('invalid', `${field} ${problem}`, { reason: 'PublicKeyInvalid' });
