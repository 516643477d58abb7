import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contracts } from '../../../api/routes/contracts.ts';
import { type Contract, securityOfContract } from '../../../lib/http/contract.ts';
import { errorsOf } from '../../../lib/http/shared-errors.ts';
import { controllerRevisions } from '../../../lib/kube/index.ts';
import { anEnd, aQuestion, aWorkflow } from '../../builders/workflow-builder.ts';
import { everyEdgeScope } from '../../builders/edge-world.ts';
import { type PaymentProviderDouble, startPaymentProvider } from '../../payment-provider/payment-provider.ts';
import { type Answer, createSend } from '../admission/api.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import { startExecution, waitUntilFinished, waitUntilWaiting } from '../harness/executions.ts';
import {
  agentExecutions,
  agents,
  edgeGroups,
  fleetRuns,
  volumes,
  workflowExecutions,
  workflows,
} from '../harness/kinds.ts';
import { pause, waitForObject } from '../harness/wait.ts';
import type { Received } from './harness/index.ts';
import { type Parts, type Row, rowsOf } from './hostile-rows.ts';
import { type StimuliWorld, signatureOf, startStimuliWorld } from './stimuli-world.ts';

/** Objects of one tenant that a path can name. */
type Ids = Readonly<
  Record<
    | 'execution_id'
    | 'id'
    | 'workflow'
    | 'source'
    | 'volume_id'
    | 'agent'
    | 'name'
    | 'agent_execution'
    | 'host'
    | 'group'
    | 'fleet_command_id',
    string
  >
>;

const unknownId = '6c0a3c52-8a52-4a8e-9c0e-6d7d6a0c9f11';

const keys = mkdtempSync(join(tmpdir(), 'windlass-keys-'));
let world: StimuliWorld;
let provider: PaymentProviderDouble;
let mallory: string;
let own: Ids;
let foreign: Ids;
let priceId: string;

beforeAll(async () => {
  provider = await startPaymentProvider();
  priceId = provider.ledger.addPrice(provider.ledger.addProduct(), 'monthly').id;
  world = await startStimuliWorld(['hostile'], {
    purpose: 'hostile',
    env: { PAYMENT_PROVIDER_SECRET_KEY: provider.secretKey, PAYMENT_PROVIDER_API_URL: provider.url, ...edgeSettings() },
  });
  // An operator, so that nothing is refused for want of rights.
  mallory = await world.token({ user: 'mallory', tenant: world.tenant, roles: ['svc:operator', ...everyEdgeScope] });
  own = await makeTenant(world.tenant, 'helper');
  foreign = await makeTenant(world.otherTenant, 'their-helper');
  await world.router('routes', { routes: { hostile: 'gate', http_api: 'gate' } });
});
afterAll(async () => {
  await world?.close();
  await provider?.stop();
  rmSync(keys, { recursive: true });
});

/** With them, hosts can be enrolled. */
function edgeSettings(): Record<string, string> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const file = join(keys, 'edge.pem');
  writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
  return { WINDLASS_EDGE_KEY: file, WINDLASS_EDGE_ENDPOINT: 'edge.example.com:443' };
}

async function makeTenant(namespace: string, agent: string): Promise<Ids> {
  const gate = aWorkflow('gate')
    .state('ask', aQuestion('Go on?', { yes: 'end', no: 'end' }))
    .state('end', anEnd());
  const made = await world.kube.create(workflows, { ...gate.build(), metadata: { name: 'gate', namespace } });
  const volume = await makeVolume(namespace, 'shared');
  const ids = await makeWaiting(namespace, 'waits');
  const edge = await makeEdge(namespace);
  return {
    ...ids,
    ...edge,
    ...(await makeAgent(namespace, agent)),
    workflow: made.metadata.uid ?? '',
    volume_id: volume,
  };
}

/** An agent, and an execution of it that has ended: no model answers here. */
async function makeAgent(namespace: string, name: string): Promise<Pick<Ids, 'agent' | 'name' | 'agent_execution'>> {
  const spec = { version: '1.0.0', runtime: { model: 'nowhere' }, task: { instruction: 'Work.' } };
  const row = { apiVersion: 'windlass.dev/v1', metadata: { name, namespace } } as const;
  const { metadata } = await world.kube.create(agents, { ...row, kind: 'Agent', spec });
  const execution = await makeAgentExecution(namespace, name, name);
  await waitForObject(
    world.kube,
    { resource: agentExecutions, namespace, name },
    ({ status }) => status?.finished_at !== undefined,
    { timeoutMs: 60_000 },
  );
  return { agent: metadata.uid ?? '', name, agent_execution: execution };
}

async function makeAgentExecution(namespace: string, name: string, agent: string): Promise<string> {
  const { metadata } = await world.kube.create(agentExecutions, {
    apiVersion: 'windlass.dev/v1',
    kind: 'AgentExecution',
    metadata: { name, namespace },
    spec: { agent },
  });
  return metadata.uid ?? '';
}

/** A host that has never connected, a group, and a run that has ended: no host resolves. */
async function makeEdge(namespace: string): Promise<Pick<Ids, 'host' | 'group' | 'fleet_command_id'>> {
  const host = randomUUID();
  const row = { apiVersion: 'windlass.dev/v1' } as const;
  // Relays alone make hosts, by enrollment.
  const made = await asRelay('POST', `/apis/windlass.dev/v1/namespaces/${namespace}/edgehosts`, {
    ...row,
    kind: 'EdgeHost',
    metadata: { name: `host-${host}`, namespace },
    spec: {},
  });
  if (made.status !== 201) throw new Error(made.message);
  const group = await world.kube.create(edgeGroups, {
    ...row,
    kind: 'EdgeGroup',
    metadata: { name: 'all', namespace },
    spec: { name: 'all', selector: {} },
  });
  const run = await makeFleetRun(namespace, 'done');
  return { host, group: group.metadata.uid ?? '', fleet_command_id: run };
}

async function asRelay(method: string, path: string, body: object): Promise<Answer> {
  const send = await createSend(kubeconfigPath());
  return send(method, path, body, { as: 'system:serviceaccount:windlass-system:windlass-relay' });
}

async function makeFleetRun(namespace: string, name: string): Promise<string> {
  const { metadata } = await world.kube.create(fleetRuns, {
    apiVersion: 'windlass.dev/v1',
    kind: 'FleetRun',
    metadata: { name, namespace },
    spec: { target: { All: {} }, tool: 'cmd.run', requested_by: (await world.kube.whoAmI()).username },
  });
  return metadata.uid ?? '';
}

async function makeVolume(namespace: string, name: string): Promise<string> {
  const { metadata } = await world.kube.create(volumes, {
    apiVersion: 'windlass.dev/v1',
    kind: 'Volume',
    metadata: { name, namespace },
    spec: { storage_class: 'persistent', size_limit_mb: 1 },
  });
  return metadata.uid ?? '';
}

/** An execution that waits for a decision. */
async function makeWaiting(namespace: string, name: string): Promise<Ids> {
  await startExecution(world.kube, { namespace, name }, { workflow: 'gate' });
  const patience = { timeoutMs: 120_000 };
  const { metadata } = await waitUntilWaiting(world.kube, { namespace, name, state: 'ask' }, patience);
  const request = { execution_id: metadata.uid ?? '', id: await pendingOf(namespace, metadata.uid ?? '') };
  const none = { workflow: '', volume_id: '', agent: '', name: '', agent_execution: '' };
  return { ...none, host: '', group: '', fleet_command_id: '', source: 'hostile', ...request };
}

/** The id of what an execution asks; the cache of a replica is a moment behind the cluster. */
async function pendingOf(tenant: string, execution: string): Promise<string> {
  const token = await world.token({ user: 'owner', tenant });
  for (let attempt = 0; attempt < 100; attempt++) {
    const { pending_requests: pending } = (await world.http('/v1/human-approvals', { token })).json<{
      pending_requests: { id: string; execution_id: string }[];
    }>();
    const found = pending.find(({ execution_id }) => execution_id === execution);
    if (found !== undefined) return found.id;
    await pause(50);
  }
  throw new Error(`execution ${execution} asks nothing`);
}

const manifest = {
  apiVersion: 'windlass.dev/v1',
  kind: 'Workflow',
  metadata: { name: 'new', version: '1.0.0' },
  spec: { initial_state: 'end', states: { end: { kind: 'System', command: 'finalize', transitions: [] } } },
};

/** Bodies with which an operation would succeed. */
const bodies: Readonly<Record<string, () => unknown>> = {
  registerWorkflow: () => manifest,
  startExecution: () => ({ workflow: 'gate' }),
  signalExecution: () => ({ response: 'yes' }),
  cancelExecution: () => ({ reason: 'no more' }),
  pushEdgeConfig: () => ({ config: { labels: { ring: 'canary' } } }),
  retryExecution: () => ({ from: 'ask' }),
  approveHumanApproval: () => ({ feedback: 'fine' }),
  rejectHumanApproval: () => ({ reason: 'no' }),
  submitStimulus: () => ({ source: 'http_api', content: 'x' }),
  receiveWebhook: () => ({ ref: 'main' }),
  createCheckout: () => ({ price_id: priceId }),
  registerAgent: () => ({
    apiVersion: 'windlass.dev/v1',
    kind: 'Agent',
    metadata: { name: 'new', version: '1.0.0' },
    spec: { runtime: {}, task: { instruction: 'Work.' } },
  }),
  startAgentExecution: () => ({ agent_id: own.agent, input: 'x' }),
  changeEdgeHost: () => ({ name: 'renamed' }),
  tagEdgeHost: () => ({ add: ['a'] }),
  createEdgeGroup: () => ({ name: 'new', selector: {} }),
  changeEdgeGroup: () => ({ name: 'renamed' }),
  previewFleet: () => ({ target: { All: null } }),
  invokeFleet: () => ({ target: { All: null }, tool: 'cmd.run', args: { command: 'true' } }),
  issueSealToken: () => ({ security_context: 'default' }),
  openPortal: () => ({ return_url: 'https://app.example.com/' }),
};

/** Workflows and agents both have executions, and hosts and groups have ids as approvals have. */
function idOf(ids: Ids, path: string, name: keyof Ids): string {
  if (path.startsWith('/v1/executions/') && name === 'execution_id') return ids.agent_execution;
  if (path.startsWith('/v1/edge/hosts/')) return ids.host;
  return path.startsWith('/v1/edge/groups/') ? ids.group : ids[name];
}

function goodRequest({ operationId, path, access, body }: Contract, ids: Ids): Parts {
  const text = body === undefined ? undefined : JSON.stringify(bodies[operationId]?.() ?? {});
  return {
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: keyof Ids) => idOf(ids, path, name)),
    query: '',
    headers: [
      ...(access === 'bearer' ? [['authorization', `Bearer ${mallory}`] as const] : []),
      ...(access === 'signature' ? [['x-svc-signature', signatureOf('hostile', text ?? '')] as const] : []),
      ...(body === undefined ? [] : [['content-type', 'application/json'] as const]),
    ],
    body: text,
  };
}

interface Timed {
  readonly answer: Received;
  readonly ms: number;
}

async function send({ method }: Contract, { path, query, headers, body }: Parts): Promise<Timed> {
  const begun = performance.now();
  const address = query === '' ? path : `${path}?${query}`;
  const answer = await world.http(address, { method: method.toUpperCase(), headers, body });
  return { answer, ms: performance.now() - begun };
}

/** Objects of both tenants, and the payment provider's records of them. Writes of the controllers do not count. */
async function written(): Promise<string> {
  const lists = await Promise.all(
    [world.tenant, world.otherTenant].flatMap((namespace) =>
      [workflows, workflowExecutions, agents, agentExecutions, volumes, edgeGroups, fleetRuns, controllerRevisions].map(
        (kind) =>
          world.kube.listAll<{ metadata: { uid?: string; generation?: number } } & object>(kind as never, {
            namespace,
          }),
      ),
    ),
  );
  const objects = lists.flatMap(({ items }) => items.map(({ metadata }) => `${metadata.uid} ${metadata.generation}`));
  const { customers, checkouts, portals } = provider.ledger;
  return JSON.stringify([objects.toSorted(), customers.length, checkouts.length, portals.length]);
}

/** The rules of an answer: it has the documented form, and is quick. */
interface Verdict {
  readonly status: number | 'a documented 4xx';
  readonly at: string | undefined;
  readonly isDocumented: boolean;
  readonly isQuick: boolean;
}

const wanted = ({ status, at }: Row): Verdict => ({
  status: status ?? 'a documented 4xx',
  at,
  isDocumented: true,
  isQuick: true,
});

/** Whether a path is that of a field, or of a part of it. */
const isAt = (path: string, field = ''): boolean =>
  path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`);

async function verdictOf(contract: Contract, row: Row): Promise<Verdict> {
  const { answer, ms } = await send(contract, row.change(goodRequest(contract, own)));
  const { status } = answer;
  const {
    error,
    code,
    message,
    details = [],
  } = answer.json<{
    error: string;
    code: string;
    message: string;
    details?: { path: string }[];
  }>();
  // A body without a path belongs to no operation.
  const documented = ['404 not_found', ...errorsOf(contract).map((one) => `${one.status} ${one.error}`)];
  const isRefused = status >= 400 && status < 500;
  return {
    status: row.status === undefined && isRefused ? 'a documented 4xx' : status,
    at: row.at === undefined || details.some(({ path }) => isAt(path, row.at)) ? row.at : JSON.stringify(details),
    isDocumented:
      answer.headers['content-type'] === 'application/json' &&
      documented.includes(`${status} ${error}`) &&
      /^[a-z0-9_]+$/.test(code) &&
      message !== '',
    isQuick: ms < 1_000,
  };
}

/** Signed calls answer with JSON-RPC objects; test/hostile spoils their envelopes. */
const operations = contracts.filter((contract) => securityOfContract(contract).length > 0);

describe.each(operations.map((contract) => [contract.operationId, contract] as const))('%s', (_id, contract) => {
  let before: string;
  beforeAll(async () => {
    before = await written();
  });

  it.each(rowsOf(contract).map((row) => [row.what, row] as const))('is refused with %s', async (_what, row) => {
    expect(await verdictOf(contract, row)).toEqual(wanted(row));
  });

  it('has written nothing', async () => {
    expect(await written()).toBe(before);
  });
});

const namesOne = operations.filter(({ params, access }) => params !== undefined && access === 'bearer');

describe('ids', () => {
  it.each(namesOne.map((contract) => [contract.operationId, contract] as const))(
    'ORCH-AUTH-11 of another tenant are to %s exactly like unknown ones',
    async (_id, contract) => {
      const before = await written();
      const unknownIds: Ids = {
        workflow: unknownId,
        execution_id: unknownId,
        id: unknownId,
        volume_id: unknownId,
        source: 'hostile',
        agent: unknownId,
        name: 'nothing',
        agent_execution: unknownId,
        host: unknownId,
        group: unknownId,
        fleet_command_id: unknownId,
      };
      const [theirs, unknown] = [
        await send(contract, goodRequest(contract, foreign)),
        await send(contract, goodRequest(contract, unknownIds)),
      ];
      const visible = ({ answer }: Timed, ids: Ids) => [
        answer.status,
        answer.text.replaceAll(Object.values(ids)[0] ?? '', ''),
      ];
      expect(visible(theirs, foreign)).toEqual(visible(unknown, unknownIds));
      // The specification has one operation answer 200 with an error.
      expect(theirs.answer.json()).toHaveProperty('error');
      expect([200, 404]).toContain(theirs.answer.status);
      expect(Math.max(theirs.ms, unknown.ms)).toBeLessThan(1_000);
      expect(await written()).toBe(before);
    },
  );
});

describe('without anything wrong', () => {
  /** Each of these changes what the others need, or has no end. */
  const byThemselves = new Map<string, string>([
    ['approveHumanApproval', ''],
    ['rejectHumanApproval', ''],
    ['signalExecution', ''],
    ['cancelExecution', ''],
    ['retryExecution', ''],
    ['deleteExecution', ''],
    ['deleteVolume', ''],
    ['demoteWorkflow', 'scope=user'],
    ['promoteWorkflow', 'scope=tenant'],
    ['deleteWorkflow', ''],
    ['cancelAgentExecution', ''],
    ['deleteAgentExecution', ''],
    ['deleteAgent', ''],
    ['revokeEdgeHost', ''],
    ['deleteEdgeGroup', ''],
    ['cancelFleet', ''],
  ]);
  const empty = new Set(['revokeEdgeHost', 'deleteEdgeGroup']);
  /** Orders for a host of the rows, which has no stream. */
  const away = ['pushEdgeConfig', 'shutDownEdgeHost'];
  const endless = ['streamExecution', 'streamAgentExecution', 'followAgentConversation', 'invokeFleet'];
  const others = operations.filter(({ operationId: id }) => !byThemselves.has(id) && !endless.includes(id));

  it.each(others.map((contract) => [contract.operationId, contract] as const))(
    '%s does not answer what its rows answer, so that they prove something',
    async (id, contract) => {
      const { answer } = await send(contract, goodRequest(contract, own));
      // Nothing that waits has run a command.
      const ends: Readonly<Record<string, number>> = { readExecutionLogs: 404 };
      expect(answer.status).toBe(away.includes(id) ? 503 : (ends[id] ?? 200));
    },
  );

  async function idsFor(id: string): Promise<Ids> {
    if (id.includes('Workflow')) return { ...own, workflow: 'gate' };
    if (id.includes('Volume') || id.includes('Edge') || id.includes('Fleet') || id === 'deleteAgent') return own;
    const name = id.toLowerCase();
    // One whose agent is not there waits for it.
    if (id.includes('Agent')) return { ...own, agent_execution: await seenAgentExecution(name) };
    const ids = await makeWaiting(world.tenant, name);
    if (id !== 'retryExecution') return ids;
    // Only what has ended can be run again from a state.
    await world.http(`/v1/workflows/executions/${ids.execution_id}/cancel`, { method: 'POST', token: mallory });
    await waitUntilFinished(world.kube, { namespace: world.tenant, name });
    return ids;
  }

  /** A waiting execution, once the replicas know of it. */
  async function seenAgentExecution(name: string): Promise<string> {
    const uid = await makeAgentExecution(world.tenant, name, 'absent');
    const read = async (): Promise<number> => (await world.http(`/v1/executions/${uid}`, { token: mallory })).status;
    await expect.poll(read, { timeout: 5_000 }).toBe(200);
    return uid;
  }

  it.each([...byThemselves])('%s succeeds', async (id, query) => {
    const contract = operations.find(({ operationId }) => operationId === id);
    if (contract === undefined) throw new Error(`there is no operation ${id}`);
    const ids = await idsFor(id);
    const { answer } = await send(contract, { ...goodRequest(contract, ids), query });
    expect([answer.status, answer.text]).toEqual([empty.has(id) ? 204 : 200, expect.any(String)]);
  });
});
