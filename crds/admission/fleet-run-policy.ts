import { limits } from '../limits.ts';
import { annotations } from '../labels.ts';
import { reservedFleetRunNamePattern } from '../reserved-names.ts';
import { accountVariables, type Identities } from './accounts.ts';
import { type Marks, markRules, markVariables } from './marks.ts';
import { noIdAsName } from './ownership-policies.ts';
import type { AdmissionPolicy, AdmissionRule } from './policy.ts';

/** A field without a type in the definition can be read only as a dynamic value. */
const policy = 'dyn(object.spec.policy)';
const mode = `${policy}.mode`;
const failure = `${policy}.failure_policy`;
const whole = (value: string): string =>
  `type(${value}) == int && int(${value}) >= 1 && int(${value}) <= ${limits.fleetTargets}`;
/** An object with this one key, whose value `inner` judges. */
const only = (value: string, key: string, inner: string): string =>
  `(type(${value}) == map && size(${value}) == 1 && '${key}' in ${value} && ${inner})`;

const formRules: readonly AdmissionRule[] = [
  {
    expression: `!has(object.spec.policy) || !has(${mode}) || ${mode} in ['Sequential', 'Parallel'] || ${only(mode, 'Rolling', only(`${mode}.Rolling`, 'batch', whole(`${mode}.Rolling.batch`)))}`,
    message: `'spec.policy.mode: must be Sequential, Parallel, or an object Rolling with a batch of 1 to ${limits.fleetTargets}'`,
  },
  {
    expression: `!has(object.spec.policy) || !has(${failure}) || ${failure} in ['FailFast', 'ContinueOnError'] || ${only(failure, 'StopAfter', whole(`${failure}.StopAfter`))}`,
    message: `'spec.policy.failure_policy: must be FailFast, ContinueOnError, or an object StopAfter with a number of 1 to ${limits.fleetTargets}'`,
  },
];

const isSame = (field: string): string =>
  `has(object.spec.${field}) == has(oldObject.spec.${field}) && (!has(object.spec.${field}) || object.spec.${field} == oldObject.spec.${field})`;

const fixed = (field: string): AdmissionRule => ({
  expression: `oldObject == null || (${isSame(field)})`,
  message: `'spec.${field}: is immutable; start another run'`,
});

const givenName: AdmissionRule = {
  expression: `variables.isTrusted || oldObject != null || !has(object.metadata.name) || !object.metadata.name.matches('${reservedFleetRunNamePattern}')`,
  message: "'metadata.name: ' + object.metadata.name + ' has the form of a name that the API gives; choose another'",
  reason: 'Forbidden',
};

/** The starter and its request: the answer to a repetition of that request depends on them. */
const marks: Marks = { annotations: [annotations.startedBy, annotations.request] };

/**
 * Writers of each field of a fleet run. The person who asks for it, and the one who cancels it, are those that the API
 * server saw, or those whom the API has checked. Tool, arguments and targets never change. Also what its schema cannot
 * say.
 */
export const fleetRunPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'fleet-run-writes',
  resources: ['fleetruns'],
  operations: ['CREATE', 'UPDATE'],
  variables: { ...accountVariables({ ...identities, trustedWriters: identities.apis }), ...markVariables(marks) },
  rules: [
    ...formRules,
    fixed('target'),
    fixed('args'),
    fixed('policy'),
    {
      expression: 'variables.isTrusted || oldObject != null || object.spec.requested_by == variables.user',
      message: "'spec.requested_by: must be ' + variables.user + ', the user who asks for the run'",
      reason: 'Forbidden',
    },
    {
      expression:
        'variables.isTrusted || !has(object.spec.cancel) || (oldObject != null && has(oldObject.spec.cancel)) || object.spec.cancel.by == variables.user',
      message: "'spec.cancel.by: must be ' + variables.user + ', the user who cancels'",
      reason: 'Forbidden',
    },
    {
      expression:
        'variables.isTrusted || !has(object.spec.cancel) || !has(object.spec.cancel.via) || (oldObject != null && has(oldObject.spec.cancel))',
      message: "'spec.cancel.via: is written by the Windlass API only, which has checked a token; leave it out'",
      reason: 'Forbidden',
    },
    ...markRules(marks, 'variables.isTrusted', 'the Windlass API'),
    noIdAsName,
    givenName,
  ],
});
