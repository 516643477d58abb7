import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import type { Check, NamedState } from './definition.ts';
import { callToolCommand } from './check-call-tool.ts';

/** Names of variables that a pod can have: the API server takes printable ASCII without `=`. */
const variableName = /^[\x20-\x3c\x3e-\x7e]+$/;

/** Every variable of a command can be one of a pod, which would be refused when its state is reached. */
export const checkEnvironment: Check = ({ states }) => states.flatMap(problemsOf);

function problemsOf({ at, state }: NamedState): Problem[] {
  if (state.kind === 'ContainerRun') return namesIn(state.env, at);
  if (state.kind === 'ParallelContainerRun')
    return state.steps.flatMap(({ env }, index) => namesIn(env, [...at, 'steps', index]));
  // Keys of update_context are those of the Blackboard; call_tool has fields.
  const isBuiltIn = state.kind === 'System' && builtIn.has(state.command.trim());
  return state.kind === 'System' && !isBuiltIn ? namesIn(state.env, at) : [];
}

const builtIn: ReadonlySet<string> = new Set(['update_context', 'finalize', callToolCommand]);

const namesIn = (env: Readonly<Record<string, string>> = {}, at: Place): Problem[] =>
  Object.keys(env)
    .filter((name) => !variableName.test(name))
    .map((name) => errorAt([...at, 'env', name], 'variable_name', message));

const message = 'is no name of a variable; use printable ASCII characters without =, as HTTP_PROXY';
