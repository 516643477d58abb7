export {
  answersTo,
  cachedWorkflow,
  isStill,
  isVisible,
  type ObjectPlace,
  placesOf,
  placesThatHide,
  type WantedWorkflow,
  type WorkflowCache,
  workflowIndexes,
} from './find-workflow.ts';
export { isWholeWorkflow, type ListedWorkflow, listedWorkflow } from './listed-workflow.ts';
export { knownNames } from './known-names.ts';
export { formerIdsOf, formerIdsText } from './former-ids.ts';
export { byName, ownerKey, workflowUser, type WorkflowScope, scopeOf, scopes } from './scope.ts';
