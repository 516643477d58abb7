import { accountVariables, type Identities } from './accounts.ts';
import type { AdmissionPolicy } from './policy.ts';

/**
 * A call names the user for whom it is made, and its outcome decides how a workflow continues. Only the controllers make one,
 * for a state, and cancel it; RBAC alone would let a user who has every right in a namespace do so.
 */
export const toolCallPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'tool-call-writes',
  resources: ['toolcalls'],
  operations: ['CREATE', 'UPDATE'],
  variables: accountVariables(identities),
  rules: [
    {
      expression: 'variables.isController || (oldObject != null && object.spec == oldObject.spec)',
      message:
        "'toolcalls: are written by the Windlass controllers only, not by ' + variables.user + '; call a tool by a state of a workflow'",
      reason: 'Forbidden',
    },
  ],
});
