/** Drives agents as the API does and streams their events, with everything real but the cluster and who asks. */
import { generateKeyPairSync } from 'node:crypto';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { createAttestations } from '../../../api/agents/pods/attestations.ts';
import { createConversationFeed } from '../../../api/agents/conversation/live.ts';
import { createPodIdentity } from '../../../api/agents/pods/pod-identity.ts';
import { createExecutionNews } from '../../../api/routes/agent-executions/follow.ts';
import { createEventsRoute } from '../../../api/routes/agent-executions/stream.ts';
import { createAgentPodRoutes } from '../../../api/routes/agent-pods/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createSealSessions, type SealKey } from '../../../lib/envelope/index.ts';
import { createHttpApp } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { newId } from '../../../lib/ids.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { createModels } from '../../../lib/models/create-models.ts';
import { readNodeConfig } from '../../../lib/node-config/index.ts';
import { createServerMetrics } from '../../../lib/process/server-metrics.ts';
import type { Tool } from '../../../lib/tools/tool.ts';
import { archiveOf } from '../../../test/agents/archive-of.ts';
import { executionOf, SharedExecutions, specOf, startReplica } from '../../../test/agents/replica.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { type AgentSetup, agentTenant, nodeConfigOf } from '../agent-setup.ts';
import { benchBus, serveForParent } from '../lane-setup.ts';

// As in the API's own main.ts.
setFlagsFromString('--no-allocation-site-pretenuring');

/** Its command is run by the measuring process. */
const podTool: Tool = {
  name: 'cmd.run',
  description: 'runs',
  input_schema: { type: 'object' },
  skip_judge: true,
  idempotent: true,
  fleet_capable: false,
  run: {
    kind: 'pod',
    plan: () => ({
      command: 'true',
      args: [],
      cwd: '/workspace',
      env_additions: {},
      timeout_secs: 10,
      max_output_bytes: 524_288,
    }),
    answer: (_caller, _args, { stdout }) => ({ content: stdout, isError: false }),
  },
};

const setup = JSON.parse(process.argv[2] ?? '{}') as AgentSetup;
const bus = benchBus(setup.natsUrl, 'bench-api');
const metrics = createServerMetrics();
const models = createModels(
  { clock: systemClock, logger: silentLogger, random: Math.random, registry: metrics.registry },
  readNodeConfig(nodeConfigOf(setup), { KEY: 'bench' }, () => ''),
);
const shared = new SharedExecutions();
const { drivers } = startReplica({
  bus,
  shared,
  ask: (request) => models.ask(request),
  tools: [podTool],
  spec: specOf({ execution: { max_tool_calls: 10_000 } }),
});

const agentExecutions = {
  locate: async (_tenant: string, id: string) => shared.objects.get(id),
  whole: async ({ metadata }: { readonly metadata: { readonly uid?: string } }) =>
    shared.objects.get(metadata.uid ?? ''),
};
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key: SealKey = { privateKey, publicKey, issuer: 'windlass', audience: 'windlass-tools' };
/** The API server's answer on the pod of each execution: the measuring process. */
const kube = {
  get: async () => ({ metadata: { uid: 'pod-1' }, spec: { containers: [] }, status: { podIP: '127.0.0.1' } }),
} as unknown as KubeClient;

const routes = [
  ...createAgentPodRoutes<Caller>({
    clock: systemClock,
    executions: shared.informer,
    tenants: { tenantOf: (namespace) => namespace },
    identity: createPodIdentity({ kube, clock: systemClock }),
    attestations: createAttestations({ key, sessions: createSealSessions(bus), clock: systemClock, newId }),
    drivers,
    feed: createConversationFeed(bus, systemClock),
    securityOf: async () => ({ name: 'default', tools: ['*'], waiting: [] }),
    modelOf: async () => 'default',
  }),
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
