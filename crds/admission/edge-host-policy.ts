import { accountVariables, type Identities } from './accounts.ts';
import type { AdmissionPolicy } from './policy.ts';

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
