import type { KV } from '@nats-io/kv';
import { codeOf, errorCodes } from '../bus-error.ts';
import type { BucketDefinition } from './bucket-definition.ts';
import type { KeyAccounts } from './key-accounts.ts';
import type { Message, Publisher } from '../publish/publisher.ts';
import { bucketSubject } from '../streams.ts';

/** A stored text with its revision. */
interface StoredText {
  readonly text: string;
  readonly revision: number;
}

/** A bucket over one connection. Keys are legal ones. Everything but `get` throws StreamRefusal on a conflict. */
export interface SessionBucket {
  readonly accounts: KeyAccounts;
  /** Undefined where the key is free. */
  get(key: string): Promise<StoredText | undefined>;
  /** The new revision. `revision` is that of the text to replace, 0 for a key that was never written. */
  put(key: string, text: string, revision: number): Promise<number>;
  /** The new revision where the key was deleted after it was written, or else undefined. */
  putAgain(key: string, text: string): Promise<number | undefined>;
  delete(key: string, revision: number): Promise<void>;
}

interface BucketDeps {
  /** The library's view of the same bucket. */
  readonly kv: Pick<KV, 'get'>;
  readonly publisher: Publisher;
  readonly accounts: KeyAccounts;
}

/**
 * How long the mark of a freed key stays: longer than a call, so that a writer that had read the key still meets it.
 */
const freedSeconds = 5;

/** The library reads, and the publisher writes as the library would: a message under the key's subject. */
export function createSessionBucket(
  { kv, publisher, accounts }: BucketDeps,
  definition: BucketDefinition,
): SessionBucket {
  const write = (key: string, text: string, headers: Message['headers']): Promise<number> =>
    publisher.publish({ subject: bucketSubject(definition, key), body: text, headers });
  const put = (key: string, text: string, revision: number): Promise<number> =>
    write(key, text, { [headerNames.expected]: [String(revision)] });
  return {
    accounts,
    put,
    async get(key) {
      const entry = await kv.get(key);
      return entry?.operation === 'PUT' ? { text: entry.string(), revision: entry.revision } : undefined;
    },
    async putAgain(key, text) {
      const entry = await kv.get(key);
      return entry === null || entry.operation === 'PUT' ? undefined : put(key, text, entry.revision);
    },
    async delete(key, revision) {
      const headers = {
        [headerNames.expected]: [String(revision)],
        [headerNames.operation]: ['PURGE'],
        [headerNames.rollup]: ['sub'],
      };
      try {
        await write(key, '', { ...headers, [headerNames.ttl]: [`${freedSeconds}s`] });
      } catch (error) {
        // A stream that we may not change: there the mark stays as long as a key.
        if (codeOf(error) !== errorCodes.ttlDisabled) throw error;
        await write(key, '', headers);
      }
    },
  };
}

const headerNames = {
  expected: 'Nats-Expected-Last-Subject-Sequence',
  operation: 'KV-Operation',
  rollup: 'Nats-Rollup',
  ttl: 'Nats-TTL',
} as const;
