import { finished } from '../../lib/execution/finished.ts';
import { type CacheReader, listBehind } from '../../lib/informer/index.ts';
import {
  type ControllerRevision,
  findObject,
  type KubeClient,
  type KubeObject,
  keyOf,
  type Resource,
} from '../../lib/kube/index.ts';
import { revisionSubject } from '../../lib/registration/index.ts';
import type { CollectDeps, Needs } from './collect-revisions.ts';
import { createSharedReads } from '../../lib/shared-reads.ts';

/** Executions of the definitions of one kind. */
interface RunsDeps<E extends KubeObject, Definition extends string> {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly resource: Resource<E>;
  /** By the revision they run, as `namespace/name`, and by the name or uid of the definition that they were asked for. */
  readonly executions: CacheReader<E, 'revision' | Definition>;
  readonly definition: Definition;
  /** The same two of one execution. */
  readonly revisionOf: (execution: E) => string | undefined;
  readonly definitionOf: (execution: E) => string;
  /** Whether the controllers have not looked at one yet, so that it may be about to run a revision. */
  readonly isUnseen: (execution: E) => boolean;
}

type Execution = KubeObject & Parameters<typeof finished>[0];

/** Which revisions of definitions executions need. */
export function neededRevisions<E extends Execution, Definition extends string>(
  deps: RunsDeps<E, Definition>,
): Needs & Pick<CollectDeps, 'uncached'> {
  return {
    ...needsOf((revision) => cachedRuns(deps, revision)),
    uncached: createSharedReads((namespace) => uncachedNeeds(deps, namespace)),
  };
}

const needsOf = (runsOf: (revision: ControllerRevision) => readonly Execution[]): Needs => ({
  isInUse: (revision) => runsOf(revision).some((execution) => !finished(execution)),
  isNamed: (revision) => runsOf(revision).length > 0,
});

/** Executions that run it, and those that have not been looked at yet and may be about to, by name or uid. */
function cachedRuns<E extends KubeObject, Definition extends string>(
  { executions, definition, isUnseen }: RunsDeps<E, Definition>,
  revision: ControllerRevision,
): E[] {
  const { name = '', uid = '' } = revisionSubject(revision) ?? {};
  const all = [...executions.byIndex(definition, name), ...executions.byIndex(definition, uid)];
  return [...executions.byIndex('revision', keyOf(revision)), ...all.filter(isUnseen)];
}

/** By the executions of a namespace, or of all, that the server has in a newer version than the cache. */
async function uncachedNeeds<E extends Execution, Definition extends string>(
  deps: RunsDeps<E, Definition>,
  namespace: string,
): Promise<Needs> {
  const place = namespace === '' ? {} : { namespace };
  const runs: UncachedRun[] = [];
  for await (const { metadata } of listBehind({ ...deps, cache: deps.executions }, place)) {
    const { name = '', namespace: own } = metadata;
    const found = await findObject(deps.kube, deps.resource, { name, namespace: own });
    if (found !== undefined) runs.push(uncachedRun(deps, found));
  }
  return needsOf((revision) => runs.filter((run) => needs(run, revision)));
}

/** The little that is kept of an execution: in full it may have a megabyte. */
interface UncachedRun extends Pick<Execution, 'metadata' | 'status'> {
  readonly revision: string | undefined;
  /** Absent where it has been looked at. */
  readonly wanted?: string;
}

function uncachedRun<E extends Execution>(
  { revisionOf, definitionOf, isUnseen }: Pick<RunsDeps<E, never>, 'revisionOf' | 'definitionOf' | 'isUnseen'>,
  execution: E,
): UncachedRun {
  const { phase } = execution.status ?? {};
  return {
    metadata: {},
    ...(phase === undefined ? {} : { status: { phase } }),
    revision: revisionOf(execution),
    ...(isUnseen(execution) ? { wanted: definitionOf(execution) } : {}),
  };
}

function needs({ revision, wanted }: UncachedRun, of: ControllerRevision): boolean {
  const { name, uid } = revisionSubject(of) ?? {};
  return revision === keyOf(of) || (wanted !== undefined && (wanted === name || wanted === uid));
}
