import type { Signal, WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { ExecutionError } from '../execution/execution-error.ts';
import { firstSignal } from './first-signal.ts';

/** A person's decision, and the person. */
export interface HumanDecision {
  readonly response: string;
  readonly feedback?: string;
  /** The state the person means; absent: the one that waits. */
  readonly state?: string;
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
  /** Origin of the decision: kubectl, cli, api. */
  readonly via: NonNullable<Signal['via']>;
}

/** The Human state that waits for a decision, if one does. */
export function waitingFor(execution: WorkflowExecution): { state: string; visit: number } | undefined {
  const current = execution.status?.current;
  if (current?.kind !== 'Human' || execution.status?.phase !== 'waiting') return undefined;
  return { state: current.state, visit: current.visit };
}

/**
 * The signal that records a decision on the waiting state. Its id is STATE-VISIT, so that of two people who decide at
 * the same time exactly one can write it (requirements AMB-035). Throws a conflict that names phase and state when
 * nothing waits, another state waits, or another user has decided.
 */
export function signalFor(execution: WorkflowExecution, decision: HumanDecision): Signal {
  const waiting = waitingFor(execution);
  if (waiting === undefined) throw notWaiting(execution);
  if (decision.state !== undefined && decision.state !== waiting.state) {
    const message = `${execution.metadata.name} waits in state '${waiting.state}', not in '${decision.state}'`;
    throw new ExecutionError('WaitsElsewhere', execution, message, { waiting: waiting.state });
  }
  const { signals = [] } = execution.spec;
  const winner = firstSignal(signals, { ...execution.status?.current, ...waiting });
  if (winner) throw alreadyDecided(execution, winner);
  const { response, feedback, by, at, via } = decision;
  const id = freeId(signals, `${waiting.state}-${waiting.visit}`);
  return { id, ...waiting, response, ...(feedback === undefined ? {} : { feedback }), by, at, via };
}

/** The id itself, unless a user gave it to a signal that answers something else. */
function freeId(signals: readonly Signal[], id: string): string {
  const taken = new Set(signals.map((signal) => signal.id));
  let candidate = id;
  for (let number = 2; taken.has(candidate); number++) candidate = `${id}.${number}`;
  return candidate;
}

function notWaiting(execution: WorkflowExecution): ExecutionError {
  const { metadata, status } = execution;
  const state = status?.current?.state ?? status?.state;
  const where = state === undefined ? '' : ` in state '${state}'`;
  const now = `it is ${status?.phase ?? 'pending'}${where}${lastDecision(status)}`;
  return new ExecutionError('NotWaiting', execution, `${metadata.name} is not waiting for a decision: ${now}`);
}

function lastDecision(status: WorkflowExecution['status']): string {
  const last = status?.history?.findLast((visit) => visit.signal !== undefined);
  return last?.signal ? `; '${last.state}' was decided by ${last.signal.by}: ${last.signal.response}` : '';
}

function alreadyDecided(execution: WorkflowExecution, winner: Signal): ExecutionError {
  const feedback = winner.feedback === undefined ? '' : ` ('${winner.feedback}')`;
  const what = `'${winner.state}' of ${execution.metadata.name} at ${winner.at}: ${winner.response}${feedback}`;
  return new ExecutionError('AlreadyDecided', execution, `${winner.by} has already decided ${what}`);
}
