import type { Cancel, Signal, WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { CurrentState, WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import { firstSignal } from '../decision/first-signal.ts';
import { defined } from '../defined.ts';
import { executionMarks, slimMetadata } from '../informer/slim-metadata.ts';
import { withOneText } from './one-text.ts';

/**
 * The fields of an execution that wake a decision, or that the work after its end needs: names, phase, times, the present
 * state, and whether a signal answers it. Everything that users may fill is left out: a cache may hold thousands (design
 * §11).
 */
export function slimExecution({ apiVersion, kind, metadata, spec, status }: WorkflowExecution): WorkflowExecution {
  const { input: _input, blackboard: _seed, intent: _intent, signals = [], cancel, ...asked } = spec;
  const kept = slimSignals(signals, status?.current);
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata, executionMarks),
    spec: {
      ...asked,
      ...(kept.signals.length === 0 ? {} : { signals: kept.signals }),
      ...(cancel === undefined ? {} : { cancel: someCancel }),
    },
    ...(status === undefined ? {} : { status: slimStatus(status, kept.refused) }),
  };
}

/** That an execution is to stop is all that counts. */
const someCancel: Cancel = Object.freeze({ by: '', at: '' });

interface KeptSignals {
  readonly signals: Signal[];
  /** How many of them do not answer the present visit. */
  readonly refused: number;
}

/** The signal that answers the present visit, and the last one of all. An execution may have hundreds more. */
function slimSignals(signals: readonly Signal[], current: CurrentState | undefined): KeptSignals {
  const deciding = current === undefined ? undefined : firstSignal(signals, current);
  const kept = [...new Set([deciding, signals.at(-1)])].filter((signal) => signal !== undefined);
  return { signals: kept.map(slimSignal), refused: deciding === undefined ? kept.length : 0 };
}

/** The visit that a signal answers; its texts do not count. */
const slimSignal = ({ state, visit }: Signal): Signal =>
  defined({ id: '', state, visit, response: '', by: '', at: '' });

/** The fields of a status that decisions and lists need: what runs, how far it is, and since when. */
export function briefStatus(status: WorkflowExecutionStatus) {
  const { phase, reason, message, workflow, state, transitions, started_at, finished_at } = status;
  return { phase, reason, message, workflow, state, transitions, started_at, finished_at };
}

function slimStatus(status: WorkflowExecutionStatus, refused: number): WorkflowExecutionStatus {
  const { observedGeneration, current, archived_at, stored_bytes, successors, stimulus } = status;
  return defined({
    observedGeneration,
    conditions: withOneText(status.conditions, status.message),
    ...briefStatus(status),
    archived_at,
    stored_bytes,
    successors,
    stimulus,
    current: current === undefined ? undefined : slimCurrent(current, refused),
  });
}

/** Numbers of signals are those of the signals that are kept: `firstSignal` finds among them what it finds among all. */
const slimCurrent = (
  { state, kind, visit, entered_at, deadline, child }: CurrentState,
  refused: number,
): CurrentState =>
  defined({
    state,
    kind,
    visit,
    entered_at,
    deadline,
    child,
    signals_refused: refused === 0 ? undefined : refused,
  });
