import { hash } from 'node:crypto';
import type { KeyValueBucket } from '../../lib/bus/event-bus.ts';
import { AppError } from '../../lib/errors.ts';
import { IngestError } from './ingest-error.ts';

/** The stored value of a signature for 24 hours: a digest of the source and key under which it was accepted first. */
export interface AcceptedDelivery {
  readonly binding: string;
}

/** An entry that this submission wrote. */
export interface Remembered {
  readonly key: string;
  readonly revision: number;
}

/** A signed submission. */
export interface Signed {
  /** The digest in lower-case hexadecimal. */
  readonly signature: string;
  /** Whether the sender signed source and key as well: then no other party has put these two beside the body. */
  readonly isBound: boolean;
  readonly source: string;
  readonly idempotencyKey: string | undefined;
  /** On whose account it is remembered: a namespace, or no text where the source has none. */
  readonly tenant: string;
}

/**
 * Remembers under which source and key a signature was accepted. The signature of a webhook covers its body alone (spec
 * 1 §5.3). So a reader of one delivery could send it again under another key, or to another source of the same secret.
 */
export interface Deliveries {
  /**
   * Throws IngestError `signature_reused` for a signature that was accepted under another source or key within 24
   * hours, and AppError `unavailable` while the store is away. A delivery without a key does not throw for the store:
   * it may run twice anyway. Gives the entry where this call wrote it.
   */
  readonly accept: (delivery: Signed) => Promise<Remembered | undefined>;
  /** Forgets a delivery that was refused after all. Throws AppError `unavailable` while the store is away. */
  readonly release: (entry: Remembered) => Promise<void>;
}

export function createDeliveries(bucket: KeyValueBucket<AcceptedDelivery>): Deliveries {
  return {
    async accept({ signature, isBound, source, idempotencyKey, tenant }) {
      const binding = digestOf(['binding', source, idempotencyKey ?? null]);
      const key = digestOf(['signature', signature]);
      try {
        const revision = await bucket.create(key, { binding }, tenant);
        if (revision !== undefined) return { key, revision };
        if ((await isKnown(bucket, key, binding)) || isBound) return undefined;
      } catch (error) {
        if (idempotencyKey === undefined && error instanceof AppError && error.code === 'unavailable') return undefined;
        throw error;
      }
      const message =
        'a delivery with this signature was accepted under another source or key; sign those too: X-Svc-Bound-Signature';
      throw new IngestError('signature_reused', message);
    },
    release: ({ key, revision }) => bucket.delete(key, revision),
  };
}

/** Whether the signature was accepted under the same source and key. */
async function isKnown(bucket: KeyValueBucket<AcceptedDelivery>, key: string, binding: string): Promise<boolean> {
  const known = await bucket.get(key);
  // One that has just ended its 24 hours is as new.
  return known === undefined || known.value.binding === binding;
}

const digestOf = (parts: readonly (string | null)[]): string => hash('sha256', JSON.stringify(parts));
