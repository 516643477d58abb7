import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import { type Clock, resultWithin } from '../../clock.ts';
import { readDirect } from '../direct-batch.ts';
import type { FoundMessage } from '../found-message.ts';
import type { PageBounds } from './read-ahead.ts';

/** Messages from a place on, of any replica of the stream, in one request; none where it gives none, or none in time. */
export type ReadBatch = (
  stream: string,
  filter: string,
  page: PageBounds,
) => Promise<readonly Omit<FoundMessage, 'headers'>[]>;

interface BatchesDeps {
  readonly direct: Pick<JetStreamManager['direct'], 'getBatch'>;
  readonly clock: Clock;
  /** How long the server has for a batch. */
  readonly waitMs: number;
}

/** A change of leader refuses a batch as well, so a refusal does not count for good. */
const askedAgainMs = 60_000;

/**
 * Batches over one connection. A stream that gives none, such as one that an account of NATS may not change, is asked for one
 * again a minute later.
 */
export function createBatches({ direct, clock, waitMs }: BatchesDeps): ReadBatch {
  /** When a stream that refused is asked again, in milliseconds of the steady clock. */
  const without = new Map<string, number>();
  const read = (stream: string, filter: string, { after, most, bytes }: PageBounds): Promise<StoredMsg[]> =>
    readDirect(direct, stream, { seq: after + 1, batch: most, max_bytes: bytes, next_by_subj: filter });
  return async (stream, filter, page) => {
    if (clock.steadyMs() < (without.get(stream) ?? 0)) return [];
    const reading = read(stream, filter, page).catch((error: unknown): StoredMsg[] => {
      if (!hasNone(error)) without.set(stream, clock.steadyMs() + askedAgainMs);
      return [];
    });
    return (await resultWithin(clock, waitMs, reading)) ?? [];
  };
}

/** Status of the answer to a request for messages that are not there. */
const notFound = 404;

const hasNone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === notFound;
