import type { ControllerRevision } from '../../lib/kube/index.ts';
import { agentExecutionInformer, agentRevisionKey } from '../agent-execution/informer.ts';
import type { Opened, Wakes } from '../runtime/module.ts';
import { wakeItself } from '../runtime/wakes.ts';
import { tenantInformer } from '../tenants.ts';
import { agentKey, revisionInformer } from '../workflow/informers.ts';
import { agentInformer } from './informer.ts';
import { hasEnded } from './runs-of.ts';

/** The caches that agents are judged from. */
export const agentInformers = {
  agents: agentInformer,
  revisions: revisionInformer,
  executions: agentExecutionInformer,
  tenants: tenantInformer,
} as const;

/** As for workflows: a revision is looked at when it is seen, and when an execution that ran it ends. */
export const agentWakes: Wakes<typeof agentInformers> = {
  agents: wakeItself,
  revisions({ after, own }, informers) {
    if (after === undefined) return [];
    return own ? unlessThere(informers, after) : unlessListed(informers, after);
  },
  executions({ before, after }, informers) {
    const execution = after ?? before;
    const revision = execution && informers.revisions.cache.get(agentRevisionKey(execution) ?? '');
    if (revision === undefined || (after !== undefined && !hasEnded(after))) return [];
    const ended = unlessThere(informers, revision);
    return after === undefined ? [...ended, ...unlessListed(informers, revision)] : ended;
  },
};

type Caches = Pick<Opened<typeof agentInformers>, 'agents'>;

/** The agent of a revision, where it is gone. */
function unlessThere({ agents }: Caches, revision: ControllerRevision): string[] {
  const key = agentKey(revision);
  return key === undefined || agents.cache.get(key) !== undefined ? [] : [key];
}

/** The API stores content too, before it writes a newer version over it; the agent's status is to list that. */
function unlessListed({ agents }: Caches, revision: ControllerRevision): string[] {
  const key = agentKey(revision);
  if (key === undefined) return [];
  const listed = agents.cache.get(key)?.status?.versions ?? [];
  return listed.some((version) => version.revision === revision.metadata.name) ? [] : [key];
}
