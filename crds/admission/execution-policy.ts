import { annotations, labels } from '../labels.ts';
import { reservedExecutionNamePattern } from '../reserved-names.ts';
import { accountVariables, type Identities } from './accounts.ts';
import { heldForArchive, keptOwners, markRules, type Marks, markVariables, mayUpdateAll } from './marks.ts';
import type { AdmissionMutation, AdmissionPolicy, AdmissionRule } from './policy.ts';

const ids = (owner: string): string =>
  `(has(${owner}.spec.signals) ? ${owner}.spec.signals.map(s, s.id + '\\n').join('') : '')`;

/** A map of values of any type is no field that the API server's type check knows, hence `dyn`. */
const unchanged = (field: string): AdmissionRule => {
  const [now, before] = [`dyn(object.spec).${field}`, `dyn(oldObject.spec).${field}`];
  return {
    expression: `oldObject == null || (has(${now}) == has(${before}) && (!has(${now}) || ${now} == ${before}))`,
    message: `'spec.${field}: is immutable; start another execution'`,
  };
};

/** The starter and its request, stimulus or tool: the answer to a repetition of that request depends on them. */
const marks: Marks = {
  labels: [labels.stimulus, labels.stimulusSource, labels.parentUid, labels.cliTool],
  annotations: [
    annotations.startedBy,
    annotations.request,
    annotations.reservation,
    annotations.linkedFrom,
    annotations.linkRoot,
    annotations.linkDepth,
    annotations.agentRoot,
    annotations.agentDepth,
  ],
};

const workflowOf = (object: string): string => {
  const field = `${object}.metadata.labels`;
  return `(has(${field}) ? ['${labels.workflow}', '${labels.workflowUid}'].map(k, k in ${field} ? [${field}[k]] : []) : [[], []])`;
};

/** Clients note the workflow when they start it; the record of the execution repeats that. */
const notedWorkflow: AdmissionRule = {
  expression: `variables.isTrusted || oldObject == null || ${workflowOf('object')} == ${workflowOf('oldObject')}`,
  message: "'metadata.labels: the workflow of an execution cannot be changed; start another execution'",
  reason: 'Forbidden',
};

const givenName: AdmissionRule = {
  expression: `variables.isTrusted || oldObject != null || !has(object.metadata.name) || !object.metadata.name.matches('${reservedExecutionNamePattern}')`,
  message:
    "'metadata.name: ' + object.metadata.name + ' has the form of an id or of a name that the API gives; choose another'",
  reason: 'Forbidden',
};

const identityRules: readonly AdmissionRule[] = [
  ...markRules(marks, 'variables.isTrusted', 'Windlass'),
  notedWorkflow,
  heldForArchive('workflowexecutions'),
  givenName,
];

/** A user of the API server may be named like a subject of the identity provider. */
const viaRules: readonly AdmissionRule[] = [
  {
    expression:
      "variables.isTrusted || !has(object.spec.signals) || object.spec.signals.all(s, s.id in variables.oldIds || !has(s.via) || s.via != 'api')",
    message: "'spec.signals: via: api is written by the Windlass API only, which has checked a token; leave it out'",
    reason: 'Forbidden',
  },
  {
    expression:
      "variables.isTrusted || !has(object.spec.cancel) || !has(object.spec.cancel.via) || object.spec.cancel.via != 'api' || (oldObject != null && has(oldObject.spec.cancel))",
    message: "'spec.cancel.via: api is written by the Windlass API only, which has checked a token; leave it out'",
    reason: 'Forbidden',
  },
];

/**
 * Writers of each field of an execution: a decision carries the name of the user that the API server saw, and only
 * the controllers make children. Only the API may write `via: api`. New signals follow old ones; `input` and
 * `blackboard` never change.
 */
export const executionPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'workflow-execution-writes',
  resources: ['workflowexecutions'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    ...accountVariables(identities),
    ...markVariables(marks),
    oldIds: 'oldObject != null && has(oldObject.spec.signals) ? oldObject.spec.signals.map(s, s.id) : []',
    forged:
      'has(object.spec.signals) ? object.spec.signals.filter(s, !(s.id in variables.oldIds) && s.by != variables.user) : []',
  },
  rules: [
    keptOwners(`variables.isController || ${mayUpdateAll('workflowexecutions')}`),
    {
      expression: 'variables.isTrusted || size(variables.forged) == 0',
      message:
        "'spec.signals[' + variables.forged[0].id + '].by: must be ' + variables.user + ', the user who writes the signal'",
      reason: 'Forbidden',
    },
    {
      expression:
        'variables.isTrusted || !has(object.spec.cancel) || (oldObject != null && has(oldObject.spec.cancel)) || object.spec.cancel.by == variables.user',
      message: "'spec.cancel.by: must be ' + variables.user + ', the user who cancels'",
      reason: 'Forbidden',
    },
    ...viaRules,
    {
      expression: 'variables.isController || oldObject != null || !has(object.spec.parent)',
      message: "'spec.parent: is set by the Windlass controllers only'",
      reason: 'Forbidden',
    },
    {
      expression: `oldObject == null || ${ids('object')}.startsWith(${ids('oldObject')})`,
      message: "'spec.signals: new signals must follow the old ones'",
    },
    unchanged('input'),
    unchanged('blackboard'),
    ...identityRules,
  ],
});

const input = 'dyn(object.spec).input';

/**
 * An execution that kubectl creates may have any JSON as its input, as one over HTTP may. A value that is no object
 * becomes `{input: payload}` before the schema is checked (requirements AMB-175). The field itself stays an atomic map,
 * since the API server would otherwise keep every name in it a second time, in managedFields.
 */
export const inputMutation: AdmissionMutation = {
  name: 'workflow-execution-input',
  resources: ['workflowexecutions'],
  operations: ['CREATE', 'UPDATE'],
  condition: `has(object.spec) && has(${input}) && type(${input}) != map`,
  patch: `[JSONPatch{op: "add", path: "/spec/input", value: {"input": ${input}}}]`,
};
