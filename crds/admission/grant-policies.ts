import { globalNamespace } from '../labels.ts';
import { accountVariables, type Identities } from './accounts.ts';
import type { AdmissionPolicy } from './policy.ts';

/**
 * CEL: the user may run tools on hosts, with kubectl by a FleetRun. An object of the global namespace acts in every tenant,
 * so its writer needs the right in every namespace.
 */
const fleetRuns = "authorizer.group('windlass.dev').resource('fleetruns')";
const mayRunFleets = `request.namespace == '${globalNamespace}' ? ${fleetRuns}.check('create').allowed() : ${fleetRuns}.namespace(request.namespace).check('create').allowed()`;

/** The writer of a grant decides by every other field how far it reaches. */
const isChanged = 'oldObject == null || object.spec != oldObject.spec';

const fleetGrant = (subject: string, grants: string, identities: Identities) => ({
  variables: { ...accountVariables(identities), grants, isChanged, mayRunFleets },
  rules: [
    {
      expression: '!variables.grants || !variables.isChanged || variables.isTrusted || variables.mayRunFleets',
      message: `'${subject} by those who may create fleetruns only, and ' + variables.user + ' may not; leave it out, or bind ' + variables.user + ' to the ClusterRole windlass-edge-operator'`,
      reason: 'Forbidden',
    },
  ] as const,
});

/** A context of an operator or tenant admin opens tools of hosts (spec 2 §4.6); ADR 0095. */
export const securityContextPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'security-context-tiers',
  resources: ['securitycontexts'],
  operations: ['CREATE', 'UPDATE'],
  ...fleetGrant(
    'spec.tier: tools of hosts are opened',
    "has(object.spec.tier) && object.spec.tier != 'user'",
    identities,
  ),
});

/** An agent whose manifest names tools of hosts lets those who start it run commands there; ADR 0095. */
export const agentGrantPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'agent-grants',
  resources: ['agents'],
  operations: ['CREATE', 'UPDATE'],
  ...fleetGrant(
    'spec.tools: tools of hosts are given to an agent',
    "has(object.spec.tools) && object.spec.tools.exists(t, t.name.startsWith('svc.edge.'))",
    { ...identities, trustedWriters: identities.apis },
  ),
});

/** A state that calls a tool of hosts lets those who start the workflow run commands there; ADR 0096. */
export const workflowGrantPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'workflow-grants',
  resources: ['workflows'],
  operations: ['CREATE', 'UPDATE'],
  ...fleetGrant(
    'spec.states: tools of hosts are called by a workflow that is written',
    "object.spec.states.exists(s, object.spec.states[s].kind == 'System' && has(object.spec.states[s].env) && 'tool' in object.spec.states[s].env && object.spec.states[s].env['tool'].startsWith('svc.edge.'))",
    { ...identities, trustedWriters: identities.apis },
  ),
});

const networkPolicies = "authorizer.group('networking.k8s.io').resource('networkpolicies')";
const mayOpen = `request.namespace == '${globalNamespace}' ? ${networkPolicies}.check('create').allowed() : ${networkPolicies}.namespace(request.namespace).check('create').allowed()`;

/** A context that lists networks opens pods as a NetworkPolicy does; ADR 0100. No account of ours is exempt. */
export const listedNetworksPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'security-context-networks',
  resources: ['securitycontexts'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    ...accountVariables(identities),
    isChanged,
    mayOpen,
  },
  rules: [
    {
      expression: '!has(object.spec.networks) || !variables.isChanged || variables.mayOpen',
      message: `'spec.networks: networks are opened by those who may create networkpolicies in the namespace, and ' + variables.user + ' may not; use network: none, or ask an administrator of the namespace'`,
      reason: 'Forbidden',
    },
  ],
});
