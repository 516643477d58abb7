import type { Problem } from '../../crds/problem.ts';
import type { DefinitionCheck, NamedState } from './definition.ts';
import { callToolCommand } from './check-call-tool.ts';
import { checkVariableNames } from './variable-names.ts';

/** Every variable of a command can be one of a pod, which would be refused when its state is reached. */
export const checkEnvironment: DefinitionCheck = ({ states }) => states.flatMap(problemsOf);

function problemsOf({ at, state }: NamedState): Problem[] {
  if (state.kind === 'ContainerRun') return checkVariableNames(state.env, [...at, 'env']);
  if (state.kind === 'ParallelContainerRun')
    return state.steps.flatMap(({ env }, index) => checkVariableNames(env, [...at, 'steps', index, 'env']));
  // Keys of update_context are those of the Blackboard; call_tool has fields.
  const isBuiltIn = state.kind === 'System' && builtIn.has(state.command.trim());
  return state.kind === 'System' && !isBuiltIn ? checkVariableNames(state.env, [...at, 'env']) : [];
}

const builtIn: ReadonlySet<string> = new Set(['update_context', 'finalize', callToolCommand]);
