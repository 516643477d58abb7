import { globalNamespace } from '../labels.ts';
import { limits } from '../limits.ts';
import { accountVariables, type Identities } from './accounts.ts';
import type { AdmissionPolicy } from './policy.ts';

/** CEL: the user may read the Secret of the namespace whose name the expression gives. */
export const mayGetSecret = (name: string): string =>
  `authorizer.group('').resource('secrets').namespace(request.namespace).name(${name}).check('get').allowed()`;

/** CEL: the user may read it in every namespace: what is in the global namespace acts in every tenant. */
const mayGetAnywhere = (name: string): string =>
  `authorizer.group('').resource('secrets').name(${name}).check('get').allowed()`;

/** Fields that say what the Secret of a binding reaches: its host, the branch and its history, and in whose name it writes. */
const reachingFields = ['repo_url', 'credentials', 'ref', 'depth', 'author'] as const;
const isMoved = reachingFields.map((field) => `object.spec.?${field} != oldObject.spec.?${field}`).join(' || ');

/**
 * The writer of a GitBinding decides which host gets its Secret, and which branch of which repository it moves. So the
 * writer must be able to read the Secret (ADR 0095, ADR 0137). So must the user who asks for a push. The API asks the
 * SecurityContext of the caller in place of this (`git_secrets`).
 */
export const gitBindingPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'git-binding-secrets',
  resources: ['gitbindings'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    ...accountVariables({ ...identities, trustedWriters: identities.apis }),
    secret: "has(object.spec.credentials) ? object.spec.credentials.secret.name : ''",
    isMoved: `oldObject == null || ${isMoved}`,
    isPush:
      "has(object.spec.request) && object.spec.request.op == 'push' && (oldObject == null || object.spec.?request != oldObject.spec.?request)",
  },
  rules: [
    {
      expression: `variables.secret == '' || !(variables.isMoved || variables.isPush) || variables.isTrusted || ${mayGetSecret('variables.secret')}`,
      message:
        "'spec.credentials.secret: Secret ' + variables.secret + ' is sent to the host of repo_url; ' + variables.user + ' needs the right to get this Secret to change what it reaches, or to push'",
      reason: 'Forbidden',
    },
  ],
});

const places = Array.from({ length: limits.contextGitSecrets }, (_, index) => index);
/** One variable for each name: the API server bounds what the questions of one expression cost. */
const refusedAt = (index: number): string => {
  const name = `variables.names[${index}]`;
  const mayGet = `(request.namespace == '${globalNamespace}' ? ${mayGetAnywhere(name)} : ${mayGetSecret(name)})`;
  return `size(variables.names) > ${index} && !${mayGet} ? [${name}] : []`;
};

/** A context that names Secrets lends them to those who call tools within it. No account of ours is exempt. */
export const contextSecretsPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'security-context-secrets',
  resources: ['securitycontexts'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    ...accountVariables(identities),
    isChanged: 'oldObject == null || object.spec != oldObject.spec',
    names: 'has(object.spec.git_secrets) ? object.spec.git_secrets : []',
    ...Object.fromEntries(places.map((index) => [`refused${index}`, refusedAt(index)])),
    refused: places.map((index) => `variables.refused${index}`).join(' + '),
  },
  rules: [
    {
      expression: '!variables.isChanged || size(variables.refused) == 0',
      message:
        "'spec.git_secrets: names a Secret that ' + variables.user + ' may not get, and those who may get it lend it only; leave it out'",
      reason: 'Forbidden',
    },
  ],
});
