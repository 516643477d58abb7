import { hash, randomFillSync, randomUUID } from 'node:crypto';

/** Source of ids that never repeat; a port, so that tests can name them. */
export type NewId = () => string;

/** 16 random hexadecimal characters: enough to tell apart what one process does in its life. */
export const newId: NewId = () => {
  if (taken === pool.length) taken = 0;
  if (taken === 0) randomFillSync(pool);
  taken += idBytes;
  return pool.toString('hex', taken - idBytes, taken);
};

const idBytes = 8;
/** Asking the system for so few bytes costs as much as asking for many. */
const pool = Buffer.alloc(512 * idBytes);
let taken = 0;

/** An id that leaves the installation in a form that others prescribe: ids of stimuli, invocations and streams are UUIDs. */
export const newUuid: NewId = () => randomUUID();

/**
 * The first `length` characters of the SHA-256 of `text`, in lower-case hexadecimal: equal for equal text, on every
 * machine and for ever, and legal in names and labels of Kubernetes. 16 characters keep a billion texts apart.
 */
export function shortHash(text: string, length = 16): string {
  return hash('sha256', text).slice(0, length);
}
