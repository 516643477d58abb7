import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from '../definition/canonical.ts';
import { isJsonObject } from '../json-object.ts';
import type { ChainEnd } from './chained-event.ts';

/** A writer's signed statement: the end of a chain at a time. */
export interface Checkpoint extends ChainEnd {
  /** Absent for the chain of events that belong to no tenant. */
  readonly tenant?: string;
  readonly lane: string;
  /** Which key signed (`keyIdOf`). */
  readonly key_id: string;
  /** Ed25519 over `windlass-gateway-audit-checkpoint-v1`, a line feed, and the canonical JSON of the other members; Base64. */
  readonly signature: string;
}

const domain = 'windlass-gateway-audit-checkpoint-v1\n';

/** SHA-256 of a public key's SPKI, the first 32 hexadecimal characters. */
export function keyIdOf(key: KeyObject): string {
  return hash('sha256', publicHalf(key).export({ type: 'spki', format: 'der' })).slice(0, 32);
}

/** A public key, or the public half of a private one, as PEM. */
export const pemOf = (key: KeyObject): string => publicHalf(key).export({ type: 'spki', format: 'pem' }).toString();

/** The public half of a private key, or the public key itself. */
export const publicHalf = (key: KeyObject): KeyObject => (key.type === 'private' ? createPublicKey(key) : key);

/** Keys by id, as checkpoints name them. */
export const keyRing = (keys: readonly KeyObject[]): ReadonlyMap<string, KeyObject> =>
  new Map(keys.map((key) => [keyIdOf(key), publicHalf(key)]));

const signedBytes = (statement: Omit<Checkpoint, 'signature'>): Buffer =>
  Buffer.from(`${domain}${canonicalJson(statement)}`);

/** Signs the end of a chain with a private Ed25519 key. */
export function signCheckpoint(statement: Omit<Checkpoint, 'signature'>, key: KeyObject): Checkpoint {
  return { ...statement, signature: sign(null, signedBytes(statement), key).toString('base64') };
}

/** Whether one of the public keys, by id, signed it as it is. */
export function isSigned(checkpoint: Checkpoint, keys: ReadonlyMap<string, KeyObject>): boolean {
  const { signature, ...statement } = checkpoint;
  const key = keys.get(checkpoint.key_id);
  return key !== undefined && verify(null, signedBytes(statement), key, Buffer.from(signature, 'base64'));
}

/** The checkpoint of a stored message; undefined where it is none. */
export function checkpointOf(body: Uint8Array): Checkpoint | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    return isCheckpoint(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isCheckpoint(value: unknown): value is Checkpoint {
  if (!isJsonObject(value)) return false;
  const { lane, sequence, hash: own, time, key_id: keyId, signature, tenant } = value;
  const isText = [lane, own, time, keyId, signature].every((text) => typeof text === 'string');
  return isText && Number.isSafeInteger(sequence) && (tenant === undefined || typeof tenant === 'string');
}
