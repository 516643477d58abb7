export type * from './client.ts';
export type * from './core-objects.ts';
export {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isRetryable,
  KubeError,
  type RequestName,
} from './kube-error.ts';
export type * from './objects.ts';
export { controllerOf, keyOf, keyOfRef, refOfKey } from './objects.ts';
export * from './resource.ts';
