export { credentialProblems, credentialTargetProblems, hasCredentials } from './credential-problems.ts';
export { checkDocumentSize, checkTenantRoom } from './document-size.ts';
export { documentWarnings } from './document-warnings.ts';
export { type ApiDocuments, createApiDocuments } from './documents.ts';
export { type ApiSpecCache, findApiSpec, missingApiSpec } from './find-api-spec.ts';
export { problemText } from './problem-text.ts';
export {
  builtInNameProblems,
  holderOf,
  isShared,
  objectNameOf,
  type Registered,
  registeredNameOf,
} from './registered.ts';
export { partlyKept } from './slim.ts';
export { documentMaps, type PackedDocument, packDocument } from './stored-document.ts';
export { toolWarnings } from './tool-warnings.ts';
export { type UnsentOperations, unsentOperations } from './unsent.ts';
