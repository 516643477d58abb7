export { checkDocumentSize, checkTenantRoom } from './document-size.ts';
export { type ApiDocuments, createApiDocuments } from './documents.ts';
export { type ApiSpecCache, findApiSpec } from './find-api-spec.ts';
export { problemText } from './problem-text.ts';
export { builtInNameProblems, holderOf, objectNameOf, type Registered, registeredNameOf } from './registered.ts';
export {
  isWholeApiSpec,
  isWholeCliTool,
  isWholeToolWorkflow,
  slimApiSpec,
  slimCliTool,
  slimToolWorkflow,
} from './slim.ts';
export { documentMaps, packDocument, type PackedDocument, readDocument } from './stored-document.ts';
