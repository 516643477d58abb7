import { systemNamespace } from '../labels.ts';
import type { Identities } from './accounts.ts';
import { agentExecutionPolicy } from './agent-execution-policy.ts';
import { definitionPolicy } from './definition-policy.ts';
import { eventPolicy } from './event-policy.ts';
import { executionPolicy, inputMutation } from './execution-policy.ts';
import { fleetRunPolicy } from './fleet-run-policy.ts';
import {
  agentGrantPolicy,
  listedNetworksPolicy,
  securityContextPolicy,
  workflowGrantPolicy,
} from './grant-policies.ts';
import {
  agentIdentityPolicy,
  agentRevisionPolicy,
  claimPolicy,
  revisionPolicy,
  volumePolicy,
  workflowIdentityPolicy,
} from './ownership-policies.ts';
import { metadataPolicy } from './metadata-policy.ts';
import { mutationObjects, policyObjects } from './policy.ts';
import { routerPolicy } from './router-policy.ts';
import { contextSecretsPolicy, gitBindingPolicy } from './secret-policies.ts';
import { servicePolicy } from './service-policy.ts';
import {
  agentPodPolicy,
  agentSecretPolicy,
  agentTokenPolicy,
  podBindingPolicy,
  stepPodPolicy,
} from './step-pod-policies.ts';
import { storedOutputPolicy } from './stored-output-policy.ts';
import { tenantPolicy } from './tenant-policy.ts';
import { apiSpecPolicy, toolIdentityPolicy, toolSchemaPolicy, toolStepPolicy } from './tool-policies.ts';
import { agentVersionPolicy, versionPolicy } from './version-policy.ts';
import { toolPatternPolicy, warningPolicy } from './warning-policy.ts';
import { edgeHostPolicy, statusPolicy, toolCallPolicy } from './writer-policies.ts';

/** The service accounts of an installation under the names that the chart gives by default. */
const defaultIdentities: Identities = {
  controllers: [`system:serviceaccount:${systemNamespace}:windlass-controllers`],
  relays: [`system:serviceaccount:${systemNamespace}:windlass-relay`],
  trustedWriters: ['windlass-api', 'windlass-gateway'].map(
    (name) => `system:serviceaccount:${systemNamespace}:${name}`,
  ),
  apis: [`system:serviceaccount:${systemNamespace}:windlass-api`],
  labellers: [`system:serviceaccount:${systemNamespace}:windlass-namespace-labels`],
};

/** Policies that ask which account writes. */
const ofAccounts = [
  executionPolicy,
  statusPolicy,
  tenantPolicy,
  workflowIdentityPolicy,
  revisionPolicy,
  agentIdentityPolicy,
  agentRevisionPolicy,
  stepPodPolicy,
  podBindingPolicy,
  storedOutputPolicy,
  agentExecutionPolicy,
  toolCallPolicy,
  agentPodPolicy,
  agentTokenPolicy,
  agentSecretPolicy,
  volumePolicy,
  claimPolicy,
  edgeHostPolicy,
  apiSpecPolicy,
  toolIdentityPolicy,
  fleetRunPolicy,
  securityContextPolicy,
  listedNetworksPolicy,
  agentGrantPolicy,
  workflowGrantPolicy,
  gitBindingPolicy,
  contextSecretsPolicy,
];

/** Every policy with its binding, by the name of the policy. */
export function admissionPolicies(identities: Identities = defaultIdentities): ReadonlyMap<string, readonly object[]> {
  const policies = [
    definitionPolicy,
    versionPolicy,
    agentVersionPolicy,
    routerPolicy,
    toolStepPolicy,
    toolSchemaPolicy,
    eventPolicy,
    metadataPolicy,
    servicePolicy,
    warningPolicy,
    toolPatternPolicy,
    ...ofAccounts.map((policy) => policy(identities)),
  ];
  return new Map([
    ...policies.map((policy): [string, readonly object[]] => [policy.name, policyObjects(policy)]),
    [inputMutation.name, mutationObjects(inputMutation)],
  ]);
}
