import { annotations, captureFinalizer, labels, ownerNameLabels } from '../labels.ts';
import { accountVariables, type Identities } from './accounts.ts';
import { keptOwners, type Marks, markRules, markVariables } from './marks.ts';
import { countVariables, metadataBounds } from './metadata-policy.ts';
import type { AdmissionPolicy } from './policy.ts';

const stepMarks: Marks = {
  labels: [
    labels.executionUid,
    ...Object.values(ownerNameLabels),
    labels.state,
    labels.visit,
    labels.attempt,
    labels.step,
  ],
  annotations: [annotations.state, annotations.step],
};

/** ServiceAccount of the pods of agents (lib/tenant). */
const agentAccount = 'windlass-agent';

const core = { group: '', version: 'v1' } as const;

/** CEL: may write what the request writes of pods everywhere. Nodes, schedulers and the control plane's own controllers may. */
const mayAllPods = ['update', 'patch']
  .map((verb) => `authorizer.group('').resource('pods').subresource(variables.part).check('${verb}').allowed()`)
  .join(' || ');

const holds = (object: string): string =>
  `(has(${object}.metadata.finalizers) && '${captureFinalizer}' in ${object}.metadata.finalizers)`;

/** Keeps `field`, whose value a CEL expression gives for a pod, from other writers. */
const kept = (field: string, valueOf: (object: string) => string) => ({
  expression: `oldObject == null || ${valueOf('object')} == ${valueOf('oldObject')} || variables.isController || variables.mayAllPods`,
  message: `'${field}: of the pod of a step is written by the Windlass controllers and by those who may write all pods, not by ' + variables.user`,
  reason: 'Forbidden' as const,
});

/**
 * A pod with these labels is a step, and its status is the outcome: exit code, termination message, who stopped it. Its
 * spec says which image runs, and may change through resize and ephemeralcontainers as well. The finalizer holds the log, and
 * the reference to its owner makes it go with that.
 */
export const stepPodPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'step-pods',
  api: core,
  resources: ['pods', 'pods/status', 'pods/resize', 'pods/ephemeralcontainers'],
  label: labels.executionUid,
  operations: ['CREATE', 'UPDATE'],
  variables: {
    ...accountVariables(identities),
    ...markVariables(stepMarks),
    ...countVariables,
    part: "has(request.subResource) ? request.subResource : ''",
    mayAllPods,
  },
  rules: [
    ...markRules(stepMarks, 'variables.isController', 'the Windlass controllers'),
    kept('status', (object) => `${object}.status`),
    kept('spec', (object) => `${object}.spec`),
    kept('metadata.finalizers', holds),
    keptOwners('variables.isController || variables.mayAllPods'),
    ...metadataBounds,
  ],
});

const agentMarks: Marks = { labels: [labels.agentExecution] };

/** A pod with this label may reach the internal listener of the API (design §12). */
export const agentPodPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'agent-pods',
  api: core,
  resources: ['pods'],
  label: labels.agentExecution,
  operations: ['CREATE', 'UPDATE'],
  variables: { ...accountVariables(identities), ...markVariables(agentMarks) },
  rules: markRules(agentMarks, 'variables.isController', 'the Windlass controllers'),
});

/**
 * A token of the agents' account says which pod asks. Nodes alone may request one: another user who may request
 * tokens in a namespace could bind one to the pod of an agent.
 */
export const agentTokenPolicy = (): AdmissionPolicy => ({
  name: 'agent-tokens',
  api: core,
  resources: ['serviceaccounts/token'],
  operations: ['CREATE'],
  variables: { groups: 'has(request.userInfo.groups) ? request.userInfo.groups : []' },
  rules: [
    {
      expression: `request.name != '${agentAccount}' || 'system:nodes' in variables.groups`,
      message: `'tokens of ${agentAccount} are requested by nodes only, not by ' + request.userInfo.username`,
      reason: 'Forbidden',
    },
  ],
});

const tokenOfAgents = (object: string): string =>
  `(has(${object}.type) && ${object}.type == 'kubernetes.io/service-account-token' && has(${object}.metadata.annotations) && 'kubernetes.io/service-account.name' in ${object}.metadata.annotations && ${object}.metadata.annotations['kubernetes.io/service-account.name'] == '${agentAccount}')`;

/** Kubernetes fills a Secret of this type with a token of the account that it names, without a request for one. */
export const agentSecretPolicy = (): AdmissionPolicy => ({
  name: 'agent-token-secrets',
  api: core,
  resources: ['secrets'],
  namespaceLabel: labels.tenant,
  operations: ['CREATE', 'UPDATE'],
  variables: {
    isNew: `${tokenOfAgents('object')} && (oldObject == null || !${tokenOfAgents('oldObject')})`,
  },
  rules: [
    {
      expression: '!variables.isNew',
      message: `'type: tokens of ${agentAccount} are requested by nodes only, and no Secret holds one; name another service account'`,
      reason: 'Forbidden',
    },
  ],
});

/** Labels and annotations of a Binding become those of its pod, which the API server does not look at again. */
export const podBindingPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'pod-bindings',
  api: core,
  resources: ['bindings', 'pods/binding'],
  operations: ['CREATE'],
  variables: { ...accountVariables(identities), ...markVariables(stepMarks), ...countVariables },
  rules: [...markRules(stepMarks, 'variables.isController', 'the Windlass controllers'), ...metadataBounds],
});
