import type { Signal, WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { CurrentState, WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import { cutText } from '../cut-text.ts';
import { defined } from '../defined.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';
import { slimCancel } from './slim-cancel.ts';

/** Characters that are kept of a text that people wrote. */
const textLength = 256;
/** Signals that are kept, the last ones; of those before only their places. */
const signalsKept = 8;

/**
 * The fields of an execution for lists and for waking a decision: names, phase, times, the present state, who asks
 * and who answered last. Everything that users may fill is left out or cut: a cache may hold thousands (design §11).
 * `promptLength`: characters that are kept of what a person is asked.
 */
export function slimExecution(
  { apiVersion, kind, metadata, spec, status }: WorkflowExecution,
  promptLength = textLength,
): WorkflowExecution {
  const { input: _input, blackboard: _seed, intent: _intent, signals, cancel, ...asked } = spec;
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    spec: {
      ...asked,
      ...(signals === undefined ? {} : { signals: slimSignals(signals) }),
      ...(cancel === undefined ? {} : { cancel: slimCancel(cancel) }),
    },
    ...(status === undefined ? {} : { status: slimStatus(status, promptLength) }),
  };
}

/** The place of a signal in its list counts, its text does not. */
const elsewhere: Signal = Object.freeze({ id: '', state: '', response: '', by: '', at: '' });

function slimSignals(signals: readonly Signal[]): Signal[] {
  const first = signals.length - signalsKept;
  return signals.map((signal, index) => (index < first ? elsewhere : slimSignal(signal)));
}

function slimSignal({ feedback: _feedback, note: _note, ...signal }: Signal): Signal {
  return { ...signal, response: shortened(signal.response), by: shortened(signal.by) };
}

function slimStatus(status: WorkflowExecutionStatus, promptLength: number): WorkflowExecutionStatus {
  const { observedGeneration, conditions, phase, reason, message, workflow, state, current, transitions } = status;
  const { started_at, finished_at, archived_at, stored_bytes, successors, stimulus } = status;
  return defined({
    observedGeneration,
    conditions,
    phase,
    reason,
    message,
    workflow,
    state,
    transitions,
    started_at,
    finished_at,
    archived_at,
    stored_bytes,
    successors,
    stimulus,
    current: current === undefined ? undefined : slimCurrent(current, promptLength),
  });
}

function slimCurrent(
  { steps: _steps, failure: _failure, prompt, ...current }: CurrentState,
  promptLength: number,
): CurrentState {
  return { ...current, ...(prompt === undefined ? {} : { prompt: shortened(prompt, promptLength) }) };
}

/** A part of a text keeps all of it in memory, unless it is copied. */
function shortened(text: string, length = textLength): string {
  return text.length <= length ? text : Buffer.from(cutText(text, length)).toString('utf8');
}
