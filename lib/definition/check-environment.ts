import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { callToolCommand } from './check-call-tool.ts';
import type { DefinitionCheck, NamedState } from './definition.ts';

/** Every variable of a command can be one of a pod, which would be refused when its state is reached. */
export const checkEnvironment: DefinitionCheck = ({ states }) => states.flatMap(problemsOf);

/** Names of variables that a pod can have: the API server takes printable ASCII without `=`. */
const variableName = /^[\x20-\x3c\x3e-\x7e]+$/;

/** Names in a map of variables, which is at `at`, that the API server would refuse in each pod. */
export const checkVariableNames = (env: object = {}, at: Place): Problem[] =>
  Object.keys(env)
    .filter((name) => !variableName.test(name))
    .map((name) => errorAt([...at, name], 'variable_name', message));

const message = 'is no name of a variable; use printable ASCII characters without =, as HTTP_PROXY';

function problemsOf({ at, state }: NamedState): Problem[] {
  if (state.kind === 'ContainerRun') return checkVariableNames(state.env, [...at, 'env']);
  if (state.kind === 'ParallelContainerRun')
    return state.steps.flatMap(({ env }, index) => checkVariableNames(env, [...at, 'steps', index, 'env']));
  // Keys of update_context are those of the Blackboard; call_tool has fields.
  const isBuiltIn = state.kind === 'System' && builtIn.has(state.command.trim());
  return state.kind === 'System' && !isBuiltIn ? checkVariableNames(state.env, [...at, 'env']) : [];
}

const builtIn: ReadonlySet<string> = new Set(['update_context', 'finalize', callToolCommand]);
