import { aborted } from '../aborted.ts';
import type { Clock } from '../clock.ts';
import { AppError, messageOf } from '../errors.ts';
import { halfJitter } from '../backoff.ts';
import type { Logger } from '../logger.ts';
import type { BusConnection } from './bus-connection.ts';

interface ConnectionKeeperDeps {
  readonly open: () => Promise<BusConnection>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly onConnected: (connected: boolean) => void;
}

/** Keeps one connection alive for ever: opens it in the background, and the next one when it ends. */
export interface ConnectionKeeper {
  /**
   * The connection. An interruption that began a moment ago is waited out; a longer one is an error at once.
   * @throws AppError `unavailable`
   */
  use(): Promise<BusConnection>;
  /** The connection, however long it takes to come; undefined where the signal aborts or the bus closes first. */
  next(signal: AbortSignal): Promise<BusConnection | undefined>;
  /** Gives this connection up for a new one: its server does not have what it should. */
  replace(connection: BusConnection): void;
  problem(): string | undefined;
  close(): Promise<void>;
}

/**
 * How long a call waits for a connection that is being made, the start of the process and a server's restart included.
 */
const patienceMs = 500;
const reconnectBackoff = { baseMs: 100, maxMs: 2_000 };

export function createConnectionKeeper(deps: ConnectionKeeperDeps): ConnectionKeeper {
  return new Keeper(deps);
}

class Keeper implements ConnectionKeeper {
  readonly #deps: ConnectionKeeperDeps;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #connection: BusConnection | undefined;
  #arrival = Promise.withResolvers<BusConnection>();
  #downSince: number;
  #problem = 'not connected yet';

  constructor(deps: ConnectionKeeperDeps) {
    this.#deps = deps;
    this.#downSince = deps.clock.steadyMs();
    this.#running = this.#run();
  }

  async use(): Promise<BusConnection> {
    if (this.#connection !== undefined) return this.#connection;
    const leftMs = this.#downSince + patienceMs - this.#deps.clock.steadyMs();
    const arrived = leftMs > 0 && !this.#stop.signal.aborted ? await this.#arrivalWithin(leftMs) : undefined;
    if (arrived !== undefined) return arrived;
    throw new AppError('unavailable', `the event bus cannot be reached: ${this.#problem}`, {
      reason: 'EventBusUnavailable',
    });
  }

  async next(signal: AbortSignal): Promise<BusConnection | undefined> {
    if (signal.aborted || this.#stop.signal.aborted) return undefined;
    if (this.#connection !== undefined) return this.#connection;
    const over = new AbortController();
    const either = AbortSignal.any([signal, this.#stop.signal, over.signal]);
    const arrived = await Promise.race([this.#arrival.promise, aborted(either)]);
    over.abort();
    return arrived === 'aborted' ? undefined : arrived;
  }

  replace(connection: BusConnection): void {
    if (this.#connection === connection) void connection.close();
  }

  problem(): string | undefined {
    return this.#connection === undefined ? this.#problem : undefined;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#connection?.close();
    await this.#running;
  }

  async #arrivalWithin(ms: number): Promise<BusConnection | undefined> {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#stop.signal]);
    const arrived = await Promise.race([this.#arrival.promise, this.#deps.clock.sleep(ms, signal)]);
    over.abort();
    return arrived ?? undefined;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      const connection = await this.#open();
      if (connection !== undefined) {
        failures = 0;
        await this.#live(connection);
      }
      if (this.#stop.signal.aborted) return;
      await this.#deps.clock.sleep(halfJitter(reconnectBackoff, failures, this.#deps.random()), this.#stop.signal);
      failures += 1;
    }
  }

  async #open(): Promise<BusConnection | undefined> {
    try {
      return await this.#deps.open();
    } catch (error) {
      const problem = messageOf(error);
      // Once for each cause of an outage: it is tried again every two seconds.
      if (problem !== this.#problem) this.#deps.logger.warn({ problem }, 'event bus unreachable');
      this.#problem = problem;
      return undefined;
    }
  }

  async #live(connection: BusConnection): Promise<void> {
    const { logger, clock, onConnected } = this.#deps;
    if (this.#stop.signal.aborted) return connection.close();
    this.#connection = connection;
    this.#arrival.resolve(connection);
    onConnected(true);
    logger.info({ server: connection.server }, 'event bus connected');
    await connection.ended;
    this.#connection = undefined;
    this.#arrival = Promise.withResolvers();
    this.#downSince = clock.steadyMs();
    this.#problem = 'the connection was lost';
    onConnected(false);
    if (!this.#stop.signal.aborted) logger.warn({ server: connection.server }, 'event bus connection lost');
    void connection.close();
  }
}
