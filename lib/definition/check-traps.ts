import { limits } from '../../crds/limits.ts';
import { type Problem, warningAt } from '../../crds/problem.ts';
import type { State, StateOf } from '../../crds/schema/state.ts';
import { parseDuration } from '../duration.ts';
import type { DefinitionCheck, NamedState } from './definition.ts';

/** Legal fields that are probably mistakes (requirements AMB-169, AMB-193). */
export const checkTraps: DefinitionCheck = ({ states }) =>
  states.flatMap((named) => [...checkEnd(named), ...checkRetry(named), ...checkVotes(named)]);

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

/**
 * `all_approved` and `any_rejected` look like two halves of all outcomes. A judge that did not complete has not approved and
 * has not rejected (requirements AMB-183), and a state that failed has no votes.
 */
function checkVotes({ at, state: { transitions } }: NamedState): Problem[] {
  const names = new Set(transitions.map(({ condition = 'always' }) => condition));
  const isOpen = names.has('all_approved') && names.has('any_rejected') && !names.has('always') && !names.has('custom');
  if (!isOpen) return [];
  const message =
    'neither all_approved nor any_rejected matches where a judge did not complete and the others approved, or where the state ' +
    'failed: the execution then fails; add a last rule without a condition';
  return [warningAt([...at, 'transitions'], 'judge_left_out', message)];
}

const boundsOf = (state: StateOf<'ContainerRun'>) => ({
  attempt: state.resources?.timeout ?? limits.containerTimeoutDefault,
  whole: state.timeout ?? limits.stateTimeoutDefault,
});

const parsed = (text: string): number => parseDuration(text, { field: 'timeout' });
