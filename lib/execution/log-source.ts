import { pointerKeys } from '../../crds/json-pointer.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { BlobRef, CurrentState, StoredValue } from '../../crds/schema/workflow-execution-status.ts';
import { entryOf, fieldsOf, outputOf } from './blackboard-entry.ts';
import { ExecutionError } from './execution-error.ts';
import { finished } from './finished.ts';

/** Which logs are asked for. */
export interface LogChoice {
  readonly state?: string;
  readonly visit?: number;
  readonly step?: string;
}

/** The log of one command: kept in the output store, or still to be read from its pod. */
export type LogSource = StoredLog | (LogPlace & { readonly kind: 'pod' });

/** A log that is kept: that of the last of `attempts`. */
export interface StoredLog extends LogPlace {
  readonly kind: 'stored';
  readonly value: StoredValue;
  readonly attempts: number;
}

export interface LogPlace {
  readonly state: string;
  readonly visit: number;
  readonly step?: string;
}

/** Kinds of states that run commands. */
const withCommands = new Set(['System', 'ContainerRun', 'ParallelContainerRun']);

/**
 * The logs of an execution in the order in which its states ran, narrowed by `choice`. Without a visit every visit is
 * meant. Throws a not-found error that names what there is when nothing fits.
 */
export function logSources(execution: WorkflowExecution, choice: LogChoice): LogSource[] {
  const all = allSources(execution);
  const found = all.filter((source) => fits(source, choice));
  if (found.length > 0) return found;
  const waitsForStep = choice.step !== undefined && currentPlace(execution, choice);
  if (waitsForStep) return [{ ...waitsForStep, step: choice.step ?? '', kind: 'pod' }];
  throw nothingFits(execution, choice, all);
}

/** Whether a command of the execution has run, so that there is something to read. */
export const hasLogs = (execution: WorkflowExecution): boolean => allSources(execution).length > 0;

/** Whether no more output can come: the execution has ended, or the named visit has, or the named state runs no more. */
export function isLogComplete(execution: WorkflowExecution, { state, visit }: LogChoice): boolean {
  if (finished(execution)) return true;
  if (state === undefined) return false;
  const { current, history = [] } = execution.status ?? {};
  if (visit !== undefined) return history.some((past) => past.state === state && past.visit === visit);
  return current?.state !== state && history.some((past) => past.state === state);
}

/** `build`, `build visit 2`, `checks step lint`. */
export function placeText({ state, visit, step }: LogPlace): string {
  return `${state}${visit > 1 ? ` visit ${visit}` : ''}${step === undefined ? '' : ` step ${step}`}`;
}

function allSources({ status }: WorkflowExecution): LogSource[] {
  if (status === undefined) return [];
  const ended = (status.history ?? [])
    .filter(({ kind }) => withCommands.has(kind))
    .flatMap((visit) => {
      const value = entryOf(status, visit);
      if (value === undefined) return [];
      const log = {
        state: visit.state,
        visit: visit.visit,
        kind: 'stored',
        value,
        attempts: visit.attempts ?? 1,
      } as const;
      return visit.kind === 'ParallelContainerRun' ? stepNames(value).map((step) => ({ ...log, step })) : [log];
    });
  return [...ended, ...currentSources(status.current ?? status.interrupted)];
}

/** The steps of a parallel state's Blackboard entry; `*` where the whole entry is in the output store. */
export function stepNames(value: StoredValue): string[] {
  const output = outputOf(value) ?? {};
  const inline = Object.keys(output).filter((key) => fieldsOf(output[key]) !== undefined);
  return inline.length > 0 || value.refs === undefined ? inline : ['*'];
}

function currentSources(current: CurrentState | undefined): LogSource[] {
  if (current === undefined || !withCommands.has(current.kind)) return [];
  const place = { state: current.state, visit: current.visit };
  const done = Object.entries(current.steps ?? {}).map(
    ([step, { result }]) => ({ ...place, step, kind: 'stored', value: result, attempts: 1 }) as const,
  );
  return [...done, { ...place, kind: 'pod' }];
}

function currentPlace({ status }: WorkflowExecution, choice: LogChoice): LogPlace | undefined {
  const current = status?.current;
  if (current?.kind !== 'ParallelContainerRun') return undefined;
  const place = { state: current.state, visit: current.visit };
  return fits(place, { state: choice.state, visit: choice.visit }) ? place : undefined;
}

function fits(place: LogPlace, { state, visit, step }: LogChoice): boolean {
  if (state !== undefined && place.state !== state) return false;
  if (visit !== undefined && place.visit !== visit) return false;
  return step === undefined || place.step === step || place.step === '*';
}

function nothingFits(execution: WorkflowExecution, choice: LogChoice, all: readonly LogSource[]): ExecutionError {
  const wanted =
    choice.state === undefined ? 'a command' : `'${placeText({ visit: 1, ...choice, state: choice.state })}'`;
  const known = all.map((source) => placeText(source));
  return new ExecutionError('NoSuchLog', execution, `${execution.metadata.name} has no log of ${wanted}`, { known });
}

/** The place of a stream in a Blackboard entry: under `output` where the entry has that, under the step if any. */
export function streamPaths(step: string | undefined, stream: 'stdout' | 'stderr'): string[][] {
  const tail = step === undefined ? [stream] : [step, stream];
  return [['output', ...tail], tail, [stream]];
}

/** The blob that is exactly this stream, byte for byte, if there is one. */
export function streamBlob(value: StoredValue, paths: readonly string[][]): BlobRef | undefined {
  const wanted = new Set(paths.map((path) => JSON.stringify(path)));
  return value.refs?.find(({ path, encoding }) => encoding === 'text' && wanted.has(JSON.stringify(pointerKeys(path))));
}
