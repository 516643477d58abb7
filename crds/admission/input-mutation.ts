import type { AdmissionMutation } from './policy.ts';

const input = 'dyn(object.spec).input';

/**
 * An execution that kubectl creates may have any JSON as its input, as one over HTTP may: what is no object becomes
 * `{input: payload}` before the schema is checked (requirements AMB-175). The field itself stays an atomic map, since the
 * API server would otherwise keep every name in it a second time, in managedFields.
 */
export const inputMutation: AdmissionMutation = {
  name: 'workflow-execution-input',
  resources: ['workflowexecutions'],
  operations: ['CREATE', 'UPDATE'],
  condition: `has(object.spec) && has(${input}) && type(${input}) != map`,
  patch: `[JSONPatch{op: "add", path: "/spec/input", value: {"input": ${input}}}]`,
};
