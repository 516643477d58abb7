import { finished } from '../../lib/execution/finished.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { type ControllerRevision, type KubeObject, keyOf } from '../../lib/kube/index.ts';
import { revisionSubject } from '../../lib/registration/index.ts';
import type { CollectDeps } from './collect-revisions.ts';

/** Executions of the definitions of one kind. */
interface RunsDeps<E extends KubeObject, Definition extends string> {
  /** By the revision they run, as `namespace/name`, and by the name or uid of the definition that they were asked for. */
  readonly executions: CacheReader<E, 'revision' | Definition>;
  readonly definition: Definition;
  /** Whether the controllers have not looked at one yet, so that it may be about to run a revision. */
  readonly isUnseen: (execution: E) => boolean;
}

/** Which revisions of definitions executions need. */
export function neededRevisions<E extends KubeObject & Parameters<typeof finished>[0], Definition extends string>(
  deps: RunsDeps<E, Definition>,
): Pick<CollectDeps, 'isInUse' | 'isNamed'> {
  return {
    isInUse: (revision) => runsOf(deps, revision).some((execution) => !finished(execution)),
    isNamed: (revision) => runsOf(deps, revision).length > 0,
  };
}

/** Executions that run it, and those that have not been looked at yet and may be about to, by name or uid. */
function runsOf<E extends KubeObject, Definition extends string>(
  { executions, definition, isUnseen }: RunsDeps<E, Definition>,
  revision: ControllerRevision,
): E[] {
  const { name = '', uid = '' } = revisionSubject(revision) ?? {};
  const all = [...executions.byIndex(definition, name), ...executions.byIndex(definition, uid)];
  return [...executions.byIndex('revision', keyOf(revision)), ...all.filter(isUnseen)];
}
