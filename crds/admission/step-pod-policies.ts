import { annotations, captureFinalizer, labels } from '../labels.ts';
import { accountVariables, type Identities } from './accounts.ts';
import { type Marks, markRules, markVariables } from './marks.ts';
import type { AdmissionPolicy } from './policy.ts';

const stepMarks: Marks = {
  labels: [labels.executionUid, labels.execution, labels.state, labels.visit, labels.attempt, labels.step],
  annotations: [annotations.state, annotations.step],
};

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
 * spec says which image runs, and may change through resize and ephemeralcontainers as well. The finalizer holds the log.
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
    part: "has(request.subResource) ? request.subResource : ''",
    mayAllPods,
  },
  rules: [
    ...markRules(stepMarks, 'variables.isController', 'the Windlass controllers'),
    kept('status', (object) => `${object}.status`),
    kept('spec', (object) => `${object}.spec`),
    kept('metadata.finalizers', holds),
  ],
});

/** Labels and annotations of a Binding become those of its pod, which the API server does not look at again. */
export const podBindingPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'pod-bindings',
  api: core,
  resources: ['bindings', 'pods/binding'],
  operations: ['CREATE'],
  variables: { ...accountVariables(identities), ...markVariables(stepMarks) },
  rules: markRules(stepMarks, 'variables.isController', 'the Windlass controllers'),
});
