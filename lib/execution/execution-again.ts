import { labels } from '../../crds/labels.ts';
import type { Json } from '../../crds/schema/parts.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Visit } from '../../crds/schema/workflow-execution-status.ts';
import { defined } from '../defined.ts';
import { buildExecution } from './build-execution.ts';
import { ExecutionError } from './execution-error.ts';
import { finished } from './finished.ts';

/** A state of `from` makes it a retry, none a rerun. */
type Again = Beginning & {
  /** Name of the new execution; absent: the API server adds a suffix to the workflow's name. */
  readonly name?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
};

/** A retry takes over what its origin made of its own input, so that another input is for a rerun alone. */
export type Beginning =
  | { readonly from: string; readonly input?: undefined }
  | { readonly from?: undefined; readonly input?: Readonly<Record<string, Json>> | undefined };

/** A state from which a retry may start, as its last visit ended. */
export interface RetryPoint {
  readonly state: string;
  readonly status: Visit['status'] | 'interrupted';
  /** When that visit began, RFC 3339. */
  readonly since: string;
}

/**
 * The states that an execution has entered, each once, in the order of their first visit.
 * @throws ExecutionError `NotBegun` and `NotFinished`.
 */
export function retryPoints(origin: WorkflowExecution): RetryPoint[] {
  pinOf(origin);
  if (!finished(origin)) throw refused('NotFinished', origin, 'has not ended; cancel it first, or rerun it');
  const { history = [], interrupted } = origin.status ?? {};
  const points = new Map<string, RetryPoint>();
  for (const { state, status, entered_at: since } of history) points.set(state, { state, status, since });
  if (interrupted !== undefined) {
    const { state, entered_at: since } = interrupted;
    points.set(state, { state, status: 'interrupted', since });
  }
  return [...points.values()];
}

/**
 * The execution to create so that `origin`, which is whole, runs again: with the same revision and input, from its
 * beginning or from a state that it has entered. The engine takes over what the origin had achieved, for a caller could
 * claim anything. With another input it names no origin: that name promises the same input (docs/adr/0118).
 * @throws ExecutionError `NotBegun`, `NotFinished` for a retry of a running one, `NeverEntered` for another state.
 */
export function executionAgain(
  origin: WorkflowExecution,
  { name, from, input, annotations }: Again,
): WorkflowExecution {
  const { metadata, spec } = origin;
  const pin = pinOf(origin);
  if (from !== undefined) assertRetry(origin, from);
  const base = metadata.labels?.[labels.workflow] ?? pin.name;
  return buildExecution({
    name,
    namespace: metadata.namespace,
    workflow: { reference: pin.uid, object: base, uid: pin.uid, version: pin.version },
    annotations,
    spec: defined({
      input: input ?? spec.input,
      intent: spec.intent,
      blackboard: spec.blackboard,
      ttl_seconds_after_finished: spec.ttl_seconds_after_finished,
      origin: input === undefined ? defined({ name: metadata.name, uid: metadata.uid ?? '', from }) : undefined,
    }),
  });
}

/** The workflow and version of the origin. @throws ExecutionError `NotBegun`. */
export function pinOf(origin: WorkflowExecution): NonNullable<NonNullable<WorkflowExecution['status']>['workflow']> {
  const pin = origin.status?.workflow;
  if (pin === undefined) throw refused('NotBegun', origin, 'has not begun: there is nothing to run again');
  return pin;
}

function assertRetry(origin: WorkflowExecution, from: string): void {
  const known = retryPoints(origin).map(({ state }) => state);
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
