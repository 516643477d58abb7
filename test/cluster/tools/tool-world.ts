import { createWindlassClient } from '../../../client/index.ts';
import { apiVersion } from '../../../crds/labels.ts';
import type { AgentSpec } from '../../../crds/schema/agent.ts';
import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import { agentExecutions, agents, securityContexts } from '../../../lib/kinds.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { busybox } from '../../builders/workflow-builder.ts';
import { type Called, type GatewayStage, openGatewayStage, type SigningSession } from '../gateway/stage.ts';
import { startGitServer } from '../git/git-server.ts';
import { openEdgeWorldOf } from '../edge/harness/edge-world.ts';
import { connectedHost } from '../edge/harness/real-host.ts';
import { ensureWorkflow, startExecution, waitUntilWaiting } from '../harness/executions.ts';
import { fleetRuns } from '../harness/kinds.ts';
import { waitForObject } from '../harness/wait.ts';
import type { Arguments, Noted } from './tool-case.ts';
import { openWebSite } from './web-site.ts';

/** A tenant in which every tool has something to work on, and sessions that may call all tools and none. */
export interface ToolWorld {
  /** Ids that cases need. */
  readonly noted: Noted;
  /** Every tool is permitted. */
  call(tool: string, args: Arguments): Promise<Called>;
  /** No built-in tool is permitted. */
  callWithoutRight(tool: string, args: Arguments): Promise<Called>;
  /** Calls by an agent, one after the other, in one container. */
  callInContainer(calls: readonly { readonly tool: string; readonly args: Arguments }[]): Promise<readonly ToolEnd[]>;
  close(): Promise<void>;
}

/** The record of a call that has ended. */
interface ToolEnd {
  readonly tool: string;
  readonly content: string;
  readonly is_error: boolean;
}

export async function openToolWorld(): Promise<ToolWorld> {
  const stage = await openGatewayStage('every-tool');
  const made: (() => Promise<unknown>)[] = [() => stage.strike()];
  const close = async (): Promise<void> => {
    for (const end of made.toReversed()) await end();
  };
  try {
    const { kube, tenant } = stage;
    const [git, site] = await Promise.all([startGitServer(kube, tenant), openWebSite(kube)]);
    made.push(() => Promise.all([git.remove(), site.remove()]));
    await Promise.all([makeContexts(stage, site.hosts), makeAgents(stage), makeWorkflows(stage)]);
    const run = await startLongRun(kube, await connectHost(stage, made), tenant);
    const roles = ['svc.edge.fleet.read', 'svc.edge.fleet.manage'];
    const permitted = await stage.session({ context: 'every-tool', roles });
    const barred = await stage.session({ context: 'no-tool', roles });
    const callIn = (session: SigningSession) => (tool: string, args: Arguments) =>
      stage.call(session, { tool, args, path: '/v1/seal/invoke' });
    return {
      noted: { repository: git.https, run, site: site.url },
      call: callIn(permitted),
      callWithoutRight: callIn(barred),
      callInContainer: (calls) => callInContainer(stage, calls),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A daemon of this machine. */
async function connectHost({ kube, tenant }: GatewayStage, made: (() => Promise<unknown>)[]): Promise<string> {
  const edge = await openEdgeWorldOf(kube, tenant);
  made.push(() => edge.close());
  const host = await connectedHost(edge, 'north');
  made.push(async () => host[Symbol.asyncDispose]());
  return host.nodeId;
}

/** The id of a run that ends when it is cancelled. */
async function startLongRun(kube: KubeClient, node: string, namespace: string): Promise<string> {
  const { username } = await kube.whoAmI();
  const args = { command: 'sh', args: ['-c', 'sleep 300'] };
  const { metadata } = await kube.create(fleetRuns, {
    apiVersion,
    kind: 'FleetRun',
    metadata: { name: 'long', namespace },
    spec: { target: { Node: node }, tool: 'cmd.run', args, requested_by: username },
  });
  await waitForObject(
    kube,
    { resource: fleetRuns, namespace, name: 'long' },
    ({ status }) => (status?.in_flight ?? 0) > 0,
  );
  return metadata.uid ?? '';
}

async function makeContexts({ kube, tenant: namespace }: GatewayStage, hosts: readonly string[]): Promise<void> {
  const contexts = {
    'every-tool': {
      tier: 'operator' as const,
      path_allowlist: ['volume:*/**'],
      domain_allowlist: [...hosts],
      git_secrets: ['https'],
    },
    'no-tool': { tier: 'operator' as const, tools: ['orders.*'] },
  };
  for (const [name, spec] of Object.entries(contexts))
    await kube.create(securityContexts, { apiVersion, kind: 'SecurityContext', metadata: { name, namespace }, spec });
}

/** The scripted model of the demonstration makes each of its inputs a conversation. */
const scripted = (more: Partial<AgentSpec> = {}): AgentSpec => ({
  version: '1.0.0',
  runtime: { model: 'default' },
  task: { instruction: 'You say what your input says.' },
  ...more,
});

async function makeAgents({ kube, tenant: namespace }: GatewayStage): Promise<void> {
  const tool = 'svc.tools.list';
  const all = {
    'agent-author': scripted(),
    'workflow-author': scripted(),
    hands: scripted({
      tools: [
        { name: 'fs.*' },
        { name: 'cmd', executor: 'builtin:cmd', config: { subcommand_allowlist: { wc: ['-l'] } } },
      ],
      execution: { max_tool_calls: 200 },
    }),
    asker: scripted({ tools: [{ name: tool }], approval: { tools: [tool], timeout_seconds: 3_600 } }),
  };
  for (const [name, spec] of Object.entries(all))
    await kube.create(agents, { apiVersion, kind: 'Agent', metadata: { name, namespace }, spec });
  const spec = { agent: 'asker', input: JSON.stringify([{ tool_calls: [{ name: tool }] }]) };
  for (const name of ['held-1', 'held-2']) {
    const metadata = { name, namespace };
    await kube.create(agentExecutions, { apiVersion, kind: 'AgentExecution', metadata, spec });
    await waitForObject(kube, { resource: agentExecutions, ...metadata }, ({ status }) => status?.phase === 'waiting');
  }
}

const workflowsOfTest: Readonly<Record<string, WorkflowSpec>> = {
  'make-file': {
    version: '1.0.0',
    description: 'Makes a file.',
    storage: { workspace: { storage_class: 'ephemeral', ttl_hours: 1, size_limit_mb: 16 } },
    initial_state: 'make',
    states: {
      make: {
        kind: 'ContainerRun',
        image: busybox,
        command: ['sh', '-c', 'echo made >a.txt; cat a.txt'],
        volumes: [{ name: 'workspace', mount_path: '/workspace' }],
        transitions: [],
      },
    },
  },
  ask: {
    version: '1.0.0',
    initial_state: 'ask',
    states: { ask: { kind: 'Human', prompt: 'Go on?', timeout: '1h', transitions: [] } },
  },
};

async function makeWorkflows({ kube, tenant: namespace }: GatewayStage): Promise<void> {
  for (const [name, spec] of Object.entries(workflowsOfTest))
    await ensureWorkflow(kube, { apiVersion, kind: 'Workflow', metadata: { name, namespace }, spec });
  for (const name of ['ask-1', 'ask-2']) {
    await startExecution(kube, { name, namespace }, { workflow: 'ask' });
    await waitUntilWaiting(kube, { name, namespace, state: 'ask' });
  }
}

async function callInContainer(
  stage: GatewayStage,
  calls: readonly { readonly tool: string; readonly args: Arguments }[],
): Promise<readonly ToolEnd[]> {
  const { kube, tenant: namespace, api } = stage;
  const turns = calls.map(({ tool, args }) => ({ tool_calls: [{ name: tool, arguments: args }] }));
  const input = JSON.stringify([...turns, { content: 'done' }]);
  // A test that is tried again starts another one.
  const metadata = { name: `hands-${Date.now().toString(36)}`, namespace };
  await kube.create(agentExecutions, { apiVersion, kind: 'AgentExecution', metadata, spec: { agent: 'hands', input } });
  await waitForObject(
    kube,
    { resource: agentExecutions, ...metadata },
    ({ status }) => status?.finished_at !== undefined,
    { timeoutMs: 120_000 },
  );
  const client = createWindlassClient({ server: api, token: await stage.token([]) });
  const ends: ToolEnd[] = [];
  let cursor: string | undefined;
  do {
    const { records, next_cursor } = await client.readAgentTranscript({
      execution_id: metadata.name,
      ...(cursor === undefined ? {} : { cursor }),
    });
    ends.push(
      ...(records as unknown as (ToolEnd & { readonly kind: string })[]).filter(({ kind }) => kind === 'tool_ended'),
    );
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
  return ends;
}
