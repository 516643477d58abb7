export { createKeepRevision, type KeepRevision } from './keep-revision.ts';
export { planRegistration, type Registration, type RegistrationFacts } from './plan-registration.ts';
export { readWorkflow } from './read-workflow.ts';
export { type RegisterDeps, type RegisterOptions, registerWorkflow } from './register-workflow.ts';
export {
  holdsItsContent,
  isRevisionOf,
  isStored,
  registeredAt,
  revisionName,
  revisionOf,
  revisionSelector,
  specOf,
} from './revision.ts';
export { isContentOf, type RevisionReader, specOfVersion, storedRevision } from './stored-version.ts';
