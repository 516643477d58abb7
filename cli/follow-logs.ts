import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { ExecutionError } from '../lib/execution/execution-error.ts';
import { finished } from '../lib/execution/finished.ts';
import {
  type LogChoice,
  type LogPlace,
  type LogSource,
  logSources,
  placeText,
  type StoredLog,
} from '../lib/execution/log-source.ts';
import { type LogSink, readPod, readStored, singleSteps } from '../lib/execution/read-logs.ts';
import { attemptOf, stepOf, stepPods, whyNotStarted } from '../lib/execution/step-pods.ts';
import { workflowExecutions } from '../lib/kinds.ts';
import type { Pod } from '../lib/kube/index.ts';
import { isInvalid, isNotFound } from '../lib/kube/kube-error.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { createLinePrefix } from './line-prefix.ts';
import type { LogDeps } from './show-logs.ts';

/** How long to wait before looking again for what has begun or ended meanwhile. */
const lookAgainMs = 300;

/** Shows every log that fits, as the execution makes them, until it ends or the state that was named has ended. */
export async function followLogs(deps: LogDeps, execution: WorkflowExecution, choice: LogChoice): Promise<ExitCode> {
  const follower = new Follower(deps);
  const ref = { namespace: execution.metadata.namespace, name: execution.metadata.name };
  for (let latest = execution; ; latest = await deps.kube.get(workflowExecutions, ref)) {
    const sources = sourcesIn(latest, choice);
    for (const source of sources) await follower.take(latest, source);
    if (deps.interrupted.aborted) return exitCodes.interrupted;
    if (isOver(latest, choice) && follower.idle) {
      if (sources.length === 0) logSources(latest, choice);
      return exitCodes.ok;
    }
    await deps.clock.sleep(lookAgainMs, deps.interrupted);
  }
}

/** Shows each log of an execution once, those of pods in the background. */
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

  /** No pod is being read. */
  get idle(): boolean {
    return this.#active.size === 0;
  }

  /** Shows what is new of a source: a stored log in full, a pod's log from now on. */
  async take(execution: WorkflowExecution, source: LogSource): Promise<void> {
    if (this.#failure) throw this.#failure.error;
    if (this.#deps.interrupted.aborted) return;
    if (source.kind === 'stored') return this.#takeStored(execution, source);
    for (const pod of await stepPods(this.#deps.kube, execution, source)) {
      await this.#takePod(pod, { ...source, step: stepOf(pod) });
    }
  }

  async #takeStored(execution: WorkflowExecution, source: StoredLog): Promise<void> {
    const reader = { outputs: this.#deps.outputs, execution };
    for (const log of await singleSteps(reader, source)) {
      const key = placeText(log);
      await this.#active.get(key);
      if ((this.#shown.get(key) ?? 0) >= log.attempts) continue;
      this.#heading({ ...log, step: undefined });
      const lines = linesOf(this.#deps.sink, log.step);
      await readStored(reader, log, lines.sink);
      await lines.end();
      this.#shown.set(key, log.attempts);
    }
  }

  async #takePod(pod: Pod, place: LogPlace): Promise<void> {
    const key = placeText(place);
    const known = this.#active.has(key) || (this.#shown.get(key) ?? 0) >= attemptOf(pod);
    if (known || whyNotStarted(pod) !== undefined) return;
    if (place.step === undefined) await Promise.all(this.#active.values());
    this.#heading({ ...place, step: undefined });
    this.#active.set(key, this.#read(pod, place.step, key));
  }

  /** Never rejects: what goes wrong in the background is thrown at the next `take`. */
  async #read(pod: Pod, step: string | undefined, key: string): Promise<void> {
    try {
      if (await followPod(this.#deps, pod, step)) this.#shown.set(key, attemptOf(pod));
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

/** False when the pod has gone before all could be read: then its output is in the store. */
async function followPod(deps: LogDeps, pod: Pod, step: string | undefined): Promise<boolean> {
  const lines = linesOf(deps.sink, step);
  try {
    await readPod(deps.kube, pod, { follow: true, signal: deps.interrupted }, lines.sink);
    await lines.end();
    return true;
  } catch (error) {
    if (isNotFound(error) || isInvalid(error)) return false;
    throw error;
  }
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

function isOver(execution: WorkflowExecution, { state, visit }: LogChoice): boolean {
  if (finished(execution)) return true;
  if (state === undefined || execution.status?.current?.state === state) return false;
  const history = execution.status?.history ?? [];
  return history.some((past) => past.state === state && (visit === undefined || past.visit === visit));
}
