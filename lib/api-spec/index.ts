export { documentWarnings } from './document-warnings.ts';
export { checkDocumentSize, checkTenantRoom } from './document-size.ts';
export { credentialProblems, credentialTargetProblems, hasCredentials } from './credential-problems.ts';
export { toolWarnings } from './tool-warnings.ts';
export { unsentOperations } from './unsent.ts';
export { type ApiDocuments, createApiDocuments } from './documents.ts';
export { type ApiSpecCache, findApiSpec, missingApiSpec } from './find-api-spec.ts';
export { partlyKept } from './slim.ts';
export { problemText } from './problem-text.ts';
export {
  builtInNameProblems,
  holderOf,
  isShared,
  objectNameOf,
  type Registered,
  registeredNameOf,
} from './registered.ts';
export { documentMaps, packDocument, type PackedDocument } from './stored-document.ts';
