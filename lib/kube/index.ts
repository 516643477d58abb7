export type * from './client.ts';
export { type ClockSkew, createClockSkew } from './clock-skew.ts';
export type * from './core-objects.ts';
export { createOwn, type Own, takeOrCreateOwn } from './create-own.ts';
export { createUnlessExists } from './create-unless-exists.ts';
export type { CredentialSource, Endpoint, TlsMaterial } from './credentials.ts';
export { createCredentialSource } from './credentials.ts';
export { withFence } from './fence.ts';
export { findAgain, findObject, findWanted } from './find-object.ts';
export { createKubeClient } from './http-client.ts';
export {
  isAbsent,
  isAdmissionUnready,
  isAlreadyExists,
  isConflict,
  isDenied,
  isFailedTest,
  isForbidden,
  isGone,
  isIdentityRefused,
  isInvalid,
  isMissingKind,
  isNamespaceGone,
  isNotFound,
  isOutOfBounds,
  isQuotaExceeded,
  isQuotaRaced,
  isQuotaUncounted,
  isRetryable,
  isTooLarge,
  KubeError,
  lacksRights,
  mayPass,
  refusesObject,
  type RequestName,
} from './kube-error.ts';
export { findCredentials } from './kubeconfig-credentials.ts';
export { createLastingRefusals, type LastingRefusals, refusalsApartMs } from './lasting-refusals.ts';
export { listPages } from './list-pages.ts';
export { isObjectName } from './object-name.ts';
export type * from './objects.ts';
export { keyOf, refOfKey } from './objects.ts';
export * from './resource.ts';
export type { RequestReport, TransportDeps, TransportOptions } from './transport.ts';
export { unlessChanged } from './unless-changed.ts';
export { whileRaced } from './while-raced.ts';
