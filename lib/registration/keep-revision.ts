import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { annotations } from '../../crds/labels.ts';
import { canonicalHash } from '../definition/canonical.ts';
import { definitionLevels, isTooDeep } from '../nesting.ts';
import { problemsOf } from './problems-of.ts';
import { controllerRevisions, createUnlessExists, type KubeClient } from '../kube/index.ts';
import { revisionName, revisionOf } from './revision.ts';
import { storedRevision } from './stored-version.ts';
import type { Versioned } from './versioned.ts';

/** Stores the content that an object has now, so that another version can take its place without losing it. */
export interface KeepRevision {
  /** `isChecked`: the content's writer knows that nothing else is stored under its version. */
  (versioned: Versioned, options?: { readonly isChecked: boolean }): Promise<void>;
}

/** Names of revisions of which one process remembers that they are stored. */
const remembered = 1_000;

/**
 * Stores the revision as the controller of its kind does, for content that may be gone before it looks. Content that
 * the controller would refuse is not stored: a definition with mistakes, or other content under a version that exists.
 */
export function createKeepRevision(kube: Pick<KubeClient, 'get' | 'list' | 'create'>): KeepRevision {
  const stored = new LRUCache<string, true>({ max: remembered });
  return async (versioned, { isChecked } = { isChecked: false }) => {
    const { metadata, spec } = versioned;
    // One of too many levels has mistakes, and cannot be hashed.
    if (isTooDeep(spec, definitionLevels)) return;
    const specHash = canonicalHash(spec);
    const name = revisionName(versioned, specHash);
    // The name is made of the uid as well, so it never names anything else.
    if (stored.has(name) || isListed(versioned, name)) return;
    // Hashing and checking a large definition take some 90 ms together.
    await setImmediate();
    if (problemsOf(versioned).some(({ severity }) => severity === 'error')) return;
    const isForced = metadata.annotations?.[annotations.force] === 'true';
    if (!isChecked && !isForced && (await storedRevision(kube, versioned, spec.version)) !== undefined) return;
    await createUnlessExists(kube, controllerRevisions, revisionOf(versioned, specHash));
    stored.set(name, true);
  };
}

function isListed({ status }: Versioned, name: string): boolean {
  return status?.versions?.some(({ revision }) => revision === name) ?? false;
}
