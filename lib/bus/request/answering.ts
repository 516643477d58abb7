import { type Clock, runAfter } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { BusRequest } from './requester.ts';

interface Asked extends Pick<BusRequest, 'key' | 'body'> {
  /** How long the caller waits. */
  readonly timeoutMs: number;
}

/**
 * A request under way. Its signal is made when its handler asks for it: a relay answers a thousand orders a second, and needs none.
 * Dispose of it when the request is answered.
 */
export class Answering implements BusRequest, Disposable {
  readonly key: string;
  readonly body: Uint8Array;
  /** Rejects with AppError `timeout` when the time is over, or the request is given up. */
  readonly late: Promise<never>;
  readonly #reject: (error: AppError) => void;
  readonly #callOff: () => void;
  #over: AbortController | undefined;
  #isOver = false;
  #reason: unknown;
  #isAnswered = false;

  constructor(clock: Clock, { key, body, timeoutMs }: Asked) {
    const { promise, reject } = Promise.withResolvers<never>();
    this.key = key;
    this.body = body;
    this.late = promise;
    this.#reject = reject;
    this.#callOff = runAfter(clock, timeoutMs, () => this.#end(new DOMException('the time is up', 'TimeoutError')));
  }

  get signal(): AbortSignal {
    if (this.#over === undefined) {
      this.#over = new AbortController();
      if (this.#isOver) this.#over.abort(this.#reason);
    }
    return this.#over.signal;
  }

  /** The process stops. */
  giveUp(): void {
    this.#end(undefined);
  }

  [Symbol.dispose](): void {
    this.#isAnswered = true;
    this.#callOff();
  }

  #end(reason: unknown): void {
    if (this.#isOver || this.#isAnswered) return;
    this.#isOver = true;
    this.#reason = reason;
    this.#over?.abort(reason);
    this.#reject(new AppError('timeout', 'the time for the answer is over', { reason: 'RequestTimeout' }));
  }
}
