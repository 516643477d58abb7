import { annotations, labels } from '../labels.ts';
import {
  cliToolWorkflowNamePattern,
  derivedWorkflowNamePattern,
  fileToolWorkflowNamePattern,
  userWorkflowNamePattern,
} from '../reserved-names.ts';
import { celList } from '../rules/cel-text.ts';
import { uidPattern } from '../uid.ts';
import { accountVariables, type Identities } from './accounts.ts';
import { isOwned, keptOwners, type Marks, markRules, markVariables, mayUpdateAll } from './marks.ts';
import type { AdmissionPolicy, AdmissionRule } from './policy.ts';

const name = "(has(object.metadata.name) ? object.metadata.name : '')";
const hasLabel = (object: string, key: string): string =>
  `has(${object}.metadata.labels) && '${key}' in ${object}.metadata.labels`;
const hasNote = (key: string): string => `has(object.metadata.annotations) && '${key}' in object.metadata.annotations`;

export const noIdAsName: AdmissionRule = {
  expression: `variables.isTrusted || oldObject != null || !${name}.matches('${uidPattern}')`,
  message: "'metadata.name: ' + object.metadata.name + ' has the form of an id; choose another'",
  reason: 'Forbidden',
};

const workflowMarks: Marks = {
  labels: [labels.user],
  annotations: [annotations.user, annotations.formerIds],
};

/** CEL: what `toolRules` and `fileToolRules` need. */
const toolVariables = ({ apis }: Identities): Readonly<Record<string, string>> => ({
  isApi: `variables.user in ${celList(apis)}`,
  isGateway: 'variables.isTrusted && !variables.isApi',
  toolName: `${name}.matches('${cliToolWorkflowNamePattern}')`,
  fileName: `${name}.matches('${fileToolWorkflowNamePattern}')`,
  toolChanged: `${toolOf('object')} != (oldObject == null ? [] : ${toolOf('oldObject')})`,
});

const toolOf = (object: string): string =>
  `(${hasLabel(object, labels.cliTool)} ? [${object}.metadata.labels['${labels.cliTool}']] : [])`;

const usersOwnRule: AdmissionRule = {
  expression: 'variables.isTrusted || !variables.isUsersOwn || object.spec == oldObject.spec',
  message: "'spec: a user\\'s own workflow is changed through the API only'",
  reason: 'Forbidden',
};

/**
 * The workflow that a call of a CLI tool runs is what the tool says, and the audit with it: the gateway alone makes and
 * changes it. The API is no exception, for it writes what its users send.
 */
const toolRules: readonly AdmissionRule[] = [
  {
    expression: 'variables.isGateway || !variables.toolChanged',
    message: `'metadata.labels[${labels.cliTool}]: is written by the tool gateway only'`,
    reason: 'Forbidden',
  },
  {
    expression: 'variables.isGateway || oldObject != null || !variables.toolName',
    message:
      "'metadata.name: ' + object.metadata.name + ' has the form of the workflow of a CLI tool, which only the tool gateway makes'",
    reason: 'Forbidden',
  },
  {
    expression: 'variables.isGateway || oldObject == null || !variables.toolName || object.spec == oldObject.spec',
    message: "'spec: the workflow of a CLI tool follows from the tool; change the CliTool'",
    reason: 'Forbidden',
  },
];

/**
 * The workflow that file tools run mounts a volume and says what is done there: the API alone makes it, and never changes it
 * (ADR 0090). Manifests that users send to the API get another name.
 */
const fileToolRules: readonly AdmissionRule[] = [
  {
    expression: 'variables.isApi || oldObject != null || !variables.fileName',
    message:
      "'metadata.name: ' + object.metadata.name + ' has the form of the workflow of file tools, which only the Windlass API makes'",
    reason: 'Forbidden',
  },
  {
    expression: 'oldObject == null || !variables.fileName || object.spec == oldObject.spec',
    message: "'spec: the workflow of file tools is never changed; delete it, and the next call makes it again'",
    reason: 'Forbidden',
  },
];

/**
 * Whose a workflow is: a user's own is made by the API, which has checked who the user is, under a name that follows
 * from both. A derived name of the tenant's says which name it was derived from, once and for all.
 */
export const workflowIdentityPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'workflow-identities',
  resources: ['workflows'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    ...accountVariables(identities),
    ...markVariables(workflowMarks),
    ownName: `${name}.matches('${userWorkflowNamePattern}')`,
    derivedName: `${name}.matches('${derivedWorkflowNamePattern}')`,
    ...toolVariables(identities),
    isUsersOwn: `oldObject != null && ${hasLabel('oldObject', labels.user)}`,
    named: hasNote(annotations.name),
    renamed: `oldObject != null && variables.derivedName && (has(oldObject.metadata.annotations) && '${annotations.name}' in oldObject.metadata.annotations ? oldObject.metadata.annotations['${annotations.name}'] : '') != (variables.named ? object.metadata.annotations['${annotations.name}'] : '')`,
  },
  rules: [
    noIdAsName,
    {
      expression: 'variables.isTrusted || oldObject != null || !variables.ownName',
      message:
        "'metadata.name: ' + object.metadata.name + ' has the form of a user\\'s own workflow, which only the API makes'",
      reason: 'Forbidden',
    },
    {
      expression: 'variables.isTrusted || !variables.derivedName || variables.named',
      message: `'metadata.name: ' + object.metadata.name + ' has the form of a derived name; the annotation ${annotations.name} must hold the name that it was derived from'`,
      reason: 'Forbidden',
    },
    {
      expression: 'variables.isTrusted || !variables.renamed',
      message: `'metadata.annotations[${annotations.name}]: cannot be changed'`,
      reason: 'Forbidden',
    },
    usersOwnRule,
    ...toolRules,
    ...fileToolRules,
    ...markRules(workflowMarks, 'variables.isTrusted', 'the Windlass API'),
  ],
});

/** An agent is named by its object, so that a name in the form of an id would hide another one (ADR 0050). */
export const agentIdentityPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'agent-identities',
  resources: ['agents'],
  operations: ['CREATE'],
  variables: accountVariables(identities),
  rules: [noIdAsName],
});

const revisionMarks: Marks = {
  labels: [
    labels.workflow,
    labels.workflowUid,
    labels.agent,
    labels.agentUid,
    labels.version,
    labels.user,
    labels.managedBy,
  ],
  annotations: [annotations.specHash, annotations.version, annotations.registeredAt],
};

const owners = (object: string): string =>
  `(has(${object}.metadata.ownerReferences) ? ${object}.metadata.ownerReferences.map(o, o.uid) : [])`;

/**
 * The revisions that hold versions of workflows and agents. Without this policy a DaemonSet whose selector matches a
 * stored revision adopts it, and deletes it later.
 */
export const revisionPolicy = (identities: Identities): AdmissionPolicy =>
  revisionsOf(identities, { name: 'workflow-revisions', label: labels.workflowUid });
export const agentRevisionPolicy = (identities: Identities): AdmissionPolicy =>
  revisionsOf(identities, { name: 'agent-revisions', label: labels.agentUid });

const revisionsOf = (
  identities: Identities,
  kind: { readonly name: string; readonly label: string },
): AdmissionPolicy => ({
  ...kind,
  api: { group: 'apps', version: 'v1' },
  resources: ['controllerrevisions'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    ...accountVariables(identities),
    ...markVariables(revisionMarks),
    newOwners: `oldObject == null ? [] : ${owners('object')}.filter(u, !(u in ${owners('oldObject')}))`,
  },
  rules: [
    {
      expression: 'variables.isTrusted || size(variables.newOwners) == 0',
      message: "'metadata.ownerReferences: revisions of definitions have no owner'",
      reason: 'Forbidden',
    },
    {
      expression: 'variables.isTrusted || oldObject == null || object.revision == oldObject.revision',
      message: "'revision: is written by Windlass only'",
      reason: 'Forbidden',
    },
    ...markRules(revisionMarks, 'variables.isTrusted', 'Windlass'),
  ],
});

const volumeMarks: Marks = { labels: [labels.executionUid, labels.execution], annotations: [annotations.volume] };

/** A volume with these labels holds the data of an execution. */
export const volumePolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'execution-volumes',
  resources: ['volumes'],
  operations: ['CREATE', 'UPDATE'],
  variables: { ...accountVariables(identities), ...markVariables(volumeMarks) },
  rules: [
    ...markRules(volumeMarks, 'variables.isController', 'the Windlass controllers'),
    keptOwners(`variables.isController || ${mayUpdateAll('volumes')}`),
  ],
});

/** CEL: may write all claims, as the garbage collector and programs that restore backups may. */
const mayAllClaims = "authorizer.group('').resource('persistentvolumeclaims').check('update').allowed()";

/** The reference to its Volume says that a claim was made for it, and is deleted with it. */
export const claimPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'volume-claims',
  api: { group: '', version: 'v1' },
  resources: ['persistentvolumeclaims'],
  namespaceLabel: labels.tenant,
  operations: ['CREATE', 'UPDATE'],
  variables: { ...accountVariables(identities), may: `variables.isController || ${mayAllClaims}` },
  rules: [
    keptOwners('variables.may'),
    {
      expression: `variables.may || oldObject != null || !${isOwned('object')}`,
      message:
        "'metadata.ownerReferences: a claim of a Volume is made by the Windlass controllers only, not by ' + variables.user",
      reason: 'Forbidden',
    },
  ],
});
