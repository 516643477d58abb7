import { systemNamespace } from '../labels.ts';
import { definitionPolicy } from './definition-policy.ts';
import { executionPolicy, type Identities } from './execution-policy.ts';
import { policyObjects } from './policy.ts';
import { routerPolicy } from './router-policy.ts';
import { versionPolicy } from './version-policy.ts';
import { warningPolicy } from './warning-policy.ts';

/** The service accounts of an installation under the names that the chart gives by default. */
const defaultIdentities: Identities = {
  controllers: [`system:serviceaccount:${systemNamespace}:windlass-controllers`],
  trustedWriters: [`system:serviceaccount:${systemNamespace}:windlass-api`],
};

/** Every policy with its binding, by the name of the policy. */
export function admissionPolicies(identities: Identities = defaultIdentities): ReadonlyMap<string, readonly object[]> {
  const policies = [definitionPolicy, versionPolicy, executionPolicy(identities), routerPolicy, warningPolicy];
  return new Map(policies.map((policy) => [policy.name, policyObjects(policy)]));
}
