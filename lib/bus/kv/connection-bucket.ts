import { codeOf, errorCodes } from '../bus-error.ts';
import type { BucketDefinition } from './bucket-definition.ts';
import { type KeyAccounts, keyBytes } from './key-accounts.ts';
import type { Message, Publisher } from '../publish/publisher.ts';
import { bucketStreamName, bucketSubject } from '../streams.ts';
import { storedIn, type KeyValueMessage } from './stored-value.ts';

/** A bucket over one connection. Keys are legal ones. Everything but `get` throws StreamRefusal on a conflict. */
export interface ConnectionBucket {
  readonly accounts: KeyAccounts;
  /** Keys of its tenant's account that an entry with this text takes. */
  keysOf(text: string): number;
  /** Undefined where the key is free. */
  get(key: string): Promise<Pick<KeyValueMessage, 'text' | 'revision'> | undefined>;
  /** The new revision. `revision` is that of the text to replace, 0 for a key that was never written. */
  put(key: string, text: string, revision: number): Promise<number>;
  /** Writes the same, and asks for no answer. */
  note(key: string, text: string, revision: number): void;
  /** The new revision where the key was deleted after it was written, or else undefined. */
  putAgain(key: string, text: string): Promise<number | undefined>;
  delete(key: string, revision: number): Promise<void>;
}

interface BucketDeps {
  readonly publisher: Publisher;
  readonly accounts: KeyAccounts;
}

/**
 * How long the mark of a freed key stays: longer than a call, so that a writer that had read the key still meets it.
 */
const freedSeconds = 5;

/**
 * Reads and writes as the library would, with less about each (ADR 0032). They are a message under the key's subject,
 * and a request for the last one to the leader of the stream. A read shares the write to the socket with messages of
 * the same moment.
 */
export function openBucket({ publisher, accounts }: BucketDeps, definition: BucketDefinition): ConnectionBucket {
  const write = (key: string, text: string, headers: Message['headers']): Promise<number> =>
    publisher.publish({ subject: bucketSubject(definition, key), body: text, headers });
  const guarded = (revision: number): Message['headers'] => ({ [headerNames.expected]: [String(revision)] });
  const put = (key: string, text: string, revision: number): Promise<number> => write(key, text, guarded(revision));
  const last = async (key: string): Promise<KeyValueMessage | undefined> => {
    const body = JSON.stringify({ last_by_subj: bucketSubject(definition, key) });
    return storedIn(await publisher.ask({ subject: readSubject(definition), body, headers: {} }));
  };
  return {
    accounts,
    keysOf: (text) =>
      definition.isWeighed === true ? Math.ceil((entryBytes + Buffer.byteLength(text)) / keyBytes) : 1,
    put,
    note: (key, text, revision) =>
      publisher.tell({ subject: bucketSubject(definition, key), body: text, headers: guarded(revision) }),
    async get(key) {
      const found = await last(key);
      return found?.isFreed === false ? found : undefined;
    },
    async putAgain(key, text) {
      const found = await last(key);
      return found?.isFreed === true ? put(key, text, found.revision) : undefined;
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

/** Measured size of what is stored of an entry beside its text: its subject, its headers, and what the server writes. */
const entryBytes = 200;

const readSubject = (definition: BucketDefinition): string => `$JS.API.STREAM.MSG.GET.${bucketStreamName(definition)}`;

const headerNames = {
  expected: 'Nats-Expected-Last-Subject-Sequence',
  operation: 'KV-Operation',
  rollup: 'Nats-Rollup',
  ttl: 'Nats-TTL',
} as const;
