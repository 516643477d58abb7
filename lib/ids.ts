import { createHash, randomBytes } from 'node:crypto';

/** Source of ids that never repeat; a port, so that tests can name them. */
export type NewId = () => string;

/** 16 random hexadecimal characters: enough to tell apart what one process does in its life. */
export const newId: NewId = () => randomBytes(8).toString('hex');

/**
 * The first `length` characters of the SHA-256 of `text`, in lower-case hexadecimal: equal for equal text, on every
 * machine and for ever, and legal in names and labels of Kubernetes. 16 characters keep a billion texts apart.
 */
export function shortHash(text: string, length = 16): string {
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, length);
}
