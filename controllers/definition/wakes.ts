import { globalNamespace } from '../../crds/labels.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { CacheReader, InformerChange } from '../../lib/informer/index.ts';
import { type ControllerRevision, keyOf, type KubeObject } from '../../lib/kube/index.ts';
import type { Versioned } from '../../lib/registration/index.ts';

/** Where the definitions of one kind and their revisions are. */
interface WakesDeps<V extends Versioned, E extends KubeObject> {
  readonly definitions: Pick<CacheReader<V>, 'get'>;
  readonly revisions: Pick<CacheReader<ControllerRevision>, 'get'>;
  /** `namespace/name` of the definition of a revision; undefined for one of another kind. */
  readonly definitionKey: (revision: ControllerRevision) => string | undefined;
  /** `namespace/name` of the revision that an execution runs. */
  readonly revisionKey: (execution: E) => string | undefined;
}

/** A revision of a definition that is gone is looked at when it is seen; so is one that the status does not list. */
export function wakeOfRevision<V extends Versioned>(
  { after, own }: InformerChange<ControllerRevision>,
  deps: Pick<WakesDeps<V, never>, 'definitions' | 'definitionKey'>,
): string[] {
  if (after === undefined) return [];
  return own ? unlessThere(deps, after) : unlessListed(deps, after);
}

/** A revision is deleted when no execution runs it any more: looked at when a run ends. */
export function wakeOfRun<V extends Versioned, E extends KubeObject & Parameters<typeof finished>[0]>(
  { before, after }: InformerChange<E>,
  deps: WakesDeps<V, E>,
): string[] {
  const execution = after ?? before;
  const revision = execution && deps.revisions.get(deps.revisionKey(execution) ?? '');
  if (revision === undefined || (after !== undefined && !finished(after))) return [];
  const ended = unlessThere(deps, revision);
  // It may have been the last that could run again a version that was replaced by force.
  return after === undefined ? [...ended, ...unlessListed(deps, revision)] : ended;
}

/** Definitions whose warnings appear or end with one object. Many would be more work than a warning is worth. */
const mostNaming = 100;

/** Definitions that name an object which has come or gone: their warnings say what is not there. */
export function wakeNaming<T extends KubeObject>(
  { before, after }: Pick<InformerChange<T>, 'before' | 'after'>,
  naming: (object: T) => readonly KubeObject[],
): string[] {
  const changed = before === undefined ? after : after === undefined ? before : undefined;
  if (changed === undefined) return [];
  const { namespace } = changed.metadata;
  const named = naming(changed)
    .filter(({ metadata }) => namespace === globalNamespace || metadata.namespace === namespace)
    .slice(0, mostNaming)
    .map(keyOf);
  return [...new Set(named)];
}

type Owner<V extends Versioned> = Pick<WakesDeps<V, never>, 'definitions' | 'definitionKey'>;

/** The definition of a revision, where it is gone. */
function unlessThere<V extends Versioned>(
  { definitions, definitionKey }: Owner<V>,
  revision: ControllerRevision,
): string[] {
  const key = definitionKey(revision);
  return key === undefined || definitions.get(key) !== undefined ? [] : [key];
}

/** The API stores content too, before it writes a newer version over it; the definition's status is to list that. */
function unlessListed<V extends Versioned>(
  { definitions, definitionKey }: Owner<V>,
  revision: ControllerRevision,
): string[] {
  const key = definitionKey(revision);
  if (key === undefined) return [];
  const listed = definitions.get(key)?.status?.versions ?? [];
  return listed.some((version) => version.revision === revision.metadata.name) ? [] : [key];
}
