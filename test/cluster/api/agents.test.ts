import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentExecutions, agents } from '../harness/kinds.ts';
import { type ApiWorld, type Received, type Sending, startApiWorld } from './harness/index.ts';

const yaml = { 'content-type': 'application/yaml' };
const json = { 'content-type': 'application/json' };
const unknownId = '6c0a3c52-8a52-4a8e-9c0e-6d7d6a0c9f11';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let world: ApiWorld;
let ada: string;
let stranger: string;

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'api-agents', replicas: 2 });
  ada = await world.token({ user: 'ada', tenant: world.tenant });
  stranger = await world.token({ user: 'eve', tenant: world.otherTenant });
});
afterAll(() => world?.close());

const ask = (path: string, sending: Sending = {}, replica = 0): Promise<Received> =>
  world.http(path, { token: ada, ...sending }, replica);
const manifest = (name: string, instruction = 'Work on {{input}}.'): string =>
  `apiVersion: windlass.dev/v1\nkind: Agent\nmetadata: {name: ${name}, version: 1.0.0}\nspec:\n  runtime: {model: default}\n  task: {instruction: "${instruction}"}\n  tools: [fs.read]\n`;
const register = (body: string, query = ''): Promise<Received> =>
  ask(`/v1/agents/register${query}`, { method: 'POST', headers: yaml, body });
const start = (body: object, sending: Sending = {}): Promise<Received> =>
  ask('/v1/executions', { method: 'POST', headers: json, body: JSON.stringify(body), ...sending });
const registered = async (name: string): Promise<string> =>
  (await register(manifest(name))).json<{ agent_id: string }>().agent_id;

describe('agents over HTTP', () => {
  it('AGENT-01 AGENT-04 AGENT-05 AGENT-06 are looked up on every replica as soon as they are registered', async () => {
    const agent_id = await registered('first');
    expect(agent_id).toMatch(uuid);
    for (const replica of [0, 1]) {
      const answer = await ask('/v1/agents/lookup/first', {}, replica);
      expect([answer.status, answer.json()]).toEqual([200, { agent_id, name: 'first', tenant_id: world.tenant }]);
    }
    const object = await world.kube.get(agents, { namespace: world.tenant, name: 'first' });
    expect([object.metadata.uid, object.spec.tools]).toEqual([agent_id, [{ name: 'fs.read' }]]);
  });

  it('AGENT-02 ORCH-AUTH-11 are not there for another tenant', async () => {
    await registered('mine');
    for (const sending of [{ token: stranger }, {}]) {
      const name = sending.token === undefined ? 'nothing' : 'mine';
      const answer = await ask(`/v1/agents/lookup/${name}`, sending);
      expect([answer.status, answer.json<{ error: string }>().error]).toEqual([404, 'Agent not found']);
    }
  });

  it('AGENT-03 are listed by name with id, name and tenant', async () => {
    const agent_id = await registered('listed');
    const { agents: rows } = (await ask('/v1/agents')).json<{ agents: unknown[] }>();
    expect(rows).toContainEqual({ agent_id, name: 'listed', tenant_id: world.tenant });
    expect((await ask('/v1/agents', { token: stranger })).json()).toEqual({ agents: [], next_cursor: null });
  });

  it('AGENT-13 need no runtime, and the manifest comes back without one', async () => {
    const { status } = await register(manifest('plain').replace('  runtime: {model: default}\n', ''));
    const { spec } = (await ask('/v1/agents/plain')).json<{ spec: object }>();
    expect([status, spec]).toEqual([
      200,
      { task: { instruction: 'Work on {{input}}.' }, tools: [{ name: 'fs.read' }] },
    ]);
  });

  it('AGENT-10 keep a version without force', async () => {
    await registered('kept');
    expect((await register(manifest('kept', 'Other.'))).status).toBe(409);
    expect((await register(manifest('kept', 'Other.'), '?force=true')).status).toBe(200);
  });
});

describe('executions of agents over HTTP', () => {
  it('EXEC-01 EXEC-02 EXEC-03 exist when the answer comes, under its id', async () => {
    const agent_id = await registered('runner');
    const answer = await start({ agent_id, input: 'read this' });
    expect(answer.status).toBe(200);
    const { execution_id } = answer.json<{ execution_id: string }>();
    const { items } = await world.kube.listAll(agentExecutions, { namespace: world.tenant });
    const object = items.find(({ metadata }) => metadata.uid === execution_id);
    expect(object?.spec).toMatchObject({ agent: agent_id, input: 'read this' });
    expect((await ask(`/v1/executions/${execution_id}`, {}, 1)).json()).toMatchObject({ execution_id, agent_id });
  });

  it('EXEC-04 need the UUID of an agent that is there', async () => {
    for (const agent_id of ['runner', undefined, null, 7, {}]) {
      const bad = await start({ agent_id, input: 'x' });
      expect([bad.status, bad.json<{ error: string }>().error]).toEqual([400, 'Invalid agent ID']);
    }
    const unknown = await start({ agent_id: unknownId, input: 'x' });
    expect([unknown.status, unknown.json<{ error: string }>().error]).toEqual([404, 'Agent not found']);
  });

  it('are started once under one key, are cancelled, and are deleted', async () => {
    const agent_id = await registered('once');
    const headers = { ...json, 'idempotency-key': 'k' };
    const ids = [];
    for (let times = 0; times < 2; times += 1) {
      ids.push((await start({ agent_id, input: 'x' }, { headers })).json<{ execution_id: string }>().execution_id);
    }
    expect(ids[0]).toBe(ids[1]);
    expect((await ask(`/v1/executions/${ids[0]}`, { method: 'DELETE' })).status).toBe(200);
  });

  it('are cancelled by callers of the tenant while they have not ended', async () => {
    // One whose agent is not there waits for it.
    const { metadata } = await world.kube.create(agentExecutions, {
      apiVersion: 'windlass.dev/v1',
      kind: 'AgentExecution',
      metadata: { name: 'waits', namespace: world.tenant },
      spec: { agent: 'absent' },
    });
    const path = `/v1/executions/${metadata.uid}`;
    await expect.poll(async () => (await ask(path)).status, { timeout: 5_000 }).toBe(200);
    const sending = { method: 'POST', headers: json, body: '{}' };
    expect((await ask(`${path}/cancel`, { ...sending, token: stranger })).status).toBe(404);
    expect((await ask(`${path}/cancel`, sending)).json()).toMatchObject({ by: 'ada' });
  });

  it('EXEC-06 ORCH-AUTH-12 are followed by callers of the tenant with a token', async () => {
    const agent_id = await registered('followed');
    const { execution_id } = (await start({ agent_id, input: 'x' })).json<{ execution_id: string }>();
    for (const stream of ['stream', 'events']) {
      const path = `/v1/executions/${execution_id}/${stream}`;
      expect((await ask(path, { token: undefined })).status).toBe(401);
      expect((await ask(path, { token: stranger })).status).toBe(404);
    }
  });
});
