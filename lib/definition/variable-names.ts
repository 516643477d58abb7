import { errorAt, type Place, type Problem } from '../../crds/problem.ts';

/** Names of variables that a pod can have: the API server takes printable ASCII without `=`. */
const variableName = /^[\x20-\x3c\x3e-\x7e]+$/;

/** Names in a map of variables, which is at `at`, that the API server would refuse in each pod. */
export const checkVariableNames = (env: object = {}, at: Place): Problem[] =>
  Object.keys(env)
    .filter((name) => !variableName.test(name))
    .map((name) => errorAt([...at, name], 'variable_name', message));

const message = 'is no name of a variable; use printable ASCII characters without =, as HTTP_PROXY';
