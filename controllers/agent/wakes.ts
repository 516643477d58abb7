import type { Agent } from '../../crds/schema/agent.ts';
import { isVisible } from '../../lib/agent/find-agent.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import type { InformerChange } from '../../lib/informer/index.ts';
import { keyOf } from '../../lib/kube/index.ts';
import { agentExecutionInformer, agentRevisionKey } from '../agent-execution/informer.ts';
import { wakeOfRevision, wakeOfRun } from '../definition/wakes.ts';
import type { Wakes } from '../runtime/module.ts';
import { wakeItself } from '../runtime/wakes.ts';
import { tenantInformer } from '../tenants.ts';
import { agentKey, revisionInformer } from '../workflow/informers.ts';
import { agentInformer } from './informer.ts';

/** The caches that agents are judged from. */
export const agentInformers = {
  agents: agentInformer,
  revisions: revisionInformer,
  executions: agentExecutionInformer,
  tenants: tenantInformer,
} as const;

/** Agents whose warning of a missing judge appears or ends with a judge. Many would be more work than a warning is worth. */
const mostJudged = 100;

export function judgedBy(
  { before, after }: Pick<InformerChange<Agent>, 'before' | 'after'>,
  agents: Pick<CacheReader<Agent, 'judge'>, 'byIndex'>,
): string[] {
  const judge = before === undefined ? after : after === undefined ? before : undefined;
  if (judge === undefined) return [];
  const { name, uid = '' } = judge.metadata;
  const judged = [...agents.byIndex('judge', name), ...agents.byIndex('judge', uid)];
  return judged
    .filter(({ metadata }) => isVisible(judge, metadata.namespace ?? ''))
    .slice(0, mostJudged)
    .map(keyOf);
}

/** As for workflows: a revision is looked at when it is seen, and when an execution that ran it ends. */
export const agentWakes: Wakes<typeof agentInformers> = {
  agents: (change, { agents }) => [...wakeItself(change), ...judgedBy(change, agents.cache)],
  revisions: (change, { agents }) => wakeOfRevision(change, { definitions: agents.cache, definitionKey: agentKey }),
  executions: (change, { agents, revisions }) =>
    wakeOfRun(change, {
      definitions: agents.cache,
      revisions: revisions.cache,
      definitionKey: agentKey,
      revisionKey: agentRevisionKey,
    }),
};
