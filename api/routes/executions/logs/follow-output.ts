import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { defined } from '../../../../lib/defined.ts';
import { ExecutionError } from '../../../../lib/execution/execution-error.ts';
import {
  isLogComplete,
  type LogChoice,
  type LogPlace,
  type LogSource,
  logSources,
  placeText,
  type StoredLog,
} from '../../../../lib/execution/log-source.ts';
import type { OutputReader } from '../../../../lib/execution/output-reader.ts';
import { type OutputPiece, podOutput, singleSteps, storedOutput } from '../../../../lib/execution/read-logs.ts';
import { attemptOf, stepOf, stepPods, whyNotStarted } from '../../../../lib/execution/step-pods.ts';
import { isInvalid, isNotFound, isRetryable, type KubeClient, type Pod } from '../../../../lib/kube/index.ts';

interface LogDeps {
  readonly kube: Pick<KubeClient, 'listAll' | 'readLog'>;
  readonly outputs: OutputReader;
  readonly clock: Clock;
  /** The version that is known without a reading; undefined where none is. */
  readonly version: () => string | undefined;
  /** The execution as it is now, whole, once there is memory for it; undefined when it is gone. */
  readonly latest: () => Promise<WorkflowExecution | undefined>;
  readonly signal: AbortSignal;
  /** Waits for the memory of what is read from the output store beside the execution, in place of what it waited for before. */
  readonly reserve: (bytes: number) => Promise<void>;
  /** Nothing of the execution, or of the output store, is in memory any more. */
  readonly letGo: () => void;
}

/**
 * An execution as far as its logs need it. The whole of it may take megabytes, and a command may write for hours: a log that is kept is
 * here until it is sent, and nothing else of the size that a user chooses.
 */
export interface LogLook {
  /** The version that was read. Empty where it is to be read again. */
  version: string;
  readonly metadata: WorkflowExecution['metadata'];
  /** No output will come that this look has not. */
  isComplete: boolean;
  readonly stored: StoredLog[];
  readonly pods: readonly LogPlace[];
}

export function lookAt(execution: WorkflowExecution, wish: LogWish): LogLook {
  const { name, namespace, uid, finalizers, resourceVersion = '' } = execution.metadata;
  const sources = sourcesIn(execution, wish);
  return {
    version: resourceVersion,
    metadata: defined({ name, namespace, uid, finalizers }),
    isComplete: isLogComplete(execution, wish),
    stored: sources.filter((source) => source.kind === 'stored'),
    pods: sources.filter((source) => source.kind === 'pod'),
  };
}

export interface LogWish extends LogChoice {
  readonly follow: boolean;
}

/** How long to wait before looking again, at first and at most. */
const lookAgainMs = 200;
const lookAgainMostMs = 2_000;
const lookAgainFactor = 1.5;

/**
 * Output of the commands of an execution, one command after the other. Each byte comes once, although it is read from
 * the pod at first and from the output store later, and although a reading may break off. A follower of a command gets
 * what is kept of it.
 */
export async function* executionOutput(deps: LogDeps, first: LogLook, wish: LogWish): AsyncGenerator<OutputPiece> {
  const sent = new SentOutput(deps);
  let pauseMs = lookAgainMs;
  for (let look: LogLook | undefined = first; look !== undefined; look = await next(deps, look, wish)) {
    const before = sent.count;
    const isRead = yield* sent.rest(look, wish);
    if (deps.signal.aborted || !wish.follow || (isRead && look.isComplete)) return;
    pauseMs = sent.count === before ? Math.min(pauseMs * lookAgainFactor, lookAgainMostMs) : lookAgainMs;
    await deps.clock.sleep(pauseMs, deps.signal);
    if (deps.signal.aborted) return;
  }
}

/** The execution as it is now, or as it was where that cannot be found out. It is read only where it has changed. */
async function next({ version, latest }: LogDeps, before: LogLook, wish: LogWish): Promise<LogLook | undefined> {
  if (before.version !== '' && version() === before.version) return before;
  try {
    const now = await latest();
    return now && lookAt(now, wish);
  } catch (error) {
    if (isRetryable(error)) return before;
    throw error;
  }
}

/** A value from the output store is in memory in its packed form as well. */
const copies = 2;

/** The sent output of one command: its attempt, its bytes, and whether that was all. */
interface Progress {
  readonly attempt: number;
  readonly bytes: Record<OutputPiece['stream'], number>;
  isWhole: boolean;
}

class SentOutput {
  /** Pieces sent so far. */
  count = 0;
  readonly #deps: LogDeps;
  readonly #progress = new Map<string, Progress>();

  constructor(deps: LogDeps) {
    this.#deps = deps;
  }

  /** Output that has not been sent yet. Returns false where it could not all be read now, and may be later. */
  async *rest(look: LogLook, { follow }: LogWish): AsyncGenerator<OutputPiece, boolean> {
    try {
      yield* this.#allStored(look);
      for (const place of look.pods) yield* this.#podsOf(look, place, follow);
      return true;
    } catch (error) {
      if (follow && isRetryable(error)) return false;
      throw error;
    }
  }

  /** A log that could not be sent is found by the next look. */
  async *#allStored(look: LogLook): AsyncGenerator<OutputPiece> {
    const { version, isComplete, stored } = look;
    Object.assign(look, { version: '', isComplete: false });
    try {
      for (let log = stored.shift(); log !== undefined; log = stored.shift()) yield* this.#stored(look, log);
      Object.assign(look, { version, isComplete });
    } finally {
      stored.length = 0;
      this.#deps.letGo();
    }
  }

  async *#podsOf(look: LogLook, place: LogPlace, follow: boolean): AsyncGenerator<OutputPiece> {
    for (const pod of await stepPods(this.#deps.kube, look, place)) {
      if (whyNotStarted(pod) === undefined) yield* this.#pod(pod, { ...place, step: stepOf(pod) }, follow);
    }
  }

  async *#stored(execution: LogLook, source: StoredLog): AsyncGenerator<OutputPiece> {
    if (source.step !== '*' && this.#of(source, source.attempts).isWhole) return;
    const reader = { outputs: this.#deps.outputs, execution };
    const bytes = (source.value.refs ?? []).reduce((sum, part) => sum + part.bytes, 0);
    await this.#deps.reserve(bytes * copies);
    for (const log of await singleSteps(reader, source)) {
      const progress = this.#of(log, log.attempts);
      if (progress.isWhole) continue;
      yield* this.#behind(progress, storedOutput(reader, log));
      progress.isWhole = true;
    }
  }

  /** A pod that is gone before all could be read has left its output in the store. */
  async *#pod(pod: Pod, place: LogPlace, follow: boolean): AsyncGenerator<OutputPiece> {
    const progress = this.#of(place, attemptOf(pod));
    if (progress.isWhole) return;
    try {
      const { kube, signal } = this.#deps;
      progress.isWhole = yield* this.#behind(progress, podOutput(kube, pod, { follow, signal }));
    } catch (error) {
      if (!isNotFound(error) && !isInvalid(error)) throw error;
    }
  }

  #of(place: LogPlace, attempt: number): Progress {
    const key = placeText(place);
    const known = this.#progress.get(key);
    if (known !== undefined && known.attempt >= attempt) return known;
    const progress = { attempt, bytes: { stdout: 0, stderr: 0 }, isWhole: false };
    this.#progress.set(key, progress);
    return progress;
  }

  /** Leaves out of each stream the bytes that were sent before. */
  async *#behind<T>({ bytes: sent }: Progress, output: AsyncGenerator<OutputPiece, T>): AsyncGenerator<OutputPiece, T> {
    const known = { ...sent };
    for (;;) {
      const { done, value } = await output.next();
      if (done === true) return value;
      const { stream, bytes } = value;
      const skipped = Math.min(known[stream], bytes.byteLength);
      known[stream] -= skipped;
      if (skipped === bytes.byteLength) continue;
      sent[stream] += bytes.byteLength - skipped;
      this.count += 1;
      yield { stream, bytes: bytes.subarray(skipped) };
    }
  }
}

/** While following, a state that has not begun is no error. */
function sourcesIn(execution: WorkflowExecution, wish: LogWish): LogSource[] {
  try {
    return logSources(execution, wish);
  } catch (error) {
    if (wish.follow && error instanceof ExecutionError) return [];
    throw error;
  }
}
