/** Drives agents as the API does and streams their events, with everything real but the cluster and who asks. */
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { createConversationFeed } from '../../../api/agents/live.ts';
import { createExecutionNews } from '../../../api/routes/agent-executions/execution-news.ts';
import { createEventsRoute } from '../../../api/routes/agent-executions/stream.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createHttpApp } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { newId } from '../../../lib/ids.ts';
import { createModels } from '../../../lib/models/create-models.ts';
import { readNodeConfig } from '../../../lib/node-config/index.ts';
import { createServerMetrics } from '../../../lib/process/server-metrics.ts';
import { archiveOf } from '../../../test/agents/archive-of.ts';
import { executionOf, SharedExecutions, startReplica } from '../../../test/agents/replica.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { type AgentSetup, agentTenant, nodeConfigOf } from '../agent-setup.ts';
import { benchBus, serveForParent } from '../lane-setup.ts';

// As in the API's own main.ts.
setFlagsFromString('--no-allocation-site-pretenuring');

const setup = JSON.parse(process.argv[2] ?? '{}') as AgentSetup;
const bus = benchBus(setup.natsUrl, 'bench-api');
const metrics = createServerMetrics();
const models = createModels(
  { clock: systemClock, logger: silentLogger, random: Math.random, registry: metrics.registry },
  readNodeConfig(nodeConfigOf(setup), { KEY: 'bench' }, () => ''),
);
const shared = new SharedExecutions();
startReplica({ bus, shared, ask: (request) => models.ask(request) });

const agentExecutions = {
  locate: async (_tenant: string, id: string) => shared.objects.get(id),
  whole: async ({ metadata }: { readonly metadata: { readonly uid?: string } }) =>
    shared.objects.get(metadata.uid ?? ''),
};
const routes = [
  createEventsRoute({
    clock: systemClock,
    feed: createConversationFeed(bus, systemClock),
    news: createExecutionNews(shared.informer as never),
    archived: archiveOf(),
    cluster: { agentExecutions: agentExecutions as never },
  }),
];
const caller: Caller = {
  subject: 'bench',
  kind: 'operator',
  tenant: agentTenant,
  roles: [],
  scopes: [],
  until: Number.MAX_SAFE_INTEGER,
};
process.on('message', (uids) => {
  for (const uid of String(uids).split(',')) shared.put(executionOf(uid, { namespace: agentTenant }));
});
await serveForParent(
  createHttpApp({
    clock: systemClock,
    logger: silentLogger,
    newId,
    metrics,
    routes,
    authenticate: async () => caller,
    tenantOf: ({ tenant }: Caller) => tenant,
  }),
);
