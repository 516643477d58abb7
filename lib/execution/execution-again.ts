import { labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { defined } from '../defined.ts';
import { buildExecution } from './build-execution.ts';
import { ExecutionError } from './execution-error.ts';
import { finished } from './finished.ts';

/** A state of `from` makes it a retry, none a rerun. */
export interface Again {
  /** Name of the new execution; absent: the API server adds a suffix to the workflow's name. */
  readonly name?: string | undefined;
  readonly from?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** The states that an execution has entered, each once, in the order of their first visit. */
export function enteredStates({ status }: Pick<WorkflowExecution, 'status'>): string[] {
  const { history = [], current, interrupted } = status ?? {};
  const last = current ?? interrupted;
  return [...new Set([...history.map(({ state }) => state), ...(last === undefined ? [] : [last.state])])];
}

/**
 * The execution to create so that `origin`, which is whole, runs again: with the same revision and input, from its
 * beginning or from a state that it has entered. The engine takes over what the origin had achieved, for a caller could
 * claim anything.
 * @throws ExecutionError `NotBegun`, `NotFinished` for a retry of a running one, `NeverEntered` for another state.
 */
export function executionAgain(origin: WorkflowExecution, { name, from, annotations }: Again): WorkflowExecution {
  const { metadata, spec, status } = origin;
  const pin = status?.workflow;
  if (pin === undefined) throw refused('NotBegun', origin, 'has not begun: there is nothing to run again');
  if (from !== undefined) assertRetry(origin, from);
  const base = metadata.labels?.[labels.workflow] ?? pin.name;
  return buildExecution({
    name,
    namespace: metadata.namespace,
    workflow: { reference: pin.uid, object: base, uid: pin.uid, version: pin.version },
    annotations,
    spec: defined({
      input: spec.input,
      intent: spec.intent,
      blackboard: spec.blackboard,
      ttl_seconds_after_finished: spec.ttl_seconds_after_finished,
      origin: defined({ name: metadata.name, uid: metadata.uid ?? '', from }),
    }),
  });
}

function assertRetry(origin: WorkflowExecution, from: string): void {
  if (!finished(origin)) throw refused('NotFinished', origin, 'has not ended; cancel it first, or rerun it');
  const known = enteredStates(origin);
  if (known.includes(from)) return;
  const message = `never entered state '${from}'; it entered ${known.join(', ') || 'none'}`;
  throw refused('NeverEntered', origin, message, known);
}

const refused = (
  reason: 'NotBegun' | 'NotFinished' | 'NeverEntered',
  origin: WorkflowExecution,
  why: string,
  known?: readonly string[],
): ExecutionError =>
  new ExecutionError(reason, origin, `${origin.metadata.name} ${why}`, known === undefined ? {} : { known });
