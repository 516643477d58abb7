import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { StoredValue, WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';
import { isTerminal } from '../../../lib/execution/finished.ts';
import { ownMember } from '../../../lib/own-member.ts';
import { sameJson } from '../../../lib/same-json.ts';
import type { Work } from '../../../lib/work/work.ts';
import type { Draft } from './draft.ts';
import type { Failure } from './facts.ts';

type Beginning =
  | { readonly kind: 'state'; readonly state: string }
  | { readonly kind: 'failed'; readonly failure: Failure };

/**
 * Where an execution begins, and for a retry the results that its origin had before that. These are the entries of the
 * visits before the last visit of the state, and the keys that are no states. Everything is read from the origin's own
 * status. A person may have approved the origin, so what names it has the same workflow, version, input, intent and
 * pairs.
 */
export function takeOver(draft: Draft): Beginning {
  const { origin: wish } = draft.facts.execution.spec;
  const { origin, execution } = draft.facts;
  if (wish === undefined) return { kind: 'state', state: draft.spec.initial_state };
  // A rerun of an execution that is not there would pass for one of what a person approved.
  if (origin === undefined) return failed(`execution ${wish.name} is gone, or is another one now`);
  const field = draft.work.during('comparing with the origin', () => differenceOf(execution.spec, origin, draft.work));
  if (field !== undefined) return failed(`${field} is not what execution ${wish.name} ran with`);
  return wish.from === undefined
    ? { kind: 'state', state: draft.spec.initial_state }
    : retake(draft, origin, wish.from);
}

function retake(draft: Draft, origin: WorkflowExecution, from: string): Beginning {
  const { name } = origin.metadata;
  if (origin.status === undefined) return failed(`execution ${name} is gone, or is another one now`);
  if (!isTerminal(origin.status)) return failed(`execution ${name} has not ended`);
  const before = visitsBefore(origin.status, from);
  if (before === undefined || ownMember(draft.spec.states, from) === undefined)
    return failed(`execution ${name} never entered state ${from}`);
  const values = achieved(origin.status, before);
  for (const { value } of values.values()) draft.weigh(value);
  draft.takeOver(values, origin.metadata.uid ?? '');
  return { kind: 'state', state: from };
}

const failed = (message: string): Beginning => ({ kind: 'failed', failure: { reason: 'InvalidOrigin', message } });

/** The field by which an execution asks for something else than its origin ran; undefined where there is none. */
function differenceOf(spec: WorkflowExecution['spec'], origin: WorkflowExecution, work: Work): string | undefined {
  const pin = origin.status?.workflow;
  if (pin === undefined || (spec.workflow !== pin.uid && spec.workflow !== pin.name)) return 'spec.workflow';
  if (spec.version !== pin.version) return 'spec.version';
  const fields = ['input', 'intent', 'blackboard'] as const;
  const field = fields.find((name) => !sameJson(spec[name], origin.spec[name], work));
  return field && `spec.${field}`;
}

/** The number of visits before the last one of a state; undefined where it was never entered. */
function visitsBefore({ history = [], interrupted }: WorkflowExecutionStatus, state: string): number | undefined {
  if (interrupted?.state === state) return history.length;
  const last = history.findLastIndex((visit) => visit.state === state);
  return last === -1 ? undefined : last;
}

/**
 * A visit whose state was entered again keeps its own output; the last one's is on the Blackboard. The entry of
 * a state without a visit is one that the origin took over itself.
 */
function achieved(status: WorkflowExecutionStatus, before: number): Map<string, StoredValue> {
  const { blackboard = {}, history = [] } = status;
  const visited = new Set(history.map(({ state }) => state));
  const values = new Map(Object.entries(blackboard).filter(([key]) => !visited.has(key)));
  for (const { state, output } of history.slice(0, before)) {
    const stored = output ?? ownMember(blackboard, state);
    if (stored !== undefined) values.set(state, stored);
  }
  return values;
}
