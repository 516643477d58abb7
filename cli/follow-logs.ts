import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { ExecutionError } from '../lib/execution/execution-error.ts';
import {
  isLogComplete,
  type LogChoice,
  type LogPlace,
  type LogSource,
  logSources,
  placeText,
  type StoredLog,
} from '../lib/execution/log-source.ts';
import type { LogSink } from '../lib/execution/read-logs.ts';
import type { LiveLog } from './backends/backend.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { createLinePrefix } from './line-prefix.ts';
import type { LogDeps } from './show-logs.ts';

/** Shows every log that fits, as the execution makes them, until it ends or the state that was named has ended. */
export async function followLogs(deps: LogDeps, execution: WorkflowExecution, choice: LogChoice): Promise<ExitCode> {
  const follower = new Follower(deps);
  for await (const latest of deps.logs.changes(execution, deps.interrupted)) {
    const sources = sourcesIn(latest, choice);
    for (const source of sources) await follower.take(latest, source);
    if (deps.interrupted.aborted || !isLogComplete(latest, choice) || !follower.idle) continue;
    if (sources.length === 0) logSources(latest, choice);
    return exitCodes.ok;
  }
  return exitCodes.interrupted;
}

/** Shows each log of an execution once, those of commands that run in the background. */
class Follower {
  readonly #deps: LogDeps;
  /** By place, the newest attempt whose log has been shown in full. */
  readonly #shown = new Map<string, number>();
  readonly #active = new Map<string, Promise<void>>();
  #lastHeading = '';
  #failure: { readonly error: unknown } | undefined;

  constructor(deps: LogDeps) {
    this.#deps = deps;
  }

  /** No log is being read. */
  get idle(): boolean {
    return this.#active.size === 0;
  }

  /** Shows what is new of a source: a stored log in full, that of a running command from now on. */
  async take(execution: WorkflowExecution, source: LogSource): Promise<void> {
    if (this.#failure) throw this.#failure.error;
    if (this.#deps.interrupted.aborted) return;
    if (source.kind === 'stored') return this.#takeStored(execution, source);
    for (const log of await this.#deps.logs.live(execution, source)) await this.#takeLive(log);
  }

  async #takeStored(execution: WorkflowExecution, source: StoredLog): Promise<void> {
    for (const log of await this.#deps.logs.singleSteps(execution, source)) {
      const key = placeText(log);
      await this.#active.get(key);
      if ((this.#shown.get(key) ?? 0) >= log.attempts) continue;
      this.#heading({ ...log, step: undefined });
      const lines = linesOf(this.#deps.sink, log.step);
      await this.#deps.logs.readStored(execution, log, lines.sink);
      await lines.end();
      this.#shown.set(key, log.attempts);
    }
  }

  async #takeLive(log: LiveLog): Promise<void> {
    const key = placeText(log.place);
    const known = this.#active.has(key) || (this.#shown.get(key) ?? 0) >= log.attempt;
    if (known || log.notStarted !== undefined) return;
    if (log.place.step === undefined) await Promise.all(this.#active.values());
    this.#heading({ ...log.place, step: undefined });
    this.#active.set(key, this.#read(log, key));
  }

  /** Never rejects: an error in the background is thrown at the next `take`. */
  async #read(log: LiveLog, key: string): Promise<void> {
    const { sink, interrupted } = this.#deps;
    const lines = linesOf(sink, log.place.step);
    try {
      const isWhole = await log.read({ follow: true, signal: interrupted }, lines.sink);
      await lines.end();
      if (isWhole) this.#shown.set(key, log.attempt);
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#active.delete(key);
  }

  #heading(place: LogPlace): void {
    const text = placeText(place);
    if (text !== this.#lastHeading) this.#deps.terminal.note(`==> ${text} <==`);
    this.#lastHeading = text;
  }
}

/** Output of a step of a parallel state, marked with its name line by line; of any other command as it is. */
function linesOf(sink: LogSink, step: string | undefined): ReturnType<typeof createLinePrefix> {
  if (step !== undefined) return createLinePrefix(`${step} | `, sink);
  return { sink, end: () => Promise.resolve() };
}

/** Until the first fitting state has begun there is nothing to show, which is no error while following. */
function sourcesIn(execution: WorkflowExecution, choice: LogChoice): LogSource[] {
  try {
    return logSources(execution, choice);
  } catch (error) {
    if (error instanceof ExecutionError) return [];
    throw error;
  }
}
