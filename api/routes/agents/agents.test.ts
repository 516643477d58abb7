import { systemClock } from '../../../lib/clock.ts';
import { createSearches } from '../../../lib/word-search.ts';
import { describe, expect, it } from 'vitest';
import { globalNamespace } from '../../../crds/labels.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { AuditEntry } from '../../../lib/bus/index.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { createCache } from '../../../lib/informer/index.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import { agentReadingOf } from '../../../lib/manifest/reading.ts';
import { anAgent } from '../../../test/builders/agent-builder.ts';
import { aNodeConfig } from '../../../test/builders/node-config-builder.ts';
import { manifestExample } from './examples.ts';
import { createAgentRoutes } from './index.ts';
import type { RegisterAgentDeps } from './register.ts';

const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
const agent = (name: string, index: number, namespace = 'tenant-acme'): Agent =>
  anAgent(name, {}, { namespace, uid: idOf(index), creationTimestamp: '2026-01-01T00:00:00Z' });

/** The routes over these agents, what they write, and what they tell. */
function world(...agents: Agent[]) {
  const written: Agent[] = [];
  const deleted: string[] = [];
  const audited: AuditEntry[] = [];
  const place = (tenant: string): string => `tenant-${tenant}`;
  const find = async (tenant: string, nameOrUid: string) =>
    [place(tenant), globalNamespace]
      .flatMap((namespace) => agents.filter(({ metadata }) => metadata.namespace === namespace))
      .find(({ metadata }) => metadata.name === nameOrUid || metadata.uid === nameOrUid);
  const cache = createCache<Agent, 'namespace'>({
    indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] },
  });
  cache.replaceAll(agents, '1');
  const deps = {
    nodeConfig: aNodeConfig('default', 'smart'),
    kube: {
      get: async ({ kind }: { kind: string }, { namespace, name }: { namespace: string; name: string }) => {
        const own = agents.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
        if (kind === 'Agent' && own !== undefined) return own;
        throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: kind });
      },
      list: async () => ({ metadata: {}, items: [] }),
      listAll: async () => ({ items: [] }),
      create: async ({ kind }: { kind: string }, object: Agent) => {
        const made = { ...object, metadata: { ...object.metadata, uid: idOf(90), generation: 1 } };
        if (kind === 'Agent') written.push(made);
        return made;
      },
      replace: async (_: unknown, object: Agent) => {
        written.push(object);
        return object;
      },
      delete: async (_: unknown, { namespace, name }: { namespace: string; name: string }) =>
        deleted.push(`${namespace}/${name}`) > 0,
    },
    clock: { now: () => Date.parse('2026-01-02T00:00:00Z'), steadyMs: () => 0, sleep: async () => undefined },
    cluster: {
      tenants: {
        namespaceOf: (tenant: string) => (tenant === 'none' ? undefined : place(tenant)),
        tenantOf: (namespace: string) => namespace.replace('tenant-', ''),
      },
      agents: {
        find,
        locate: find,
        list: (tenant: string) => agents.filter(({ metadata }) => metadata.namespace === place(tenant)),
        remember: () => undefined,
        forgotten: async () => undefined,
      },
      informers: { agents: { cache } },
    },
    audit: { record: (entry: AuditEntry) => void audited.push(entry) },
    manifests: { read: async (text: string) => agentReadingOf(text), close: async () => undefined },
  } as unknown as RegisterAgentDeps;
  const searches = createSearches(systemClock);
  const routes = createAgentRoutes({ ...deps, searches });
  const call = async (operation: string, request: object, caller: object = {}): Promise<unknown> => {
    const route = routes.find(({ contract }) => contract.operationId === operation);
    const who = { subject: 'ada', tenant: 'acme', kind: 'consumer', roles: [], scopes: [], ...caller };
    try {
      const reserve = async () => undefined;
      const asked = { params: {}, query: { limit: 50 }, reserve, ...request, caller: who };
      const reply = await route?.handle(asked as never);
      return (reply as { value?: unknown } | undefined)?.value;
    } catch (error) {
      return error instanceof HttpError
        ? { error: error.options.error ?? error.options.code, ...error.options }
        : error;
    }
  };
  return { call, written, deleted, audited };
}

const mine = agent('reviewer', 1);
const shared = agent('judge', 2, globalNamespace);
const theirs = agent('spy', 3, 'tenant-other');
const identity = { agent_id: idOf(1), name: 'reviewer', tenant_id: 'acme' };

describe('looking an agent up by its name', () => {
  const { call } = world(mine, shared, theirs);
  const lookup = (name: string, caller = {}) => call('lookupAgent', { params: { name } }, caller);

  it('AGENT-01 AGENT-04 AGENT-05 AGENT-06 answers its id, name and tenant, and nothing else', async () => {
    expect(await lookup('reviewer')).toEqual(identity);
  });

  it.each([
    ['ORCH-AUTH-11 one of another tenant', 'spy'],
    ['one that all tenants share', 'judge'],
    ['none', 'nothing'],
    ['an id', idOf(1)],
  ])('AGENT-02 answers 404 for %s', async (_title, name) => {
    expect(await lookup(name)).toMatchObject({ error: 'Agent not found', code: 'not_found' });
  });

  it('ORCH-AUTH-10 finds it in the tenant that the call is scoped to', async () => {
    expect(await lookup('spy', { tenant: 'other' })).toMatchObject({ name: 'spy', tenant_id: 'other' });
    expect(await lookup('reviewer', { tenant: 'other' })).toMatchObject({ error: 'Agent not found' });
  });
});

describe('the list of agents', () => {
  it('AGENT-03 has id, name and tenant of those of the tenant alone', async () => {
    const { call } = world(mine, shared, theirs);
    expect(await call('listAgents', {})).toEqual({ agents: [identity], next_cursor: null });
    expect(await call('listAgents', {}, { tenant: 'empty' })).toEqual({ agents: [], next_cursor: null });
  });

  it('comes in pages, by name', async () => {
    const { call } = world(...['c', 'a', 'b'].map((name, index) => agent(name, index)));
    const page = async (cursor?: string | null) => {
      const query = { limit: 2, cursor };
      const { agents, next_cursor } = (await call('listAgents', { query })) as {
        agents: { name: string }[];
        next_cursor: string | null;
      };
      return [agents.map(({ name }) => name).join(), next_cursor] as const;
    };
    const [first, cursor] = await page();
    expect([first, await page(cursor)]).toEqual(['a,b', ['c', null]]);
  });
});

describe('registering an agent', () => {
  const query = { scope: 'tenant', force: false };

  it('AGENT-07 AGENT-08 makes the object, and tells of it', async () => {
    const { call, written, audited } = world();
    const answer = await call('registerAgent', { body: manifestExample, query });
    expect(answer).toMatchObject({ ...identity, agent_id: idOf(90), version: '1.2.0', registration: 'created' });
    expect(written[0]).toMatchObject({
      metadata: { name: 'reviewer', namespace: 'tenant-acme' },
      spec: { version: '1.2.0', tools: [{ name: 'fs.read' }, { name: 'cmd.run' }] },
    });
    expect(audited).toMatchObject([{ type: 'AgentRegistered', data: { agent: 'reviewer', version: '1.2.0' } }]);
  });

  it('answers every mistake with its place, and writes nothing', async () => {
    const { call, written } = world();
    const body = manifestExample.replace('instruction', 'instructions');
    expect(await call('registerAgent', { body, query })).toMatchObject({
      error: 'invalid_manifest',
      details: expect.arrayContaining([expect.objectContaining({ path: 'spec.task.instruction' })]),
    });
    expect(written).toEqual([]);
  });

  it('AGENT-13 warns of a model and of a judge that are not there, and takes the agent', async () => {
    const { call, written } = world(mine, shared, theirs);
    const body = `apiVersion: windlass.dev/v1
kind: Agent
metadata: { name: new, version: 1.0.0 }
spec:
  runtime: { model: smrat }
  task: { instruction: Write. }
  execution: { validation: { agent: jugde, threshold: 0.5 } }
`;
    expect(await call('registerAgent', { body, query })).toMatchObject({
      registration: 'created',
      warnings: [
        { path: 'spec.execution.validation.agent', message: expect.stringContaining('; did you mean judge?; until') },
        {
          path: 'spec.runtime.model',
          message: expect.stringContaining('; did you mean smart?; defined: default, smart'),
        },
      ],
    });
    expect(written).toHaveLength(1);
    const right = body.replace('smrat', 'smart').replace('jugde', 'judge').replace('name: new', 'name: other');
    expect(await call('registerAgent', { body: right, query })).not.toHaveProperty('warnings');
    const spying = right.replace('agent: judge', 'agent: spy').replace('name: other', 'name: third');
    expect(await call('registerAgent', { body: spying, query })).toHaveProperty('warnings');
  });

  it('AGENT-10 replaces a version that exists with force alone', async () => {
    const { call, written } = world(mine);
    const body = manifestExample.replace('1.2.0', '1.0.0');
    expect(await call('registerAgent', { body, query })).toMatchObject({ code: 'conflict' });
    expect(written).toEqual([]);
    expect(await call('registerAgent', { body, query: { ...query, force: true } })).toMatchObject({
      registration: 'updated',
    });
  });

  it.each<[names: string, roles: readonly string[], scopes: readonly string[], want: string]>([
    ['svc.edge.fleet.invoke', [], [], 'forbidden'],
    ['svc.edge.*', ['svc:operator'], ['svc.edge.fleet.read'], 'forbidden'],
    ['svc.edge.fleet.list', [], ['svc.edge.fleet.manage'], 'created'],
    ['svc.*', [], [], 'created'],
  ])(
    'ADR 0095 EDGE-AUTH-07 of tools %s by a caller with roles %j and scopes %j: %s',
    async (name, roles, scopes, want) => {
      const { call, written } = world();
      const body = manifestExample.replace('fs.read', name);
      const answer = (await call('registerAgent', { body, query }, { roles, scopes })) as Record<string, unknown>;
      expect(answer['registration'] ?? answer['code']).toBe(want);
      expect(written).toHaveLength(want === 'created' ? 1 : 0);
    },
  );

  it('takes an operator for the scope of all tenants', async () => {
    const { call, written } = world();
    const asked = { body: manifestExample, query: { ...query, scope: 'global' } };
    expect(await call('registerAgent', asked)).toMatchObject({ error: 'forbidden' });
    expect(await call('registerAgent', asked, { roles: ['svc:operator'] })).toMatchObject({ tenant_id: 'global' });
    expect(written.map(({ metadata }) => metadata.namespace)).toEqual([globalNamespace]);
  });

  it('answers 404 for a tenant that is not set up', async () => {
    const { call } = world();
    const answer = await call('registerAgent', { body: manifestExample, query }, { tenant: 'none' });
    expect(answer).toMatchObject({ error: 'Tenant not found' });
  });
});

describe('one agent', () => {
  it('is read as a manifest, by id and by name, also one that all tenants share', async () => {
    const { call } = world(mine, shared);
    for (const name of ['reviewer', idOf(1)]) {
      expect(await call('readAgent', { params: { agent: name }, query: {} })).toMatchObject({
        agent_id: idOf(1),
        tenant_id: 'acme',
        ready: false,
        reason: 'Pending',
        metadata: { name: 'reviewer', version: '1.0.0' },
      });
    }
    expect(await call('readAgent', { params: { agent: 'judge' }, query: {} })).toMatchObject({ tenant_id: 'global' });
  });

  it('is not found in another tenant, nor in a version that it has not', async () => {
    const { call } = world(mine);
    const read = (query: object, caller = {}) => call('readAgent', { params: { agent: 'reviewer' }, query }, caller);
    expect(await read({}, { tenant: 'other' })).toMatchObject({ error: 'Agent not found' });
    expect(await read({ version: '9.0.0' })).toMatchObject({ error: 'Version not found' });
  });

  it('has its versions listed', async () => {
    const { call } = world(mine);
    expect(await call('listAgentVersions', { params: { agent: 'reviewer' } })).toMatchObject({
      versions: [{ version: '1.0.0', current: true }],
    });
  });

  it('is deleted by permitted callers, with an audit record', async () => {
    const { call, deleted, audited } = world(mine, shared);
    const remove = (name: string, caller = {}) => call('deleteAgent', { params: { agent: name } }, caller);
    expect(await remove('reviewer')).toMatchObject({ agent_id: idOf(1), name: 'reviewer' });
    expect(await remove('judge')).toMatchObject({ error: 'forbidden' });
    expect(await remove('reviewer', { tenant: 'other' })).toMatchObject({ error: 'Agent not found' });
    expect(deleted).toEqual(['tenant-acme/reviewer']);
    expect(audited).toMatchObject([{ type: 'AgentDeleted', subject: idOf(1) }]);
  });
});
