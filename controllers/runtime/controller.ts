import { type Clock, runAfter } from '../../lib/clock.ts';
import type { NewId } from '../../lib/ids.ts';
import { refOfKey } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { type Outcome, outcomeOfError, outcomeOfResult, type ReconcileResult } from './outcome.ts';
import { createWorkQueue, type QueueObserver, type WorkQueue } from './work-queue.ts';

/**
 * Brings the world closer to what the object says, whatever woke it. Returns nothing when a change will wake it
 * again, or the time after which to look. Throws TerminalError, WaitError, or anything else to be tried again.
 */
export type Reconcile = (key: string) => Promise<ReconcileResult | void>;

/** Receives the outcome of each reconcile; must not throw. */
export interface ReconcileObserver {
  reconciled(outcome: Outcome['kind'], ms: number): void;
  /** Reconciles under way that have not ended in time. */
  overdue(count: number): void;
  readonly queue?: QueueObserver;
}

interface ControllerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly observer?: ReconcileObserver;
  readonly random?: () => number;
}

interface ControllerOptions {
  /** Kind that is reconciled, for logs. */
  readonly kind: string;
  readonly reconcile: Reconcile;
  /** Reconciles at once of one namespace alone; a quarter more run where several have work. */
  readonly workers: number;
}

/** Works a queue of keys with one reconcile function. */
export interface Controller {
  readonly kind: string;
  /** Where watches put keys. */
  readonly queue: WorkQueue;
  /** Works until `stop` aborts, then lets running reconciles end. Never rejects. */
  run(stop: AbortSignal): Promise<void>;
}

export function createController(deps: ControllerDeps, options: ControllerOptions): Controller {
  return new QueueController(deps, options);
}

/** Before a reconcile that could not write is tried again: a lease that had only lapsed may be renewed meanwhile. */
const givenUpMs = 1_000;
/** Workers that one namespace cannot have, however slow its reconciles are: this part of its own number, rounded up. */
const sparePart = 1 / 4;

/** Above every wait that a reconcile may have: a call of the API server has 30 s, one of the bucket 45 s. */
const overdueMs = 300_000;

/** Logs reconciles that were forbidden: once an hour for each namespace, since one cause stops all of its objects. */
interface RefusalLog {
  log(logger: Logger, key: string, err: unknown): void;
}

/** How long until there is another warning about a namespace, in milliseconds. */
const quietMs = 3_600_000;

function createRefusalLog(clock: Clock): RefusalLog {
  /** Until when further refusals in a namespace are routine, by the steady clock. */
  const quiet = new Map<string, number>();
  return {
    log(logger, key, err) {
      const { namespace = '' } = refOfKey(key);
      const now = clock.steadyMs();
      if ((quiet.get(namespace) ?? now) > now) return logger.debug({ err }, 'reconcile is not allowed');
      for (const [known, until] of quiet) if (until <= now) quiet.delete(known);
      quiet.set(namespace, now + quietMs);
      logger.warn({ err }, 'reconcile is not allowed; more of this namespace is logged at debug');
    },
  };
}

class QueueController implements Controller {
  readonly kind: string;
  readonly queue: WorkQueue;
  readonly #deps: ControllerDeps;
  readonly #options: ControllerOptions;
  readonly #refusals: RefusalLog;
  readonly #workers: number;
  #overdue = 0;

  constructor(deps: ControllerDeps, options: ControllerOptions) {
    const { clock, random, observer } = deps;
    this.kind = options.kind;
    this.#deps = deps;
    this.#options = options;
    this.#refusals = createRefusalLog(clock);
    this.#workers = Math.ceil(options.workers * (1 + sparePart));
    this.queue = createWorkQueue({ clock, random, observer: observer?.queue }, this.#workers);
  }

  async run(stop: AbortSignal): Promise<void> {
    const close = (): void => this.queue.close();
    if (stop.aborted) close();
    stop.addEventListener('abort', close, { once: true });
    await Promise.all(Array.from({ length: this.#workers }, () => this.#work()));
    stop.removeEventListener('abort', close);
  }

  async #work(): Promise<void> {
    for (let key = await this.queue.take(); key !== undefined; key = await this.queue.take()) {
      await this.#hold(key);
    }
  }

  /**
   * Until the reconcile ends or is overdue. One that never ends costs its own object alone, not a worker of all the
   * others. Its key stays held, since two reconciles of one object at once might both write (ADR 0135).
   */
  async #hold(key: string): Promise<void> {
    const { clock, logger, newId } = this.#deps;
    const child = logger.child({ kind: this.kind, ...refOfKey(key), reconcileId: newId() });
    const free = Promise.withResolvers<void>();
    let isOverdue = false;
    const callOff = runAfter(clock, overdueMs, () => {
      isOverdue = true;
      this.#countOverdue(1);
      child.error({ overdueMs }, 'reconcile overdue');
      this.queue.yieldPlace(key);
      free.resolve();
    });
    void this.#reconcile(key, child).then(() => {
      callOff();
      if (isOverdue) this.#countOverdue(-1);
      free.resolve();
    });
    await free.promise;
  }

  #countOverdue(more: 1 | -1): void {
    this.#overdue += more;
    this.#deps.observer?.overdue(this.#overdue);
  }

  async #reconcile(key: string, logger: Logger): Promise<void> {
    const started = performance.now();
    const outcome = await this.#attempt(key);
    this.#deps.observer?.reconciled(outcome.kind, performance.now() - started);
    this.#settle(key, outcome, logger);
    this.queue.done(key);
  }

  async #attempt(key: string): Promise<Outcome> {
    try {
      return outcomeOfResult((await this.#options.reconcile(key)) ?? undefined);
    } catch (error) {
      return outcomeOfError(error);
    }
  }

  /** The fate of the key. After a conflict the watch is about to bring more: try again without a message. */
  #settle(key: string, outcome: Outcome, logger: Logger): void {
    const { queue } = this;
    switch (outcome.kind) {
      case 'failed':
        queue.addRateLimited(key);
        return logger.error({ err: outcome.error, failures: queue.failures(key) }, 'reconcile failed');
      case 'conflict':
        queue.addRateLimited(key);
        return logger.debug({}, 'reconcile met a newer version');
      case 'forbidden':
        queue.addRefused(key, outcome.atLatestMs);
        return this.#refusals.log(logger, key, outcome.error);
      case 'terminal':
        queue.forget(key);
        return logger.warn({ err: outcome.error, reason: outcome.error.reason }, 'reconcile cannot succeed');
      case 'requeue':
      case 'wait':
        queue.forget(key);
        queue.addAfter(key, outcome.afterMs);
        return logger.debug({ afterMs: outcome.afterMs, reason: outcome.reason }, 'reconcile again later');
      case 'lost_leadership':
        queue.addAfter(key, givenUpMs);
        return logger.info({}, 'reconcile given up');
      case 'done':
        queue.forget(key);
    }
  }
}
