import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';

/** Aborts when the execution is cancelled or its time is over, and knows which. */
export class DeadlineSignal implements Disposable {
  readonly signal: AbortSignal;
  readonly #over = new AbortController();
  readonly #ended = new AbortController();

  constructor(clock: Clock, { status }: AgentExecution, cancelled: AbortSignal) {
    this.signal = AbortSignal.any([this.#over.signal, cancelled]);
    const until = Date.parse(status?.deadline ?? '');
    if (Number.isNaN(until)) return;
    void clock.sleep(until - clock.now(), this.#ended.signal).then(() => {
      if (!this.#ended.signal.aborted) this.#over.abort(new AppError('timeout', 'the execution is out of time'));
    });
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}
