import { finished } from '../../lib/execution/finished.ts';
import type { ControllerRevision } from '../../lib/kube/index.ts';
import { executionInformer, revisionKey } from '../execution/informer.ts';
import type { Opened, Wakes } from '../runtime/module.ts';
import { wakeItself } from '../runtime/wakes.ts';
import { tenantInformer } from '../tenants.ts';
import { revisionInformer, workflowInformer, workflowKey } from './informers.ts';

/** The caches that workflows are judged from. */
export const workflowInformers = {
  workflows: workflowInformer,
  revisions: revisionInformer,
  executions: executionInformer,
  tenants: tenantInformer,
} as const;

/**
 * A revision without its workflow is deleted when no execution runs it any more: checked when it is seen and when a
 * run ends.
 */
export const workflowWakes: Wakes<typeof workflowInformers> = {
  workflows: wakeItself,
  revisions({ after, own }, informers) {
    if (after === undefined) return [];
    return own ? unlessThere(informers, after) : unlessListed(informers, after);
  },
  executions({ before, after }, informers) {
    const execution = after ?? before;
    const revision = execution && informers.revisions.cache.get(revisionKey(execution) ?? '');
    if (revision === undefined || (after !== undefined && !finished(after))) return [];
    const ended = unlessThere(informers, revision);
    // It may have been the last that could run again a version that was replaced by force.
    return after === undefined ? [...ended, ...unlessListed(informers, revision)] : ended;
  },
};

type Caches = Pick<Opened<typeof workflowInformers>, 'workflows'>;

/** The workflow of a revision, where it is gone. */
function unlessThere({ workflows }: Caches, revision: ControllerRevision): string[] {
  const key = workflowKey(revision);
  return key === undefined || workflows.cache.get(key) !== undefined ? [] : [key];
}

/** The API stores content too, before it writes a newer version over it; the workflow's status is to list that. */
function unlessListed({ workflows }: Caches, revision: ControllerRevision): string[] {
  const key = workflowKey(revision);
  if (key === undefined) return [];
  const listed = workflows.cache.get(key)?.status?.versions ?? [];
  return listed.some((version) => version.revision === revision.metadata.name) ? [] : [key];
}
