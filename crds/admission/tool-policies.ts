import { limits } from '../limits.ts';
import { toolStepPattern } from '../tool-name.ts';
import { accountVariables, type Identities } from './accounts.ts';
import { noIdAsName } from './ownership-policies.ts';
import type { AdmissionPolicy } from './policy.ts';
import { mayGetSecret } from './secret-policies.ts';
import { isClusters } from './tenant-policy.ts';

const policy = 'dyn(s).on_error';
const isWord = `(type(${policy}) == string && ${policy} in ['AbortWorkflow', 'Continue'])`;
const isRetry = `(type(${policy}) == map && size(${policy}) == 1 && 'RetryN' in ${policy} && type(${policy}.RetryN) == int && ${policy}.RetryN >= 0 && ${policy}.RetryN <= ${limits.stepRetriesMax})`;
const badKeys = `s.extractors.filter(k, !k.matches('${toolStepPattern}'))`;

/** Rules of steps that a schema cannot say: one value of two types, and the keys of a map (GW-WF-09, GW-WF-10). */
export const toolStepPolicy: AdmissionPolicy = {
  name: 'tool-workflow-steps',
  resources: ['toolworkflows'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    badPolicies: `object.spec.steps.filter(s, !(has(${policy}) && (${isWord} || ${isRetry})))`,
    badVariables: `object.spec.steps.filter(s, has(s.extractors) && size(${badKeys}) > 0)`,
  },
  rules: [
    {
      expression: 'size(variables.badPolicies) == 0',
      message: `'spec.steps[' + variables.badPolicies[0].name + '].on_error: must be AbortWorkflow, Continue or {"RetryN": n} with n from 0 to ${limits.stepRetriesMax}'`,
    },
    {
      expression: 'size(variables.badVariables) == 0',
      message: `'spec.steps[' + variables.badVariables[0].name + '].extractors: the name of a variable must match ${toolStepPattern}'`,
    },
  ],
};

/** CEL: as text, with each object, list and comma of the value, and those in its texts. */
const schemaText = "'%s'.format([object.spec.input_schema])";
const isKnown = 'oldObject != null && object.spec.input_schema == oldObject.spec.input_schema';

/**
 * The size of a schema in the memory of processes follows from its parts: 1.3 MB of `{}` takes 26 MB in each that reads it. A CRD
 * cannot count free JSON. A schema that the controllers accept (`registeredSchemaBytes`) has fewer parts.
 */
export const toolSchemaPolicy: AdmissionPolicy = {
  name: 'tool-schemas',
  resources: ['toolworkflows', 'clitools'],
  operations: ['CREATE', 'UPDATE'],
  variables: { text: `${isKnown} ? '' : ${schemaText}` },
  rules: [
    {
      expression: `['{', '[', ','].all(c, size(variables.text.split(c, ${limits.toolSchemaParts + 2})) <= ${limits.toolSchemaParts + 1})`,
      message: `'spec.input_schema: must have at most ${limits.toolSchemaParts} objects, as many lists, and as many commas; declare fewer fields'`,
    },
  ],
};

const networks = (object: string): string =>
  `(has(${object}.spec.allow_internal_addresses) ? ${object}.spec.allow_internal_addresses : [])`;

const addressFields = ['server_url', 'document', 'document_parts', 'credentials'] as const;
const isMoved = addressFields
  .map(
    (field) =>
      `has(object.spec.${field}) != has(oldObject.spec.${field}) || (has(object.spec.${field}) && object.spec.${field} != oldObject.spec.${field})`,
  )
  .join(' || ');

/**
 * Administrators of the cluster say which internal addresses the gateway may ask on behalf of a tenant. The gateway has
 * a place in the network that the tenant has not. Taking networks away is open to all who may write the object.
 *
 * The gateway sends the credential to the address that the object says, so the writer of either must be able to read the
 * Secret (ADR 0095).
 */
export const apiSpecPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'api-spec-addresses',
  resources: ['apispecs'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    ...accountVariables(identities),
    isClusters,
    opened: `${networks('object')}.filter(n, oldObject == null || !(n in ${networks('oldObject')}))`,
    secret:
      "has(object.spec.credentials) && has(object.spec.credentials.secret) ? object.spec.credentials.secret.name : ''",
    isMoved: `oldObject == null || ${isMoved}`,
  },
  rules: [
    {
      expression: 'size(variables.opened) == 0 || variables.isTrusted || variables.isClusters',
      message:
        "'spec.allow_internal_addresses: ' + variables.opened[0] + ' needs a writer who may write all namespaces; ask an administrator of the cluster'",
      reason: 'Forbidden',
    },
    {
      expression: `variables.secret == '' || !variables.isMoved || variables.isTrusted || ${mayGetSecret('variables.secret')}`,
      message:
        "'spec.credentials.secret: Secret ' + variables.secret + ' is sent to the server of this object; ' + variables.user + ' needs the right to get this Secret'",
      reason: 'Forbidden',
    },
    noIdAsName,
  ],
});

/** An id never means a name (ADR 0050). */
export const toolIdentityPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'tool-identities',
  resources: ['toolworkflows', 'clitools'],
  operations: ['CREATE'],
  variables: accountVariables(identities),
  rules: [noIdAsName],
});
