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

/**
 * The writer of a GitBinding decides which host gets its Secret, and who pushes with it, so the writer must be able to
 * read the Secret (ADR 0095). The API asks the SecurityContext of the caller in place of this (`git_secrets`).
 */
export const gitBindingPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'git-binding-secrets',
  resources: ['gitbindings'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    ...accountVariables({ ...identities, trustedWriters: identities.apis }),
    secret: "has(object.spec.credentials) ? object.spec.credentials.secret.name : ''",
    isMoved:
      'oldObject == null || object.spec.repo_url != oldObject.spec.repo_url || !has(oldObject.spec.credentials) || object.spec.credentials != oldObject.spec.credentials',
  },
  rules: [
    {
      expression: `variables.secret == '' || !variables.isMoved || variables.isTrusted || ${mayGetSecret('variables.secret')}`,
      message:
        "'spec.credentials.secret: Secret ' + variables.secret + ' is sent to the host of repo_url; ' + variables.user + ' needs the right to get this Secret'",
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
