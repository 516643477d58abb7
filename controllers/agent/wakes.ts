import type { Agent } from '../../crds/schema/agent.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import type { InformerChange } from '../../lib/informer/index.ts';
import { agentExecutionInformer, agentRevisionKey } from '../agent-execution/informer.ts';
import { wakeNaming, wakeOfRevision, wakeOfRun } from '../definition/wakes.ts';
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

/** Agents of which one that has come or gone judges the answers. */
export const judgedBy = (
  change: Pick<InformerChange<Agent>, 'before' | 'after'>,
  agents: Pick<CacheReader<Agent, 'judge'>, 'byIndex'>,
): string[] =>
  wakeNaming(change, ({ metadata: { name, uid = '' } }) =>
    [name, uid].flatMap((judge) => agents.byIndex('judge', judge)),
  );

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
