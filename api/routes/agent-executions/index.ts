import type { Clock } from '../../../lib/clock.ts';
import type { Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import type { ConversationFeed } from '../../agents/conversation/feed.ts';
import type { Cluster } from '../../cluster/index.ts';
import type { ArchivedAgentExecutions } from '../archived.ts';
import { createCancelRoute, createDeleteRoute } from './cancel.ts';
import { createExecutionNews } from './follow.ts';
import { createListRoute, createReadRoute, createTranscriptRoute } from './read.ts';
import { createStartRoute, type StartAgentDeps } from './start.ts';
import { createEventsRoute, createStreamRoute } from './stream.ts';

export { contracts } from './contract.ts';

interface AgentExecutionRoutesDeps extends StartAgentDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly feed: ConversationFeed;
  readonly archived: ArchivedAgentExecutions;
}

/** Routes of executions of agents (spec 1 §4.2). */
export function createAgentExecutionRoutes(deps: AgentExecutionRoutesDeps): Route<Caller>[] {
  const sources = { ...deps, news: createExecutionNews(deps.cluster.informers.agentExecutions) };
  return [
    createStartRoute(deps),
    createListRoute(deps),
    createReadRoute(deps),
    createCancelRoute(deps),
    createDeleteRoute(deps),
    createTranscriptRoute(sources),
    createStreamRoute(sources),
    createEventsRoute(sources),
  ];
}
