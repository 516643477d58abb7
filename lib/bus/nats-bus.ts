import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { busError, isConflict, isStreamGone } from './bus-error.ts';
import type { BusObserver, BusOperation, BusOutcome } from './bus-observer.ts';
import { cloudEventMediaType, cloudEventOf } from './publish/cloud-event.ts';
import type { BucketDefinition, BusEvent, EventBus, KeyValueBucket } from './event-bus.ts';
import type { ObjectBucket, ObjectBucketDefinition } from './objects/object-bucket.ts';
import { createOutbox, type Outbox, type OutboxLimits } from './publish/outbox.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';
import type { SessionBucket } from './kv/session-bucket.ts';
import { createSessionKeeper, type SessionKeeper } from './session-keeper.ts';
import { bucketKey, messageId, streamOf, subjectOf } from './subjects.ts';

export interface NatsBusDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: BusObserver;
  /** Between 0 and 1. */
  readonly random: () => number;
}

/** The bus on NATS JetStream. Returns at once; connecting goes on in the background, for ever. */
export function createNatsBus(deps: NatsBusDeps, options: SessionOptions, limits?: OutboxLimits): EventBus {
  return new NatsBus(deps, options, limits);
}

class NatsBus implements EventBus {
  readonly #deps: NatsBusDeps;
  readonly #keeper: SessionKeeper;
  readonly #outbox: Outbox;

  constructor(deps: NatsBusDeps, options: SessionOptions, limits: OutboxLimits | undefined) {
    const { clock, logger, observer } = deps;
    this.#deps = deps;
    this.#keeper = createSessionKeeper({
      ...deps,
      open: () => openSession(deps, options),
      onConnected: (connected) => observer.connected(connected),
    });
    this.#outbox = createOutbox({ publisher: this, clock, logger, observer }, limits);
  }

  raise(event: BusEvent): void {
    this.#outbox.raise(event);
  }

  async publish(event: BusEvent): Promise<void> {
    const message = {
      subject: subjectOf(event),
      body: JSON.stringify(cloudEventOf(event)),
      headers: {
        'Content-Type': [cloudEventMediaType],
        // The stream stores one message of an id within its window.
        'Nats-Msg-Id': [messageId(event.id)],
        'Nats-Expected-Stream': [streamOf(event)],
      },
    };
    await this.#call('publish', (session) => session.publish(message));
  }

  bucket<T>(definition: BucketDefinition): KeyValueBucket<T> {
    const call = <R>(
      operation: BusOperation,
      work: (bucket: SessionBucket, end: number) => Promise<R>,
    ): Promise<R | undefined> =>
      this.#call(operation, async (session, end) => {
        const bucket = session.bucket(definition);
        return work(bucket instanceof Promise ? await this.#within(end, bucket) : bucket, end);
      });
    return {
      async get(key) {
        const stored = await call('get', (bucket) => bucket.get(bucketKey(key)));
        return stored === undefined ? undefined : { value: JSON.parse(stored.text) as T, revision: stored.revision };
      },
      create: (key, value, tenant) =>
        call('create', async (bucket, end) => {
          const { accounts } = bucket;
          const entry = { key: bucketKey(key), text: JSON.stringify(value), end };
          const put = (): Promise<number | undefined> => this.#putNew(bucket, entry);
          const revision = accounts.tryTake(tenant)
            ? await put()
            : await this.#within(end, accounts.take(tenant).then(put));
          if (revision === undefined) accounts.giveBack(tenant);
          return revision;
        }),
      update: (key, value, revision) =>
        call('update', (bucket) => bucket.put(bucketKey(key), JSON.stringify(value), revision)),
      delete: (key, revision) => call('delete', (bucket) => bucket.delete(bucketKey(key), revision)),
    };
  }

  /** Undefined where the key is taken. */
  async #putNew(
    bucket: SessionBucket,
    { key, text, end }: { readonly key: string; readonly text: string; readonly end: number },
  ): Promise<number | undefined> {
    try {
      return await bucket.put(key, text, 0);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    try {
      return await this.#within(end, bucket.putAgain(key, text));
    } catch (error) {
      if (isConflict(error)) return undefined;
      throw error;
    }
  }

  objects(definition: ObjectBucketDefinition): ObjectBucket {
    const call = <R>(operation: BusOperation, work: (bucket: ObjectBucket) => Promise<R>): Promise<R> =>
      this.#long(operation, async (session) => work(await session.objects.open(definition)));
    return {
      put: (object) => call('put_object', (bucket) => bucket.put(object)),
      get: (nameOrAlias, bytesMax) => call('get_object', (bucket) => bucket.get(nameOrAlias, bytesMax)),
      page: (query) => call('list_objects', (bucket) => bucket.page(query)),
      trim: (bytes) => call('trim_objects', (bucket) => bucket.trim(bytes)),
    };
  }

  objectBytes(prefix: string): Promise<ReadonlyMap<string, number>> {
    return this.#long('list_objects', (session) => session.objects.bytes(prefix));
  }

  problem(): string | undefined {
    return this.#keeper.problem();
  }

  async close(graceMs: number): Promise<void> {
    await this.#outbox.close(graceMs);
    await this.#keeper.close();
  }

  /** Waits no longer than until a time; what comes of the work later is nobody's any more. */
  async #within<R>(end: number, work: Promise<R>): Promise<R> {
    const { clock } = this.#deps;
    const done = new AbortController();
    const late = clock.sleep(end - clock.now(), done.signal).then((): never => {
      // Nobody listens any more once the work is done; an error would be made for nothing.
      if (done.signal.aborted) return undefined as never;
      throw new AppError('unavailable', 'the event bus did not answer in time', { reason: 'EventBusUnavailable' });
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      done.abort(answered);
    }
  }

  /** A call that moves much, or looks at much. */
  async #long<R>(operation: BusOperation, work: (session: Session) => Promise<R>): Promise<R> {
    const end = this.#deps.clock.now() + longestObjectCallMs;
    const done = await this.#call(operation, async (session) => ({ value: await this.#within(end, work(session)) }));
    if (done === undefined)
      throw new AppError('unavailable', 'another replica writes the same object', { reason: 'EventBusConflict' });
    return done.value;
  }

  /** Undefined where somebody else wrote first. */
  async #call<R>(operation: BusOperation, work: (session: Session, end: number) => Promise<R>): Promise<R | undefined> {
    const start = this.#deps.clock.now();
    const done = (outcome: BusOutcome): void =>
      this.#deps.observer.called(operation, outcome, this.#deps.clock.now() - start);
    let session: Session | undefined;
    try {
      session = await this.#keeper.use();
      const result = await work(session, start + longestCallMs);
      done('ok');
      return result;
    } catch (error) {
      if (isConflict(error)) {
        done('conflict');
        return undefined;
      }
      if (session !== undefined && isStreamGone(error)) this.#keeper.replace(session);
      const told = busError(error);
      done(told.code === 'unavailable' ? 'unavailable' : 'refused');
      throw told;
    }
  }
}

/** Given as the reason, it spares the making of an error with its stack for each call. */
const answered = 'answered';

/** A call about objects takes no longer. */
const longestObjectCallMs = 60_000;

/** A call takes no longer, the wait for a connection and the making of a bucket included. */
const longestCallMs = 2_000;
