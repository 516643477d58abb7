import { type Clock, sleepAwake } from '../clock.ts';
import { AppError } from '../errors.ts';
import { createFairPool, type FairPool } from '../fair-pool.ts';
import { bytesOf } from '../memory-budget/index.ts';
import { busError, isConflict, isStreamGone } from './bus-error.ts';
import type { BusObserver, BusOperation, BusOutcome } from './bus-observer.ts';
import type { BusConnection } from './bus-connection.ts';
import type { ConnectionKeeper } from './connection-keeper.ts';

/** Calls over the connection of the moment, each bounded in time, counted, and with errors of one kind. */
export interface BusCalls {
  /** Undefined where another caller wrote first. `end` is when the call has to be over, in milliseconds of the steady clock. */
  call<R>(
    operation: BusOperation,
    work: (connection: BusConnection, end: number) => Promise<R>,
  ): Promise<R | undefined>;
  /** A call that moves much, or looks at much. */
  long<R>(operation: BusOperation, work: (connection: BusConnection) => Promise<R>): Promise<R>;
  /** Memory for messages that are asked for before it is known what they are, with shares for tenants. */
  readonly ahead: FairPool;
  /** Waits no longer than until a time; the result of work that ends later is dropped. */
  within<R>(end: number, work: Promise<R>): Promise<R>;
}

interface CallsDeps {
  readonly clock: Clock;
  readonly observer: Pick<BusObserver, 'called'>;
  readonly keeper: Pick<ConnectionKeeper, 'use' | 'replace'>;
}

/** A call takes no longer, the wait for a connection and the making of a bucket included. */
const longestCallMs = 2_000;
/** A call that moves objects, or pages of a stream, takes no longer. */
const longestLongCallMs = 60_000;
/** Given as the reason, it spares the making of an error with its stack for each call. */
const answered = 'answered';

/** For a write that nothing waits for: its failure is counted, and no more. */
export const ignoreFailure = (): void => undefined;

export function createCalls(deps: CallsDeps): BusCalls {
  return new Calls(deps);
}

class Calls implements BusCalls {
  readonly #deps: CallsDeps;
  readonly ahead: FairPool;

  constructor(deps: CallsDeps) {
    this.#deps = deps;
    this.ahead = createFairPool({ size: bytesOf('messages read ahead'), clock: deps.clock });
  }

  async within<R>(end: number, work: Promise<R>): Promise<R> {
    const { clock } = this.#deps;
    const done = new AbortController();
    const late = sleepAwake(clock, end - clock.steadyMs(), done.signal).then((): never => {
      // No caller listens any more once the work is done; an error would be made for nothing.
      if (done.signal.aborted) return undefined as never;
      throw new AppError('unavailable', 'the event bus did not answer in time', { reason: 'EventBusUnavailable' });
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      done.abort(answered);
    }
  }

  async long<R>(operation: BusOperation, work: (connection: BusConnection) => Promise<R>): Promise<R> {
    const end = this.#deps.clock.steadyMs() + longestLongCallMs;
    const done = await this.call(operation, async (connection) => ({
      value: await this.within(end, work(connection)),
    }));
    if (done === undefined)
      throw new AppError('unavailable', 'another replica writes the same object', { reason: 'EventBusConflict' });
    return done.value;
  }

  async call<R>(
    operation: BusOperation,
    work: (connection: BusConnection, end: number) => Promise<R>,
  ): Promise<R | undefined> {
    const { clock, observer, keeper } = this.#deps;
    const start = clock.steadyMs();
    const done = (outcome: BusOutcome): void => observer.called(operation, outcome, clock.steadyMs() - start);
    let connection: BusConnection | undefined;
    try {
      connection = await keeper.use();
      const result = await work(connection, start + longestCallMs);
      done('ok');
      return result;
    } catch (error) {
      if (isConflict(error)) {
        done('conflict');
        return undefined;
      }
      if (connection !== undefined && isStreamGone(error)) keeper.replace(connection);
      const known = busError(error);
      done(known.code === 'unavailable' ? 'unavailable' : 'refused');
      throw known;
    }
  }
}
