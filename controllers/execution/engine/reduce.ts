import { limits } from '../../../crds/limits.ts';
import type {
  CurrentState,
  StoredValue,
  Visit,
  WorkflowExecutionStatus,
} from '../../../crds/schema/workflow-execution-status.ts';
import { cutText } from '../../../lib/cut-text.ts';

/** The visit that the execution is in, to read; only `reduce` makes another one of it. */
export type CurrentVisit = Readonly<CurrentState>;

/** The status of an execution, to read. */
export type StatusView = Readonly<Omit<WorkflowExecutionStatus, 'current' | 'history'>> & {
  readonly current?: CurrentVisit;
  readonly history?: readonly Readonly<Visit>[];
};

/** Fields as they are from now on; `undefined` removes a field. */
type Fields<T> = { readonly [Field in keyof T]?: T[Field] | undefined };

/** Fields of the current visit. */
export type VisitChange = Fields<CurrentState>;

/** The fields of a status that have no change of their own. */
type StatusFields = Fields<Omit<WorkflowExecutionStatus, 'current' | 'history' | 'visits' | 'state' | 'warnings'>>;

/** Everything that can happen to the status of an execution, as plain data. */
export type StatusChange =
  | { readonly kind: 'status'; readonly fields: StatusFields }
  /** The execution enters a state: its visits are counted, and this one is the current visit. */
  | { readonly kind: 'entered'; readonly visit: CurrentVisit }
  /** The current visit continues. */
  | { readonly kind: 'visit'; readonly fields: VisitChange }
  /** The current visit has ended, and is the last one of the history. */
  | { readonly kind: 'left'; readonly visit: Visit }
  /** The rule that the last visit of the history ended by. */
  | { readonly kind: 'routed'; readonly rule: number; readonly target: string }
  /** The output of an earlier visit of the history, which a later visit has replaced on the Blackboard. */
  | { readonly kind: 'superseded'; readonly index: number; readonly output: StoredValue }
  /** The execution has ended; what it was in is interrupted. */
  | {
      readonly kind: 'finished';
      readonly phase: WorkflowExecutionStatus['phase'];
      readonly at: string;
      readonly reason: string;
      readonly message: string;
    }
  | { readonly kind: 'warned'; readonly lines: readonly string[] };

/** A change that changes nothing. */
export const unchanged: VisitChange = {};

/** The status that a decision begins with. */
export const copyStatus = (status: WorkflowExecutionStatus | undefined): WorkflowExecutionStatus =>
  status === undefined ? { phase: 'pending' } : { ...status };

/**
 * Applies one change to a status that `copyStatus` made. Nothing else assigns to one. Objects inside
 * it are replaced, never changed in place: copying a megabyte of Blackboard takes a tenth of a second.
 */
export function reduce(status: WorkflowExecutionStatus, change: StatusChange): void {
  switch (change.kind) {
    case 'status':
      return assign(status, change.fields);
    case 'visit':
      return changeVisit(status, change.fields);
    case 'entered':
      return enter(status, change.visit);
    case 'left':
      return leave(status, change.visit);
    case 'routed':
      return replaceVisit(status, -1, { rule: change.rule, target: change.target });
    case 'superseded':
      return replaceVisit(status, change.index, { output: change.output });
    case 'finished':
      return finish(status, change);
    case 'warned':
      return warn(status, change.lines);
  }
}

/** The visit after a change. */
export function patched(visit: CurrentVisit, fields: VisitChange): CurrentVisit {
  if (fields === unchanged) return visit;
  const after = { ...visit };
  assign(after, fields);
  return after;
}

function assign<T extends object>(target: T, fields: Fields<T>): void {
  Object.assign(target, fields);
  for (const field in fields) if (fields[field] === undefined) Reflect.deleteProperty(target, field);
}

function enter(status: WorkflowExecutionStatus, visit: CurrentVisit): void {
  status.visits = { ...status.visits, [visit.state]: visit.visit };
  status.state = visit.state;
  status.current = visit;
}

function changeVisit(status: WorkflowExecutionStatus, fields: VisitChange): void {
  if (status.current !== undefined) status.current = patched(status.current, fields);
}

function leave(status: WorkflowExecutionStatus, visit: Visit): void {
  status.history = [...(status.history ?? []), visit];
  delete status.current;
}

function replaceVisit(status: WorkflowExecutionStatus, index: number, fields: Partial<Visit>): void {
  const visit = status.history?.at(index);
  if (status.history === undefined || visit === undefined) return;
  status.history = status.history.with(index, { ...visit, ...fields });
}

function finish(status: WorkflowExecutionStatus, end: Extract<StatusChange, { kind: 'finished' }>): void {
  const { phase, at, reason, message } = end;
  Object.assign(status, { phase, finished_at: at, reason, message });
  if (status.current !== undefined) status.interrupted = status.current;
  delete status.current;
}

/** Each warning once; the newest are kept. */
function warn(status: WorkflowExecutionStatus, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const cut = lines.map((text) => cutText(text, limits.warningLength));
  status.warnings = [...new Set([...(status.warnings ?? []), ...cut])].slice(-limits.warnings);
}
