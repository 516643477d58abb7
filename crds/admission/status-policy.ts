import { kinds } from '../kinds.ts';
import { celList } from '../rules/cel-text.ts';
import { accountVariables, type Identities } from './accounts.ts';
import type { AdmissionPolicy } from './policy.ts';

/**
 * A status says whose webhooks a router gets, what an execution runs and how it ended. RBAC alone would let a user
 * who has every right in a namespace write it.
 */
export const statusPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'status-writes',
  resources: kinds.map(({ plural }) => `${plural}/status`),
  operations: ['UPDATE'],
  variables: {
    ...accountVariables(identities),
    isApi: `variables.user in ${celList(identities.apis)}`,
    kind: 'request.resource.resource',
  },
  rules: [
    {
      expression:
        "variables.kind == 'toolcalls' ? variables.isApi : variables.isController || (variables.isRelay && variables.kind == 'edgehosts')",
      message: `'status: is written by Windlass only, not by ' + variables.user`,
      reason: 'Forbidden',
    },
  ],
});
