import type { Signal, WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { CliError } from './exit-codes.ts';
import { namespaceFlag } from './namespace-flag.ts';

/** What a person decides, and who that person is. */
export interface Decision {
  readonly response: string;
  readonly feedback?: string;
  /** The state the person means; absent: the one that waits. */
  readonly state?: string;
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
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
 * nothing waits, another state waits, or somebody has decided.
 */
export function signalFor(execution: WorkflowExecution, decision: Decision): Signal {
  const waiting = waitingFor(execution);
  if (waiting === undefined) throw notWaiting(execution);
  if (decision.state !== undefined && decision.state !== waiting.state) {
    throw new CliError(
      'conflict',
      `${execution.metadata.name} waits in state '${waiting.state}', not in '${decision.state}'`,
      `Leave out --state, or give --state ${waiting.state}.`,
    );
  }
  const id = `${waiting.state}-${waiting.visit}`;
  const winner = execution.spec.signals?.find((signal) => signal.id === id || fits(signal, waiting));
  if (winner) throw alreadyDecided(execution, winner);
  const { response, feedback, by, at } = decision;
  return { id, ...waiting, response, ...(feedback === undefined ? {} : { feedback }), by, at, via: 'cli' };
}

/** A signal under another id that answers this very visit. One without a visit answers the visit that waited then. */
function fits(signal: Signal, waiting: { state: string; visit: number }): boolean {
  return signal.state === waiting.state && signal.visit === waiting.visit;
}

function notWaiting({ metadata, status }: WorkflowExecution): CliError {
  const state = status?.current?.state ?? status?.state;
  const where = state === undefined ? '' : ` in state '${state}'`;
  return new CliError(
    'conflict',
    `${metadata.name} is not waiting for a decision: it is ${status?.phase ?? 'pending'}${where}${lastDecision(status)}`,
    `See what it does: windlass get ${metadata.name}${namespaceFlag(metadata)}`,
  );
}

function lastDecision(status: WorkflowExecution['status']): string {
  const last = status?.history?.findLast((visit) => visit.signal !== undefined);
  return last?.signal ? `; '${last.state}' was decided by ${last.signal.by}: ${last.signal.response}` : '';
}

function alreadyDecided({ metadata }: WorkflowExecution, winner: Signal): CliError {
  const { name } = metadata;
  const feedback = winner.feedback === undefined ? '' : ` ('${winner.feedback}')`;
  return new CliError(
    'conflict',
    `${winner.by} has already decided '${winner.state}' of ${name} at ${winner.at}: ${winner.response}${feedback}`,
    `See what it does now: windlass get ${name}${namespaceFlag(metadata)}`,
  );
}
