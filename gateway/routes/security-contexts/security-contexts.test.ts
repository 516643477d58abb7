import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SecurityContext } from '../../../crds/schema/security-context.ts';
import type { GatewayEvent } from '../../../lib/audit-chain/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createCache } from '../../../lib/informer/index.ts';
import { KubeError, type KubeObject } from '../../../lib/kube/index.ts';
import { startTestServer, type TestServer } from '../../../test/support/http-server.ts';
import { namespaceIndex } from '../../cluster/cluster.ts';
import type { Operator } from '../../identity/operator.ts';
import { createTenancy } from '../../identity/tenancy.ts';
import { createChangeEvents } from '../../registry/change-events.ts';
import { createReplicaNews } from '../../registry/replica-news.ts';
import { createSecurityContextRoutes } from './index.ts';

let server: TestServer;
let stored: Map<string, KubeObject>;
let mismatches: number;
let changes: GatewayEvent[];
let isAuditAway: boolean;
let refusal: KubeError | undefined;
/** Questions that the other replicas got. */
let heard: string[];
let isUnheard: boolean;

const operators: Readonly<Record<string, Partial<Operator>>> = {
  acme: { tenant: 'acme' },
  system: { tenant: 'system' },
  admin: { isAdmin: true },
  fleet: { tenant: 'acme', scopes: ['svc.edge.fleet.manage'] },
  reader: { tenant: 'acme', isAdmin: true, scopes: ['svc.edge.fleet.read', 'svc.edge.hosts.write'] },
  nobody: {},
};

function kubeOf(onChange: () => void) {
  let version = 1;
  const missing = () => new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: '' });
  const keyOf = ({ namespace, name }: { namespace?: string | undefined; name?: string | undefined }) =>
    `${namespace}/${name}`;
  const store = (object: KubeObject) => {
    version += 1;
    const generation = (object.metadata.generation ?? 0) + 1;
    const metadata = { uid: randomUUID(), ...object.metadata, generation, resourceVersion: `${version}` };
    const made = { ...object, metadata };
    stored.set(keyOf(metadata), made);
    onChange();
    return made;
  };
  return {
    async get(_resource: unknown, ref: { namespace?: string; name: string }) {
      const found = stored.get(keyOf(ref));
      if (found === undefined) throw missing();
      return found;
    },
    async create(_resource: unknown, object: KubeObject) {
      if (refusal !== undefined) throw refusal;
      if (stored.has(keyOf(object.metadata)))
        throw new KubeError(409, { reason: 'AlreadyExists' }, { verb: 'create', resource: '' });
      return store(object);
    },
    replace: async (_resource: unknown, object: KubeObject) => store(object),
    async delete(_resource: unknown, ref: { namespace?: string; name: string }) {
      const isDeleted = stored.delete(keyOf(ref));
      onChange();
      return isDeleted;
    },
  };
}

beforeEach(async () => {
  stored = new Map();
  mismatches = 0;
  changes = [];
  isAuditAway = false;
  refusal = undefined;
  isUnheard = false;
  const contexts = createCache<SecurityContext, 'namespace'>({ indexes: { namespace: namespaceIndex } });
  let version = 1_000;
  const follow = (): void => {
    version += 1;
    contexts.replaceAll([...stored.values()] as SecurityContext[], `${version}`);
  };
  follow();
  const places: Readonly<Record<string, string>> = { acme: 'tenant-acme', system: 'windlass-system' };
  const audit = {
    async append(event: GatewayEvent) {
      if (event.type === 'TenantMismatch') mismatches += 1;
      else changes.push(event);
    },
    problem: () => (isAuditAway ? 'no connection' : undefined),
    close: async () => undefined,
  };
  const tenancy = createTenancy({ audit, tenants: { namespaceOf: (slug) => places[slug] } });
  heard = [];
  const settled = async (key: string): Promise<void> => {
    heard.push(key);
    if (isUnheard) throw new Error('no answer');
  };
  const news = createReplicaNews({ settled }, systemClock);
  const routes = createSecurityContextRoutes({
    contexts,
    kube: kubeOf(follow) as never,
    tenancy,
    news,
    changes: createChangeEvents(audit),
  });
  server = await startTestServer(routes as never, {
    authenticate: (async ({ authorization = '' }: { readonly authorization?: string }) => ({
      subject: 'olga',
      kind: 'consumer',
      tenant: undefined,
      isAdmin: false,
      scopes: [],
      until: Number.POSITIVE_INFINITY,
      ...operators[authorization.replace('Bearer ', '')],
    })) as never,
    tenantOf: (({ tenant }: Operator) => tenant ?? '') as never,
  });
});
afterEach(() => server.close());

async function ask(method: string, path: string, token: string, body?: unknown) {
  const response = await fetch(`${server.url}/v1/security-contexts${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe('/v1/security-contexts', () => {
  it('GW-OP-23 AMB-195 AMB-196 writes, changes, lists, reads and deletes a context', async () => {
    const made = await ask('POST', '', 'acme', { name: 'desk', tools: ['orders.*'], deny_list: ['orders.drop'] });
    expect(made).toEqual({ status: 200, body: { id: expect.any(String), name: 'desk' } });
    const record = { id: made.body.id, name: 'desk', scope: 'tenant', tools: ['orders.*'], deny_list: ['orders.drop'] };
    expect(await ask('GET', '/desk', 'acme')).toEqual({ status: 200, body: record });
    expect(await ask('GET', '', 'acme')).toEqual({ status: 200, body: { items: [record], next_cursor: null } });
    expect((await ask('POST', '', 'acme', { name: 'desk', tools: [] })).body.id).toBe(made.body.id);
    expect((await ask('GET', '/desk', 'acme')).body).toEqual({
      id: made.body.id,
      name: 'desk',
      scope: 'tenant',
      tools: [],
    });
    expect(await ask('DELETE', '/desk', 'acme')).toEqual({ status: 200, body: { name: 'desk' } });
    const message = 'the tenant has no security context desk; give its name, which GET /v1/security-contexts lists';
    for (const method of ['GET', 'DELETE'])
      expect(await ask(method, '/desk', 'acme')).toMatchObject({ status: 404, body: { message } });
  });

  it('tells of each change and by whom, also where a replica does not answer, and makes none that it could not tell of', async () => {
    const { id } = (await ask('POST', '', 'acme', { name: 'desk', tools: ['a'] })).body;
    isAuditAway = true;
    expect((await ask('POST', '', 'acme', { name: 'desk', tools: ['b'] })).status).toBe(503);
    expect((await ask('DELETE', '/desk', 'acme')).status).toBe(503);
    expect((await ask('GET', '/desk', 'acme')).body.tools).toEqual(['a']);
    isAuditAway = false;
    isUnheard = true;
    await ask('POST', '', 'acme', { name: 'desk', tools: [] });
    await ask('DELETE', '/desk', 'acme');
    const of = { tenant: 'acme', subject: 'olga', data: { id, name: 'desk' } };
    expect(changes).toEqual([
      { type: 'SecurityContextCreated', ...of },
      { type: 'SecurityContextUpdated', ...of },
      { type: 'SecurityContextDeleted', ...of },
    ]);
  });

  it('GW-OP-23 answers once every replica has heard of the new context, and of each change of it', async () => {
    const { body } = await ask('POST', '', 'acme', { name: 'desk', tools: ['orders.*'] });
    await ask('POST', '', 'acme', { name: 'desk', tools: [] });
    expect(heard).toEqual([`written ${body.id} 1`, `written ${body.id} 2`]);
  });

  it('GW-OP-23 says what is done where a replica does not answer', async () => {
    await ask('POST', '', 'acme', { name: 'desk', tools: [] });
    isUnheard = true;
    const changed = await ask('POST', '', 'acme', { name: 'desk', tools: ['a'] });
    expect([changed.status, changed.body.message]).toEqual([503, expect.stringMatching(/^it is written; /)]);
    expect((await ask('GET', '/desk', 'acme')).body.tools).toEqual(['a']);
    const deleted = await ask('DELETE', '/desk', 'acme');
    expect([deleted.status, deleted.body.message]).toEqual([503, expect.stringMatching(/^it is deleted; /)]);
    expect((await ask('GET', '/desk', 'acme')).status).toBe(404);
  });

  it('ends a page of large contexts early, and lists each of them once', async () => {
    const names = Array.from({ length: 60 }, (_, at) => `large-${at}`).toSorted();
    const sites = Array.from({ length: 200 }, () => `ā${'x'.repeat(252)}`);
    const metadata = { namespace: 'tenant-acme' };
    for (const name of names)
      stored.set(`tenant-acme/${name}`, {
        metadata: { ...metadata, name, uid: name },
        spec: { domain_allowlist: sites },
      } as never);
    await ask('POST', '', 'acme', { name: 'a-small-one' });
    const seen: string[] = [];
    let query = '?limit=200';
    let most = 0;
    for (let cursor: string | null = ''; cursor !== null; query = `?limit=200&cursor=${cursor}`) {
      const { body } = await ask('GET', query, 'acme');
      seen.push(...body.items.map(({ name }: { readonly name: string }) => name));
      most = Math.max(most, JSON.stringify(body).length);
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(['a-small-one', ...names]);
    expect(most).toBeGreaterThan(1_000_000);
    expect(most).toBeLessThan(9_000_000);
  });

  it.each([
    ['tools', `a${'*b'.repeat(8)}`, `a${'*b'.repeat(9)}`],
    ['deny_list', '*.*.*.*.*.*.*.*', '*.*.*.*.*.*.*.*.*'],
  ])('takes patterns of %s with eight stars, and names the field of one with more', async (field, eight, nine) => {
    expect((await ask('POST', '', 'acme', { name: 'desk', [field]: [eight] })).status).toBe(200);
    const { status, body } = await ask('POST', '', 'acme', { name: 'desk', [field]: ['fs.*', nine] });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(`body.${field}\\[1\\].*8 `)]);
  });

  it('warns of patterns that begin as built-in tools do and fit none, in either list, and writes the context', async () => {
    const lists = { tools: ['fs.*', 'svc.file.raed', 'orders.*'], deny_list: ['/etc/**', 'cmd.runs'] };
    const { status, body } = await ask('POST', '', 'acme', { name: 'desk', ...lists });
    expect([status, body.warnings]).toEqual([
      200,
      [
        'tools[1]: svc.file.raed fits no tool; did you mean svc.file.read?',
        'deny_list[1]: cmd.runs fits no tool; did you mean cmd.run?',
      ],
    ]);
    expect((await ask('GET', '/desk', 'acme')).body).toMatchObject(lists);
  });

  it('AMB-125 AMB-196 shows the scope of a context to every caller, and shares that of an administrator alone', async () => {
    expect((await ask('POST', '', 'nobody', { name: 'mine' })).status).toBe(403);
    await ask('POST', '', 'admin', { name: 'shared' });
    await ask('POST', '', 'system', { name: 'private' });
    for (const token of ['acme', 'system', 'admin'])
      expect((await ask('GET', '/shared', token)).body.scope).toBe('global');
    expect((await ask('GET', '/private', 'system')).body.scope).toBe('tenant');
    expect((await ask('GET', '/private', 'acme')).status).toBe(404);
    expect((await ask('DELETE', '/shared', 'system')).status).toBe(404);
    expect((await ask('DELETE', '/shared', 'acme')).status).toBe(404);
    expect([...stored.keys()]).toEqual(['windlass-global/shared', 'windlass-system/private']);
  });

  it('hides a shared context behind one of the tenant, until that is deleted', async () => {
    await ask('POST', '', 'admin', { name: 'desk', tools: ['a'] });
    await ask('POST', '', 'acme', { name: 'desk', tools: ['b'] });
    expect((await ask('GET', '', 'acme')).body.items).toMatchObject([{ scope: 'tenant', tools: ['b'] }]);
    expect((await ask('GET', '/desk', 'system')).body.tools).toEqual(['a']);
    await ask('DELETE', '/desk', 'acme');
    expect((await ask('GET', '/desk', 'acme')).body).toMatchObject({ scope: 'global', tools: ['a'] });
  });

  it.each<[number, string, string, want: [status: number, message: string]]>([
    [404, 'NotFound', 'namespaces "windlass-global" not found', [404, 'the namespace windlass-global is not there']],
    [
      403,
      'Forbidden',
      'exceeded quota: windlass',
      [422, 'the quota of the tenant is used up; delete what is no longer needed'],
    ],
    [403, 'Forbidden', 'status unknown for quota: windlass', [503, 'a new quota of the tenant is not counted yet']],
    [403, 'Forbidden', 'admission webhook "w" denied the request: no desks', [403, 'no desks']],
  ])('answers what the API server holds against one: %i %s %s', async (code, reason, text, [status, message]) => {
    const details = { kind: 'namespaces', name: 'windlass-global' };
    refusal = new KubeError(code, { reason, message: text, details } as never, { verb: 'create', resource: '' });
    const answer = await ask('POST', '', 'admin', { name: 'shared' });
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
  });

  it.each(['tenant-admin', 'operator'])(
    'ADR 0095 EDGE-AUTH-07 an operator without the scope of fleets opens no tools of hosts by tier %s, and one with it does',
    async (tier) => {
      const context = { name: 'desk', tools: ['svc.edge.*'], tier };
      for (const token of ['acme', 'reader', 'admin']) {
        const { status, body } = await ask('POST', '', token, context);
        expect([status, body.message]).toEqual([403, expect.stringContaining('svc.edge.fleet.manage')]);
      }
      expect(stored.size).toBe(0);
      expect((await ask('POST', '', 'fleet', context)).status).toBe(200);
      // Wider lists of the same tier grant more, too.
      expect((await ask('POST', '', 'acme', { ...context, tools: ['*'] })).status).toBe(403);
      expect((await ask('POST', '', 'acme', { ...context, tier: 'user' })).status).toBe(200);
    },
  );

  it('ADR 0100 opens no networks: the right to do so is one of Kubernetes', async () => {
    const networks = [{ cidr: '10.0.0.0/8', ports: [443] }];
    const { status, body } = await ask('POST', '', 'fleet', { name: 'desk', network: 'listed', networks });
    expect([status, body.message]).toEqual([403, expect.stringContaining('network: listed is written with kubectl')]);
    expect(stored.size).toBe(0);
  });

  it.each([[['forge']], [[]]])('ADR 0098 lends no Secrets, as %j', async (git_secrets) => {
    const { status, body } = await ask('POST', '', 'fleet', { name: 'desk', git_secrets });
    expect([status, body.message]).toEqual([403, expect.stringContaining('git_secrets: is written with kubectl')]);
    expect(stored.size).toBe(0);
  });

  it('GW-TEN-04 refuses a context for another tenant, after an event', async () => {
    expect((await ask('POST', '', 'acme', { name: 'desk', tenant_id: 'rival' })).status).toBe(403);
    expect([mismatches, stored.size]).toEqual([1, 0]);
  });

  it.each(['orders.?et', 'orders.[gs]et', 'orders.{get,set}', 'orders.get orders.set', '!orders.get'])(
    'AMB-195 refuses a wildcard that it does not know, in place of a rule that holds nothing back: %s',
    async (pattern) => {
      for (const field of ['tools', 'deny_list']) {
        const { status, body } = await ask('POST', '', 'acme', { name: 'desk', [field]: ['fs.*', pattern] });
        expect([status, body.details[0].path]).toEqual([400, `body.${field}[1]`]);
      }
      expect(stored.size).toBe(0);
    },
  );

  it('TOOL-FS-01 takes paths in a deny list', async () => {
    const deny_list = ['fs.write', '/workspace/.git', '/workspace/{a,b}/**'];
    expect((await ask('POST', '', 'acme', { name: 'desk', deny_list })).status).toBe(200);
  });
});
