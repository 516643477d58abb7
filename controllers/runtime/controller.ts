import type { Clock } from '../../lib/clock.ts';
import type { NewId } from '../../lib/ids.ts';
import { type ObjectRef, refOfKey } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { type Outcome, outcomeOfError, outcomeOfResult, type ReconcileResult } from './outcome.ts';
import { createRefusalLog, type RefusalLog } from './refusal-log.ts';
import { createWorkQueue, type QueueObserver, type WorkQueue } from './work-queue.ts';

/** What a reconcile is given besides its key. */
interface ReconcileContext {
  readonly ref: ObjectRef;
  /** Carries kind, namespace, name and reconcileId. */
  readonly logger: Logger;
  /** Aborts when the process can wait no longer; a graceful stop lets the reconcile finish first. */
  readonly signal: AbortSignal;
  /** Failures of this key in a row. */
  readonly failures: number;
}

/**
 * Brings the world closer to what the object says, whatever woke it. Returns nothing when a change will wake it
 * again, or the time after which to look. Throws TerminalError, WaitError, or anything else to be tried again.
 */
export type Reconcile = (key: string, context: ReconcileContext) => Promise<ReconcileResult | void>;

/** Told how each reconcile ended; must not throw. */
export interface ReconcileObserver {
  reconciled(outcome: Outcome['kind'], ms: number): void;
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
  /** Reconciles at once of one namespace; a quarter more run where several have work. Default 8. */
  readonly workers?: number;
  readonly baseDelayMs?: number;
  readonly maxDelayMs?: number;
}

/** Works a queue of keys with one reconcile function. */
export interface Controller {
  readonly kind: string;
  /** Where watches put keys. */
  readonly queue: WorkQueue;
  /** Works until `stop` aborts, then lets running reconciles end. `abandon` is passed on to them. Never rejects. */
  run(stop: AbortSignal, abandon?: AbortSignal): Promise<void>;
}

export function createController(deps: ControllerDeps, options: ControllerOptions): Controller {
  return new QueueController(deps, options);
}

/** After a reconcile was given up for no fault of its object. */
const GIVEN_UP_MS = 1_000;
/** Workers that one namespace cannot have, however slow its reconciles are: this part of its own number, rounded up. */
const SPARE = 1 / 4;

class QueueController implements Controller {
  readonly kind: string;
  readonly queue: WorkQueue;
  readonly #deps: ControllerDeps;
  readonly #options: ControllerOptions;
  readonly #mostOfNamespace: number;
  readonly #refusals: RefusalLog;

  constructor(deps: ControllerDeps, options: ControllerOptions) {
    const { clock, random, observer } = deps;
    const mostOfNamespace = options.workers ?? 8;
    this.kind = options.kind;
    this.#deps = deps;
    this.#options = options;
    this.#mostOfNamespace = mostOfNamespace;
    this.#refusals = createRefusalLog(clock);
    this.queue = createWorkQueue({ clock, random, observer: observer?.queue }, { ...options, mostOfNamespace });
  }

  async run(stop: AbortSignal, abandon: AbortSignal = new AbortController().signal): Promise<void> {
    const close = (): void => void this.queue.close();
    if (stop.aborted) close();
    stop.addEventListener('abort', close, { once: true });
    const length = Math.ceil(this.#mostOfNamespace * (1 + SPARE));
    const workers = Array.from({ length }, () => this.#work(abandon));
    await Promise.all(workers);
    stop.removeEventListener('abort', close);
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let key = await this.queue.take(); key !== undefined; key = await this.queue.take()) {
      await this.#reconcile(key, signal);
    }
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<void> {
    const { newId, observer } = this.#deps;
    const ref = refOfKey(key);
    const logger = this.#deps.logger.child({ kind: this.kind, ...ref, reconcileId: newId() });
    const started = performance.now();
    const outcome = await this.#attempt(key, { ref, logger, signal, failures: this.queue.failures(key) });
    observer?.reconciled(outcome.kind, performance.now() - started);
    this.#settle(key, outcome, logger);
    this.queue.done(key);
  }

  async #attempt(key: string, context: ReconcileContext): Promise<Outcome> {
    try {
      return outcomeOfResult((await this.#options.reconcile(key, context)) ?? undefined);
    } catch (error) {
      return outcomeOfError(error);
    }
  }

  /**
   * What becomes of the key. A conflict means that the watch is about to tell us more: try again, say nothing. One
   * given up is tried again too, for a lease that had only lapsed may be renewed.
   */
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
        return this.#refusals.tell(logger, key, outcome.error);
      case 'terminal':
        queue.forget(key);
        return logger.warn({ err: outcome.error, reason: outcome.error.reason }, 'reconcile cannot succeed');
      case 'requeue':
      case 'wait':
        queue.forget(key);
        queue.addAfter(key, outcome.afterMs);
        return logger.debug({ afterMs: outcome.afterMs, reason: outcome.reason }, 'reconcile again later');
      case 'lost_leadership':
      case 'cancelled':
        queue.addAfter(key, GIVEN_UP_MS);
        return logger.info({ outcome: outcome.kind }, 'reconcile given up');
      case 'done':
        queue.forget(key);
    }
  }
}
