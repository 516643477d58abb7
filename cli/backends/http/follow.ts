import { WindlassApiError, WindlassConnectionError, type WindlassClient } from '../../../client/index.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import { deleted } from '../../../lib/execution/execution-error.ts';
import { finished } from '../../../lib/execution/finished.ts';
import { wholeExecutionOf } from './execution-object.ts';

export interface FollowDeps {
  readonly client: Pick<WindlassClient, 'readExecution' | 'streamExecution'>;
  readonly clock: Clock;
}

/** Until an execution is read again without an event, for example to show that a pod waits. In milliseconds. */
const lookAgainMs = 1_000;
/** Events that come this soon after one another are answered by one read, in milliseconds. */
const togetherMs = 20;

/**
 * Every state of an execution, the present one first, until it has ended. Each is read as a whole; events only say when
 * to read. Ends quietly when `signal` aborts. Throws when access is refused and when the execution is deleted.
 */
export async function* followExecution(
  deps: FollowDeps,
  execution: WorkflowExecution,
  signal: AbortSignal,
): AsyncGenerator<WorkflowExecution, void> {
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const bell = new Bell(deps, execution.metadata.uid ?? '', stop);
  try {
    let shown: WorkflowExecution | undefined;
    while (!signal.aborted) {
      const found = await read(deps, execution, stop);
      if (found !== undefined && isNews(shown, found)) yield (shown = found);
      if (shown !== undefined && finished(shown)) return;
      await bell.wait();
    }
  } finally {
    over.abort();
  }
}

/** Undefined where no answer came and another attempt makes sense, or `signal` has aborted. */
async function read(
  { client }: FollowDeps,
  execution: WorkflowExecution,
  signal: AbortSignal,
): Promise<WorkflowExecution | undefined> {
  const execution_id = execution.metadata.uid ?? '';
  try {
    return wholeExecutionOf(await client.readExecution({ execution_id }, { signal }));
  } catch (error) {
    if (signal.aborted || isPassing(error)) return undefined;
    throw error instanceof WindlassApiError && error.status === 404 ? deleted(execution) : error;
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof WindlassConnectionError ||
  (error instanceof WindlassApiError && (error.status === 429 || error.status >= 500));

/** Another replica of the API may not have seen yet what was shown. */
function isNews(shown: WorkflowExecution | undefined, found: WorkflowExecution): boolean {
  if (shown === undefined) return true;
  const [before, after] = [placeOf(shown), placeOf(found)];
  const index = before.findIndex((place, at) => place !== after[at]);
  if (index !== -1) return (before[index] ?? 0) < (after[index] ?? 0);
  return JSON.stringify(shown) !== JSON.stringify(found);
}

/** How far an execution has come: whether it has ended, its visits, and where it is in the last one. */
function placeOf(execution: WorkflowExecution): readonly number[] {
  const { history = [], current, phase, started_at } = execution.status ?? {};
  const begun = [started_at, current].filter((found) => found !== undefined).length;
  const attempt = current?.attempt ?? 1;
  return [finished(execution) ? 1 : 0, history.length, begun, attempt, phase === 'waiting' ? 1 : 0];
}

/** Rings with each event of an execution. */
class Bell {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #rung = false;
  #ring: () => void = () => undefined;

  constructor({ client, clock }: FollowDeps, execution_id: string, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    void this.#listen(client, execution_id);
  }

  /** Until an event has come since the last call, or it is time to look again. */
  async wait(): Promise<void> {
    const over = new AbortController();
    this.#ring = () => over.abort();
    if (!this.#rung) await this.#clock.sleep(lookAgainMs, AbortSignal.any([this.#signal, over.signal]));
    if (this.#rung) await this.#clock.sleep(togetherMs, this.#signal);
    this.#rung = false;
  }

  /** Without events the execution is still read now and then, and the reads say why there are none. */
  async #listen(client: FollowDeps['client'], execution_id: string): Promise<void> {
    try {
      for await (const _ of client.streamExecution({ execution_id }, { signal: this.#signal })) {
        this.#rung = true;
        this.#ring();
      }
    } catch {
      // The next read fails for the same cause.
    }
  }
}
