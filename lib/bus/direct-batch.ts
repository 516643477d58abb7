import type { DirectBatchStartSeq, JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import { codeOf } from './bus-error.ts';

/**
 * The messages of one batch. The library ends the subscription of a batch at once where it calls back, and leaves that
 * of an iterator for five seconds. A reader of many pages would so have hundreds.
 */
export async function readDirect(
  direct: Pick<JetStreamManager['direct'], 'getBatch'>,
  stream: string,
  query: Omit<DirectBatchStartSeq, 'callback' | 'start_time'>,
): Promise<StoredMsg[]> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const found: StoredMsg[] = [];
  const callback: NonNullable<DirectBatchStartSeq['callback']> = (done, message) => {
    if (done === null) return void found.push(message);
    if (done.err === undefined) return resolve(undefined);
    reject(done.err);
  };
  await direct.getBatch(stream, { ...query, callback });
  await promise;
  return found;
}

/** The server answers a request for messages that are not there, or behind the last one, with a refusal. */
export function noneIfAbsent(error: unknown): StoredMsg[] {
  if (codeOf(error) === 404) return [];
  throw error;
}
