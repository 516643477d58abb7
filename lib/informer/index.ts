export type { Cache, CacheReader, Change } from './cache.ts';
export type { IndexFunction } from './cache-indexes.ts';
export { createCache } from './cache.ts';
export { createInformer, type Informer, type InformerChange } from './informer.ts';
export type { ReflectorDeps, ReflectorObserver } from './reflector.ts';
export { compareResourceVersions } from './resource-version.ts';
export { stripStrangers } from './slim-metadata.ts';
export { createWakesByUid, type WakesByUid } from './wakes-by-uid.ts';
export { createWholeObjects, type WholeObjects, type WholeOptions } from './whole-objects.ts';
