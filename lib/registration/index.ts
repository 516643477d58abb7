export { createKeepRevision } from './keep-revision.ts';
export { planRegistration, type Registration } from './plan-registration.ts';
export { readWorkflow } from './read-workflow.ts';
export { type RegisterDeps, type RegisterOptions, registerAgent, registerWorkflow } from './register-workflow.ts';
export { problemsOf } from './problems-of.ts';
export {
  holdsItsContent,
  isRevisionOf,
  isStored,
  registeredAt,
  revisionName,
  revisionOf,
  revisionSelector,
  specOf,
  revisionSubject,
  versionOf,
} from './revision.ts';
export { isContentOf, type RevisionReader, specOfVersion, storedRevision } from './stored-version.ts';
export type { Versioned, VersionedKind } from './versioned.ts';
