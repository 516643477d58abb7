import { kinds } from '../kinds.ts';
import { celList } from '../rules/cel-text.ts';
import { accountVariables, type Identities } from './accounts.ts';
import { keptOwners, mayUpdateAll } from './marks.ts';
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

/** A host comes from an enrollment. One made by hand has no key, and would take the name of a host to come. */
export const edgeHostPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'edge-hosts',
  resources: ['edgehosts'],
  operations: ['CREATE'],
  variables: accountVariables({ ...identities, trustedWriters: identities.apis }),
  rules: [
    {
      expression: 'variables.isRelay || variables.isTrusted',
      message: `'metadata.name: a host is made by its enrollment; issue an enrollment token instead'`,
      reason: 'Forbidden',
    },
  ],
});

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
    keptOwners(`variables.isController || ${mayUpdateAll('toolcalls')}`),
    {
      expression: 'variables.isController || (oldObject != null && object.spec == oldObject.spec)',
      message:
        "'toolcalls: are written by the Windlass controllers only, not by ' + variables.user + '; call a tool by a state of a workflow'",
      reason: 'Forbidden',
    },
  ],
});
