import { apiVersion, labels } from '../labels.ts';
import { accountVariables, type Identities } from './accounts.ts';
import { isOwned, ownersOf } from './marks.ts';
import type { AdmissionPolicy } from './policy.ts';

/** The names that the output store gives (lib/output-store/config-map-store.ts), for whatever asks for one. */
const storedName = '^output-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-';

const holdsDocument = `oldObject != null && ${ownersOf('oldObject')}.exists(o, o.apiVersion == '${apiVersion}' && o.kind == 'ApiSpec')`;

/**
 * Outputs of executions, records of fleet runs and documents of ApiSpecs. A user who deletes one, or takes the name of one to
 * come, makes a colleague's work lost. A document has a random name, so its owner tells what it is. One that a deletion has
 * orphaned may be deleted by all. The garbage collector and the controller of namespaces may write all ConfigMaps.
 */
export const storedOutputPolicy = (identities: Identities): AdmissionPolicy => ({
  name: 'stored-outputs',
  api: { group: '', version: 'v1' },
  resources: ['configmaps'],
  namespaceLabel: labels.tenant,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  variables: {
    ...accountVariables(identities),
    verb: "request.operation == 'CREATE' ? 'create' : (request.operation == 'DELETE' ? 'delete' : 'update')",
    mayAll: "authorizer.group('').resource('configmaps').check(variables.verb).allowed()",
    name: "object == null ? oldObject.metadata.name : (has(object.metadata.name) ? object.metadata.name : '')",
    holdsDocument,
    isOrphan: `object == null && !${isOwned('oldObject')}`,
  },
  rules: [
    {
      expression: `variables.isController || !variables.name.matches('${storedName}') || variables.isOrphan || variables.mayAll`,
      message:
        "'metadata.name: ' + variables.name + ' is a stored output, which the Windlass controllers alone write, not ' + variables.user + '; delete its execution or fleet run'",
      reason: 'Forbidden',
    },
    {
      expression: 'variables.isTrusted || !variables.holdsDocument || variables.mayAll',
      message:
        "'metadata.name: ' + variables.name + ' holds the document of an ApiSpec, which the tool gateway alone writes, not ' + variables.user + '; delete its ApiSpec'",
      reason: 'Forbidden',
    },
  ],
});
