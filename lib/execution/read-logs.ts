import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { StreamName } from '../capture/captured-streams.ts';
import { createDecoder } from '../capture/decoder.ts';
import type { KubeClient, Pod } from '../kube/index.ts';
import { stepContainer } from '../pod-slot.ts';
import { type StoredLog, stepNames, streamBlob, streamPaths } from './log-source.ts';
import type { OutputReader } from './output-reader.ts';
import { childOf, wholeValue } from './whole-value.ts';

/** Takes output as it comes; resolves when it can take more. */
export type LogSink = (stream: StreamName, bytes: Uint8Array) => Promise<void>;

/** A piece of what a command wrote. */
export interface OutputPiece {
  readonly stream: StreamName;
  readonly bytes: Uint8Array;
}

/** Reads the output of finished commands. */
interface StoredReader {
  readonly outputs: OutputReader;
  readonly execution: Pick<WorkflowExecution, 'metadata'>;
}

/**
 * The output of a finished command from status or the output store, first all of stdout and then all of stderr. The
 * order in which they were interleaved is not kept. A stream that is kept on its own is given byte for byte; one inside
 * a JSON value has U+FFFD where the command wrote no UTF-8.
 */
export async function* storedOutput({ outputs, execution }: StoredReader, log: StoredLog): AsyncGenerator<OutputPiece> {
  const read = outputs(execution);
  for (const stream of ['stdout', 'stderr'] as const) {
    const paths = streamPaths(log.step, stream);
    const blob = streamBlob(log.value, paths);
    const bytes = blob === undefined ? textAt(await wholeValue(log.value, read), paths) : await read(blob);
    if (bytes.byteLength > 0) yield { stream, bytes };
  }
}

/** Gives the output of a finished command to a sink. */
export async function readStored(reader: StoredReader, log: StoredLog, sink: LogSink): Promise<void> {
  for await (const { stream, bytes } of storedOutput(reader, log)) await sink(stream, bytes);
}

/** The logs of single steps in `log`: itself, unless all steps are kept together in the output store. */
export async function singleSteps({ outputs, execution }: StoredReader, log: StoredLog): Promise<StoredLog[]> {
  if (log.step !== '*') return [log];
  const value = { value: await wholeValue(log.value, outputs(execution)) };
  return stepNames(value).map((step) => ({ ...log, step, value }));
}

/** The first of the places that holds text, as bytes. */
function textAt(value: Parameters<typeof childOf>[0], paths: readonly string[][]): Uint8Array {
  for (const path of paths) {
    let found = value;
    for (const key of path) found = childOf(found, key);
    if (typeof found === 'string') return Buffer.from(found);
  }
  return new Uint8Array();
}

interface PodLogOptions {
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/**
 * The output of a command from its pod, both streams in the order in which they were written. Ends at the runner's
 * trailer, which comes before the pod's own end, or where the log ends. Returns whether the trailer was there, behind
 * which there is no more.
 */
export async function* podOutput(
  kube: Pick<KubeClient, 'readLog'>,
  { metadata }: Pod,
  { follow, signal }: PodLogOptions,
): AsyncGenerator<OutputPiece, boolean> {
  const decoder = createDecoder();
  const ref = { namespace: metadata.namespace, name: metadata.name ?? '' };
  const done = new AbortController();
  const options = { container: stepContainer, follow, signal: AbortSignal.any([signal, done.signal]) };
  for await (const chunk of kube.readLog(ref, options)) {
    for (const event of decoder.push(chunk)) {
      if (event.kind === 'malformed') throw event.error;
      if (event.kind === 'output') yield { stream: event.stream, bytes: event.bytes };
      else done.abort();
    }
  }
  return done.signal.aborted;
}

/** Gives the output of a command from its pod to a sink. */
export async function readPod(
  kube: Pick<KubeClient, 'readLog'>,
  pod: Pod,
  options: PodLogOptions,
  sink: LogSink,
): Promise<void> {
  for await (const { stream, bytes } of podOutput(kube, pod, options)) await sink(stream, bytes);
}
