import type { JsMsg } from '@nats-io/jetstream';
import type { Clock } from '../../clock.ts';
import { messageOf } from '../../errors.ts';
import { halfJitter } from '../../backoff.ts';
import type { Logger } from '../../logger.ts';
import type { BucketDefinition } from './bucket-definition.ts';
import { busLimits } from '../limits.ts';
import type { BusConnection } from '../bus-connection.ts';
import type { ConnectionKeeper } from '../connection-keeper.ts';
import { bucketSubject, bucketStreamName } from '../streams.ts';
import type { KeyValueChange } from './key-value-watcher.ts';

interface WatchDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly keeper: Pick<ConnectionKeeper, 'next'>;
}

const retry = { baseMs: busLimits.consumerRetryBaseMs, maxMs: busLimits.consumerRetryMaxMs };

/** Over one connection after the other; each begins with all entries, as what ended in between left no message. */
export async function* watchBucket<T>(
  { clock, logger, random, keeper }: WatchDeps,
  definition: BucketDefinition,
  signal: AbortSignal,
): AsyncGenerator<KeyValueChange<T>, void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    const connection = await keeper.next(signal);
    if (connection === undefined) return;
    try {
      yield* changes<T>(connection, definition, signal);
    } catch (error) {
      logger.warn({ bucket: definition.name, problem: messageOf(error) }, 'watch interrupted');
    }
    // The next connection may serve requests before it has a watch.
    if (!signal.aborted) yield { kind: 'lost' };
    await clock.sleep(halfJitter(retry, failures, random()), signal);
  }
}

async function* changes<T>(
  connection: BusConnection,
  definition: BucketDefinition,
  signal: AbortSignal,
): AsyncGenerator<KeyValueChange<T>, void> {
  await connection.bucket(definition);
  const filter = bucketSubject(definition, '>');
  const { pending, messages } = await connection.consumers.follow(bucketStreamName(definition), filter, signal);
  yield { kind: 'begin' };
  if (pending === 0) yield { kind: 'current' };
  let left = pending;
  for await (const message of messages) {
    if (signal.aborted) return;
    yield changeOf<T>(message, filter.length - 1);
    left -= 1;
    if (left === 0) yield { kind: 'current' };
  }
}

/** Deletes and markers of the server have a header and no content. */
function changeOf<T>(message: JsMsg, prefixLength: number): KeyValueChange<T> {
  const { headers, seq: revision } = message;
  const name = message.subject.slice(prefixLength);
  if (headers?.has('KV-Operation') === true) return { kind: 'end', name, revision, isExpired: false };
  if (headers?.has('Nats-Marker-Reason') === true) return { kind: 'end', name, revision, isExpired: true };
  return { kind: 'put', name, value: message.json<T>(), revision };
}
