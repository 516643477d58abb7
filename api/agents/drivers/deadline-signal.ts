import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';

const longestSleepMs = 24 * 3_600_000;

/** Aborts when the execution is cancelled or its time is over, and knows which. */
export class DeadlineSignal implements Disposable {
  readonly signal: AbortSignal;
  readonly #over = new AbortController();
  readonly #ended = new AbortController();

  constructor(clock: Clock, { status }: AgentExecution, cancelled: AbortSignal) {
    this.signal = AbortSignal.any([this.#over.signal, cancelled]);
    const until = Date.parse(status?.deadline ?? '');
    if (Number.isNaN(until)) return;
    void this.#watch(clock, until);
  }

  /** No timer of the machine takes more than 24.8 days. */
  async #watch(clock: Clock, until: number): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted && clock.now() < until)
      await clock.sleep(Math.min(until - clock.now(), longestSleepMs), signal);
    if (!signal.aborted) this.#over.abort(new AppError('timeout', 'the execution is out of time'));
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}
