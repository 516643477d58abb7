import { celList } from '../rules/cel-text.ts';
import { annotations, labels } from '../labels.ts';
import { reservedAgentExecutionNamePattern } from '../reserved-names.ts';
import { accountVariables, type Identities } from './accounts.ts';
import { heldForArchive, keptOwners, type Marks, markRules, markVariables, mayUpdateAll } from './marks.ts';
import { noIdAsName } from './ownership-policies.ts';
import type { AdmissionPolicy, AdmissionRule } from './policy.ts';

/** The starter, its request, the execution that it serves, and the agent by whose name the API finds it. */
const marks: Marks = {
  labels: [labels.parentUid, labels.agent, labels.agentUid],
  annotations: [
    annotations.startedBy,
    annotations.request,
    annotations.agentRoot,
    annotations.agentDepth,
    annotations.drivenBy,
    annotations.conversation,
  ],
};

const isSame = (field: string): string =>
  `has(object.spec.${field}) == has(oldObject.spec.${field}) && (!has(object.spec.${field}) || object.spec.${field} == oldObject.spec.${field})`;

const fixed = (field: string): AdmissionRule => ({
  expression: `oldObject == null || (${isSame(field)})`,
  message: `'spec.${field}: is immutable; start another execution'`,
});

/** A user of the API server may be named like a subject of the identity provider. */
const cancelRules: readonly AdmissionRule[] = [
  {
    expression:
      'variables.isTrusted || !has(object.spec.cancel) || (oldObject != null && has(oldObject.spec.cancel)) || object.spec.cancel.by == variables.user',
    message: "'spec.cancel.by: must be ' + variables.user + ', the user who cancels'",
    reason: 'Forbidden',
  },
  {
    expression:
      "variables.isTrusted || !has(object.spec.cancel) || !has(object.spec.cancel.via) || object.spec.cancel.via != 'api' || (oldObject != null && has(oldObject.spec.cancel))",
    message: "'spec.cancel.via: api is written by the Windlass API only, which has checked a token; leave it out'",
    reason: 'Forbidden',
  },
];

const ids = (owner: string): string =>
  `(has(${owner}.spec.signals) ? ${owner}.spec.signals.map(s, s.id + '\\n').join('') : '')`;

/** ADR 0082 and 0168: the API asks, and says why a conversation waits; an answer carries the name of the user that the API server saw. */
const approvalRules: readonly AdmissionRule[] = [
  {
    expression: `variables.isApi || (oldObject == null ? !has(object.spec.wait) : ${isSame('wait')})`,
    message: "'spec.wait: is written by the Windlass API only, not by ' + variables.user",
    reason: 'Forbidden',
  },
  {
    expression: `variables.isApi || (oldObject == null ? !has(object.spec.ask) : ${isSame('ask')})`,
    message: "'spec.ask: is written by the Windlass API only, not by ' + variables.user",
    reason: 'Forbidden',
  },
  {
    expression: 'oldObject != null || !has(object.spec.signals)',
    message: "'spec.signals: an execution begins without answers'",
  },
  {
    expression: 'variables.isTrusted || size(variables.forged) == 0',
    message:
      "'spec.signals[' + variables.forged[0].id + '].by: must be ' + variables.user + ', the user who writes the signal'",
    reason: 'Forbidden',
  },
  {
    expression:
      "variables.isTrusted || !has(object.spec.signals) || object.spec.signals.all(s, s.id in variables.oldIds || !has(s.via) || s.via != 'api')",
    message: "'spec.signals: via: api is written by the Windlass API only, which has checked a token; leave it out'",
    reason: 'Forbidden',
  },
  {
    expression: `oldObject == null || ${ids('object')}.startsWith(${ids('oldObject')})`,
    message: "'spec.signals: new signals must follow the old ones'",
  },
];

const givenName: AdmissionRule = {
  expression: `variables.isTrusted || oldObject != null || !has(object.metadata.name) || !object.metadata.name.matches('${reservedAgentExecutionNamePattern}')`,
  message: "'metadata.name: ' + object.metadata.name + ' has the form of a name that the API gives; choose another'",
  reason: 'Forbidden',
};

/**
 * Writers of each field of an execution of an agent (design §12). The API alone says how it ended. The controllers
 * alone make one for a state of a workflow. A cancellation names the user that the API server saw.
 */
export const agentExecutionPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'agent-execution-writes',
  resources: ['agentexecutions'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    // No other trusted writer has to do with executions of agents.
    ...accountVariables({ ...identities, trustedWriters: identities.apis }),
    ...markVariables(marks),
    isApi: `variables.user in ${celList(identities.apis)}`,
    oldIds: 'oldObject != null && has(oldObject.spec.signals) ? oldObject.spec.signals.map(s, s.id) : []',
    forged:
      'has(object.spec.signals) ? object.spec.signals.filter(s, !(s.id in variables.oldIds) && s.by != variables.user) : []',
  },
  rules: [
    keptOwners(`variables.isTrusted || ${mayUpdateAll('agentexecutions')}`),
    {
      expression: 'variables.isApi || !has(object.spec.result) || (oldObject != null && has(oldObject.spec.result))',
      message: "'spec.result: is written by the Windlass API only, not by ' + variables.user",
      reason: 'Forbidden',
    },
    {
      expression: 'oldObject != null || !has(object.spec.result)',
      message: "'spec.result: an execution begins without an outcome'",
    },
    {
      expression: `variables.isController || (oldObject == null ? !has(object.spec.parent) : ${isSame('parent')})`,
      message: "'spec.parent: is set by the Windlass controllers only'",
      reason: 'Forbidden',
    },
    ...cancelRules,
    ...approvalRules,
    fixed('isolation'),
    fixed('volumes'),
    ...markRules(marks, 'variables.isTrusted', 'Windlass'),
    heldForArchive('agentexecutions'),
    noIdAsName,
    givenName,
  ],
});
