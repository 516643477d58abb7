import { limits } from '../../crds/limits.ts';
import { type Problem, warningAt } from '../../crds/problem.ts';
import type { State, StateOf } from '../../crds/schema/state.ts';
import { parseDuration } from '../duration.ts';
import type { Check, NamedState } from './definition.ts';

/** Legal fields that are probably mistakes (requirements AMB-169, AMB-193). */
export const checkTraps: Check = ({ states }) => states.flatMap((named) => [...checkEnd(named), ...checkRetry(named)]);

/** Whether a state may fail for what it runs or waits for; that a template breaks is not counted. */
const canFail = (state: State): boolean => {
  if (state.kind === 'System') return !['finalize', 'update_context'].includes(state.command.trim());
  if (state.kind === 'Human') return state.timeout !== undefined && state.default_response === undefined;
  if (state.kind === 'ParallelContainerRun') return state.completion !== 'best_effort';
  return true;
};

function checkEnd({ at, state }: NamedState): Problem[] {
  if (state.transitions.length > 0 || !canFail(state)) return [];
  const message =
    'is terminal and can fail: the execution then ends completed with the reason LastStateFailed; ' +
    'add rules for on_success and on_failure, or end in a System state with the command finalize';
  return [warningAt(at, 'terminal_can_fail', message)];
}

function checkRetry({ at, state }: NamedState): Problem[] {
  if (state.kind !== 'ContainerRun' || (state.retry?.max_attempts ?? limits.retryAttemptsDefault) < 2) return [];
  const { attempt, whole } = boundsOf(state);
  if (parsed(attempt) < parsed(whole)) return [];
  const message = `an attempt may take ${attempt} and the state ${whole}, so one that hangs leaves no time for another; set resources.timeout below timeout`;
  return [warningAt([...at, 'retry'], 'retry_without_time', message)];
}

const boundsOf = (state: StateOf<'ContainerRun'>) => ({
  attempt: state.resources?.timeout ?? limits.containerTimeoutDefault,
  whole: state.timeout ?? limits.stateTimeoutDefault,
});

const parsed = (text: string): number => parseDuration(text, { field: 'timeout' });
