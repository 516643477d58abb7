import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { labels } from '../../crds/labels.ts';
import { createApiDocuments } from '../../lib/api-spec/index.ts';
import type { GatewayEvent } from '../../lib/audit-chain/index.ts';
import type { BucketDefinition } from '../../lib/bus/index.ts';
import { createMemoryBucket } from '../../lib/bus/kv/memory-bucket.ts';
import { systemClock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { createCache } from '../../lib/informer/index.ts';
import { KubeError, type KubeObject, type Namespace, type Resource } from '../../lib/kube/index.ts';
import { createOpenApiReader } from '../../lib/manifest/index.ts';
import { createTenantDirectory, tenantIndex } from '../../lib/tenant/tenant-directory.ts';
import { startTestServer, type TestServer } from '../../test/support/http-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { namespaceIndex } from '../cluster/cluster.ts';
import type { Operator } from '../identity/operator.ts';
import { createTenancy } from '../identity/tenancy.ts';
import { createChangeEvents } from '../registry/change-events.ts';
import { createRegistrationEvents } from '../registry/registration-events.ts';
import { createRegistrationRoutes, type RegistrationDeps } from './registrations.ts';

const reader = createOpenApiReader({
  clock: systemClock,
  workerUrl: new URL('../../lib/manifest/manifest-worker.ts', import.meta.url),
});
const namespace = (slug: string): Namespace => ({
  metadata: { name: `tenant-${slug}`, uid: slug, labels: { [labels.tenant]: slug } },
});

/** Callers by their token: two tenants, and an administrator without one. */
const operators: Readonly<Record<string, Partial<Operator>>> = {
  acme: { tenant: 'acme' },
  system: { tenant: 'system' },
  systemadmin: { tenant: 'system', isAdmin: true },
  other: { tenant: 'other' },
  admin: { isAdmin: true },
  acmeadmin: { tenant: 'acme', isAdmin: true },
  nobody: {},
  robot: { tenant: 'acme', kind: 'service-account', subject: 'ci' },
};

let server: TestServer;
/** Ids of objects that all replicas were asked to let go of. */
const left: string[] = [];
let events: GatewayEvent[] = [];
/** Events of changes, which are beside those of the specification. */
let changes: GatewayEvent[] = [];
let isAuditDown = false;
/** Objects of the cluster that refuse every request in turn. */
let refusal: KubeError | undefined;
const stored = new Map<string, KubeObject>();
/** The Secret of each name in each namespace. */
let secret: object | undefined;
/** Lists that the cluster was asked for. */
const listed: string[] = [];

function cacheOf() {
  return createCache<never, 'namespace'>({ indexes: { namespace: namespaceIndex } });
}

function depsOf(): RegistrationDeps {
  const caches: Record<string, ReturnType<typeof cacheOf>> = {
    apispecs: cacheOf(),
    toolworkflows: cacheOf(),
    clitools: cacheOf(),
  };
  for (const cache of Object.values(caches)) cache.replaceAll([], '1');
  const namespaces = createCache<Namespace, 'tenant' | 'assigned'>({
    indexes: { tenant: tenantIndex, assigned: () => [] },
  });
  namespaces.replaceAll([namespace('acme'), namespace('other')], '1');
  let version = 1;
  const keyOf = ({ plural }: Resource, ref: { namespace?: string | undefined; name?: string | undefined }) =>
    `${plural}/${ref.namespace}/${ref.name}`;
  const kube = {
    async create(resource: Resource, object: KubeObject) {
      if (refusal !== undefined) throw refusal;
      const key = keyOf(resource, object.metadata);
      if (stored.has(key)) throw new KubeError(409, { reason: 'AlreadyExists' }, { verb: 'create', resource: '' });
      version += 1;
      const metadata = { ...object.metadata, uid: randomUUID(), resourceVersion: `${version}`, generation: 1 };
      const made = { ...object, metadata: { ...metadata, creationTimestamp: '2026-11-02T10:00:00Z' } };
      stored.set(key, made);
      return made;
    },
    async get(resource: Resource, ref: { namespace?: string; name: string }) {
      if (resource.plural === 'secrets' && secret !== undefined) return secret;
      const found = stored.get(keyOf(resource, ref));
      if (found === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: '' });
      return found;
    },
    async list(resource: Resource, { namespace: place }: { namespace?: string }) {
      listed.push(`${resource.plural} of ${place}`);
      const items = [...stored].flatMap(([key, object]) =>
        key.startsWith(`${resource.plural}/${place}/`) ? [object] : [],
      );
      return { metadata: {}, items };
    },
    async delete(resource: Resource, ref: { namespace?: string; name: string }, { uid }: { uid: string }) {
      if (refusal !== undefined) throw refusal;
      const isDeleted = stored.delete(keyOf(resource, ref));
      version += 1;
      const gone = { metadata: { ...ref, uid, resourceVersion: `${version}` } };
      caches[resource.plural]?.apply({ type: 'DELETED', object: gone as never });
      return isDeleted;
    },
  };
  const informer = (plural: string) => ({
    cache: caches[plural],
    whole: async (object: unknown) => object,
    use: async (object: unknown, task: (whole: unknown) => unknown) => task(object),
    weight: () => 0,
  });
  const tenants = createTenantDirectory({ namespaces, systemTenant: 'system', systemNamespace: 'windlass-system' });
  const audit = {
    async append(event: GatewayEvent) {
      if (isAuditDown) throw new AppError('unavailable', 'no events are stored');
      (/^(ApiSpec|CliTool)/.test(event.type) ? changes : events).push(event);
    },
    problem: () => (isAuditDown ? 'no connection' : undefined),
    close: async () => undefined,
  };
  const tenancy = createTenancy({ audit, tenants });
  const informers = {
    apiSpecs: informer('apispecs'),
    toolWorkflows: informer('toolworkflows'),
    cliTools: informer('clitools'),
  };
  const documents = createApiDocuments({ kube, reader, whole: informers.apiSpecs.whole } as never);
  const cluster = { informers };
  const stepsMax = 3;
  const bus = { bucket: <T>(of: BucketDefinition) => createMemoryBucket<T>(systemClock, of), stream: () => undefined };
  const parts = { clock: systemClock, logger: silentLogger, workflows: { values: () => [] } };
  const deps = {
    stepsMax,
    kube,
    clock: systemClock,
    newId: randomUUID,
    openApi: reader,
    documents,
    news: {
      made: async () => undefined,
      gone: async (uid: string) => void left.push(uid),
      written: async () => undefined,
    },
    registrations: createRegistrationEvents({ ...parts, bus: bus as never, audit, tenants }),
    tenancy,
    changes: createChangeEvents(audit),
    cluster,
  };
  return deps as unknown as RegistrationDeps;
}

beforeEach(async () => {
  await server?.close();
  stored.clear();
  events = [];
  changes = [];
  isAuditDown = false;
  refusal = undefined;
  secret = aSecret({ token: 'aHVzaA==' });
  const authenticate = async ({ authorization = '' }: { readonly authorization?: string }): Promise<Operator> => {
    const found = operators[authorization.replace('Bearer ', '')];
    if (found === undefined) throw new AppError('unauthenticated', 'no token');
    return {
      subject: 'me',
      kind: 'consumer',
      tenant: undefined,
      isAdmin: false,
      scopes: [],
      until: Infinity,
      ...found,
    };
  };
  server = await startTestServer(createRegistrationRoutes(depsOf()) as never, {
    authenticate: authenticate as never,
    tenantOf: ((operator: Operator) => operator.tenant ?? '') as never,
  });
});
afterAll(async () => {
  await server.close();
  await reader.close();
});

const aSecret = (data: object, label = 'true') => ({
  metadata: { name: 'orders-token', uid: 's', resourceVersion: '1', labels: { 'windlass.dev/credential': label } },
  data,
});

async function ask(method: string, path: string, token = 'acme', body?: unknown) {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const after = response.headers.get('retry-after');
  return {
    status: response.status,
    ...(after !== null && { after }),
    body: text === '' ? undefined : JSON.parse(text),
  };
}

const document = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  servers: [{ url: 'https://orders.example.com' }],
  paths: { '/orders': { post: { operationId: 'createOrder' }, get: { operationId: 'listOrders' } } },
});
const credentials = { kind: 'bearer', secret: { name: 'orders-token' } };
const aSpec = (changes: object = {}) => ({ name: 'orders', document, credentials, ...changes });
const aStep = (changes: object = {}) => ({
  name: 'create',
  operation_id: 'createOrder',
  body_template: '{"sku":"{{input.sku}}"}',
  on_error: 'AbortWorkflow',
  ...changes,
});
const aWorkflow = (api_spec_id: string, changes: object = {}) => ({
  name: 'order.create',
  description: 'Creates an order.',
  input_schema: { type: 'object', properties: { sku: { type: 'string', pattern: '^[a-z0-9-]*$' } } },
  api_spec_id,
  steps: [aStep()],
  ...changes,
});
const aTool = (changes: object = {}) => ({
  name: 'text.count',
  description: 'Counts words.',
  input_schema: { type: 'object', properties: { text: { type: 'string' } } },
  image: 'registry.example.org/count:1',
  command: ['count', '{{input.text}}'],
  ...changes,
});

async function specId(token = 'acme', changes: object = {}): Promise<string> {
  const { status, body } = await ask('POST', '/v1/specs', token, aSpec(changes));
  expect([status, body]).toEqual([200, { id: expect.any(String), name: expect.any(String) }]);
  return body.id as string;
}

const young = {
  rights:
    'x is forbidden: User "gateway" cannot create resource "x" in API group "windlass.dev" in the namespace "tenant-acme"',
  quota: 'x is forbidden: status unknown for quota: windlass',
} as const;

describe('in a tenant that was made a moment ago', () => {
  it.each([
    ['rights', 'does not give Windlass its rights yet'],
    ['quota', 'is not counted yet'],
  ] as const)('each registration and deletion answers 503 with Retry-After for its %s', async (what, text) => {
    const api = await specId();
    refusal = new KubeError(403, { reason: 'Forbidden', message: young[what] }, { verb: 'create', resource: '' });
    const requests = [
      ['POST', '/v1/specs', aSpec({ name: 'more' })],
      ['POST', '/v1/workflows', aWorkflow(api)],
      ['POST', '/v1/cli-tools', aTool()],
      ['DELETE', `/v1/specs/${api}`],
    ] as const;
    for (const [method, path, body] of requests) {
      const answer = await ask(method, path, 'acme', body);
      expect([path, answer.status, answer.after]).toEqual([path, 503, '5']);
      expect(answer.body).toMatchObject({ error: 'unavailable', message: expect.stringContaining(text) });
    }
    refusal = undefined;
    expect((await ask('POST', '/v1/workflows', 'acme', aWorkflow(api))).status).toBe(200);
  });
});

describe('/v1/specs', () => {
  it('GW-OP-21 AMB-196 registers, lists, reads and deletes an API, and never shows more of its credentials than the Secret', async () => {
    const id = await specId();
    const record = { id, name: 'orders', scope: 'tenant', created_at: '2026-11-02T10:00:00Z', credentials };
    expect(await ask('GET', `/v1/specs/${id}`)).toEqual({ status: 200, body: record });
    expect((await ask('GET', '/v1/specs')).body).toEqual({ items: [record], next_cursor: null });
    expect(await ask('DELETE', `/v1/specs/${id}`)).toEqual({ status: 204, body: undefined });
    for (const method of ['GET', 'DELETE']) {
      const { status, body } = await ask(method, `/v1/specs/${id}`);
      expect([status, body.error, body.code]).toEqual([404, 'not_found', 'not_found']);
    }
  });

  it.each([
    [
      'the Secret',
      undefined,
      /there is no Secret orders-token with the label .*=true in the .* tenant-acme; .*'token'/,
    ],
    ['the label', aSecret({ token: 'aHVzaA==' }, 'false'), /there is no Secret orders-token with the label/],
    ['the key', aSecret({ other: 'aHVzaA==' }), /Secret orders-token in .* tenant-acme lacks the key 'token'; add it/],
  ])('GW-WF-11 warns that %s of a credential is missing, of an API and of its tool workflows', async (_, of, text) => {
    secret = of;
    const api = await ask('POST', '/v1/specs', 'acme', aSpec());
    expect([api.status, api.body.warnings]).toEqual([200, [expect.stringMatching(text)]]);
    expect(api.body.warnings[0]).toMatch(/^credentials\.secret: /);
    const tool = await ask('POST', '/v1/workflows', 'acme', aWorkflow(api.body.id));
    expect([tool.status, tool.body.warnings]).toEqual([200, [expect.stringMatching(text)]]);
    expect(tool.body.warnings[0]).toMatch(/^api_spec_id: /);
    secret = aSecret({ token: 'aHVzaA==' });
    expect((await ask('POST', '/v1/workflows', 'acme', aWorkflow(api.body.id, { name: 'b' }))).body).toEqual({
      id: expect.any(String),
      name: 'b',
    });
  });

  it('GW-WF-42 warns of the tool workflows that name an API which is deleted', async () => {
    const api = await specId();
    for (const name of ['b', 'a']) await ask('POST', '/v1/workflows', 'acme', aWorkflow(api, { name }));
    const other = await specId('acme', { name: 'other' });
    expect(await ask('DELETE', `/v1/specs/${other}`)).toEqual({ status: 204, body: undefined });
    const names = 'tenant-acme/b, tenant-acme/a';
    const warning = `calls of 2 tool workflows are answered 404 now: ${names}; delete them, or give them another API`;
    expect(await ask('DELETE', `/v1/specs/${api.toUpperCase()}`)).toEqual({
      status: 200,
      body: { id: api, warnings: [warning] },
    });
  });

  it('tells of what is registered and deleted, by whom, and changes nothing that it could not tell of', async () => {
    const { id: tool } = (await ask('POST', '/v1/cli-tools', 'robot', aTool({ name: 'run.it' }))).body;
    const api = await specId('robot');
    await ask('POST', '/v1/workflows', 'acme', aWorkflow(api));
    isAuditDown = true;
    for (const path of [`/v1/specs/${api}`, `/v1/cli-tools/${tool}`])
      expect((await ask('DELETE', path)).status).toBe(503);
    expect((await ask('POST', '/v1/specs', 'acme', aSpec({ name: 'late' }))).status).toBe(503);
    expect(stored.size).toBe(3);
    isAuditDown = false;
    for (const path of [`/v1/specs/${api}`, `/v1/cli-tools/${tool}`]) await ask('DELETE', path);
    const of = (id: string, name: string, subject: string) => ({ tenant: 'acme', subject, data: { id, name } });
    expect(changes).toEqual([
      { type: 'CliToolRegistered', ...of(tool, 'run.it', 'ci') },
      { type: 'ApiSpecRegistered', ...of(api, 'orders', 'ci') },
      { type: 'ApiSpecDeleted', ...of(api, 'orders', 'me') },
      { type: 'CliToolDeleted', ...of(tool, 'run.it', 'me') },
    ]);
  });

  it('refuses a document that cannot be used, and names the place', async () => {
    const broken = document.replace('3.0.3', '2.0.0');
    const { status, body } = await ask('POST', '/v1/specs', 'acme', aSpec({ document: broken }));
    expect([status, body.error, body.details[0].path]).toEqual([400, 'Validation', 'document.openapi']);
    expect((await ask('POST', '/v1/specs', 'acme', aSpec({ server_url: 'ftp://a' }))).body.details[0].path).toBe(
      'server_url',
    );
    for (const name of ['', null, undefined]) {
      const { status: refused, body: why } = await ask('POST', '/v1/specs', 'acme', aSpec({ name }));
      expect([refused, why.error, why.details[0].path]).toEqual([400, 'Validation', 'name']);
    }
    expect(stored.size).toBe(0);
  });

  it('keeps a document over 512 KiB in ConfigMaps that belong to it', async () => {
    const large = document.replace('"paths"', `"x-text":"${'word '.repeat(120_000)}","paths"`);
    const id = await specId('acme', { document: large });
    const [map] = [...stored.values()].filter(({ kind }) => kind === 'ConfigMap');
    expect(map?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'ApiSpec', uid: id });
    expect((await ask('POST', '/v1/workflows', 'acme', aWorkflow(id))).status).toBe(200);
  });

  it('lets an administrator alone open internal addresses', async () => {
    const opened = { allow_internal_addresses: ['10.0.0.0/8'] };
    expect((await ask('POST', '/v1/specs', 'acme', aSpec(opened))).status).toBe(403);
    expect((await ask('POST', '/v1/specs', 'acmeadmin', aSpec(opened))).status).toBe(200);
  });

  it('AMB-124 answers a second one of a name with 409, and one that shadows a shared API', async () => {
    await specId('admin', { name: 'shared' });
    await specId();
    for (const name of ['orders', 'shared']) {
      expect((await ask('POST', '/v1/specs', 'acme', aSpec({ name }))).status).toBe(409);
    }
    await specId('other');
  });

  it('AMB-125 shares what an administrator without a tenant registers, and lets no tenant delete it', async () => {
    const id = await specId('admin');
    expect((await ask('GET', `/v1/specs/${id}`)).body.scope).toBe('global');
    expect((await ask('DELETE', `/v1/specs/${id}`)).status).toBe(403);
    expect((await ask('POST', '/v1/specs', 'nobody', aSpec({ name: 'mine' }))).status).toBe(403);
    expect((await ask('DELETE', `/v1/specs/${id}`, 'admin')).status).toBe(204);
  });
});

describe('the tenant whose namespace is that of the release', () => {
  it.each(['system', 'systemadmin'])(
    'AMB-125 shares nothing that its %s registers, and deletes nothing shared',
    async (token) => {
      const api = await specId(token, { name: 'private' });
      expect((await ask('GET', `/v1/specs/${api}`, token)).body.scope).toBe('tenant');
      await ask('POST', '/v1/workflows', token, aWorkflow(api, { name: 'private.tool' }));
      await ask('POST', '/v1/cli-tools', token, aTool({ name: 'private.command' }));
      for (const path of ['/v1/specs', '/v1/workflows', '/v1/cli-tools']) {
        expect((await ask('GET', path, token)).body.items).toHaveLength(1);
        expect((await ask('GET', path)).body.items).toEqual([]);
        expect((await ask('GET', path, 'admin')).body.items).toEqual([]);
      }
      const shared = await specId('admin', { name: 'shared' });
      expect((await ask('DELETE', `/v1/specs/${shared}`, token)).status).toBe(403);
      expect([...stored.values()].map(({ metadata }) => metadata.namespace)).toEqual([
        ...Array.from({ length: 3 }, () => 'windlass-system'),
        'windlass-global',
      ]);
    },
  );

  it('GW-TEN-08 is as private as any other: no workflow of another tenant names its API', async () => {
    const api = await specId('system');
    const { status, body } = await ask('POST', '/v1/workflows', 'acme', aWorkflow(api));
    expect([status, body.details[0].path]).toEqual([400, 'api_spec_id']);
  });

  it('AMB-196 every caller sees the scope of an object', async () => {
    const shared = await specId('admin', { name: 'shared' });
    for (const token of ['acme', 'system', 'admin'])
      expect((await ask('GET', `/v1/specs/${shared}`, token)).body.scope).toBe('global');
  });
});

describe('/v1/workflows', () => {
  it('GW-OP-16 GW-WF-28 GW-EVT-01 registers a tool workflow under a UUID, and tells of it', async () => {
    const api = await specId();
    const steps = [aStep(), aStep({ name: 'again' })];
    const { status, body } = await ask('POST', '/v1/workflows', 'acme', aWorkflow(api, { steps }));
    expect([status, body]).toEqual([200, { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'order.create' }]);
    const data = { workflow_id: body.id, name: 'order.create', step_count: 2, generation: 1 };
    expect(events).toEqual([{ type: 'WorkflowRegistered', tenant: 'acme', subject: 'me', data }]);
  });

  it('AMB-129 warns of a value that never is there, and registers', async () => {
    const api = await specId();
    const steps = [aStep({ body_template: '{"sku":"{{state.other.sku}}"}' })];
    const { status, body } = await ask('POST', '/v1/workflows', 'acme', aWorkflow(api, { steps }));
    const warning = 'steps[0].body_template: reads state.other, and no step before this one has that name';
    expect([status, body.warnings]).toEqual([200, [warning]]);
  });

  it('GW-WF-24 warns of a path with a parameter, in the answers for its API and for the tool', async () => {
    const loans = document.replace('"/orders"', '"/loans/{loanId}"');
    const api = await ask('POST', '/v1/specs', 'acme', aSpec({ document: loans }));
    expect([api.status, api.body.warnings]).toEqual([
      200,
      [expect.stringMatching(/^document: 2 of 2 operations need /)],
    ]);
    const { status, body } = await ask('POST', '/v1/workflows', 'acme', aWorkflow(api.body.id, { steps: [aStep()] }));
    const warning = expect.stringMatching(
      /^steps\[0\]\.operation_id: 'createOrder': the path \/loans\/\{loanId\} is sent/,
    );
    expect([status, body.warnings]).toEqual([200, [warning]]);
  });

  it.each([{ delay: '5s' }, { wait_seconds: 5 }, { poll: { until: '$.ready' } }, { retry: { backoff: '1s' } }])(
    'GW-WF-34 has no step that waits, delays or polls: %j',
    async (field) => {
      const api = await specId();
      const place = `steps[1].${Object.keys(field).join()}`;
      for (const step of [aStep({ name: 'later', ...field }), { name: 'later', on_error: 'Continue', ...field }]) {
        const { status, body } = await ask('POST', '/v1/workflows', 'acme', aWorkflow(api, { steps: [aStep(), step] }));
        expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(place)]);
      }
    },
  );

  it('keeps nothing where the event of a registration cannot be stored', async () => {
    const api = await specId();
    isAuditDown = true;
    expect((await ask('POST', '/v1/workflows', 'acme', aWorkflow(api))).status).toBe(503);
    isAuditDown = false;
    expect((await ask('GET', '/v1/workflows')).body).toEqual({ items: [], next_cursor: null });
  });

  it('GW-OP-17 GW-WF-02 lists those of the tenant and shared ones by name, page by page', async () => {
    const shared = await specId('admin', { name: 'shared' });
    await ask('POST', '/v1/workflows', 'admin', aWorkflow(shared, { name: 'b' }));
    for (const name of ['c', 'a']) await ask('POST', '/v1/workflows', 'acme', aWorkflow(shared, { name }));
    await ask('POST', '/v1/workflows', 'other', aWorkflow(shared, { name: 'd' }));
    const first = (await ask('GET', '/v1/workflows?limit=2')).body;
    const second = (await ask('GET', `/v1/workflows?limit=2&cursor=${first.next_cursor}`)).body;
    const rows = [...first.items, ...second.items];
    expect(second.next_cursor).toBeNull();
    expect(rows.map(({ name, scope }) => [name, scope])).toEqual([
      ['a', 'tenant'],
      ['b', 'global'],
      ['c', 'tenant'],
    ]);
    expect(rows[0]).toMatchObject({ description: 'Creates an order.', step_count: 1 });
    expect((await ask('GET', '/v1/workflows?cursor=x')).status).toBe(400);
  });

  it('GW-OP-18 GW-OP-19 GW-WF-29 GW-EVT-08 reads the full record and deletes it on every replica, without an event', async () => {
    const api = await specId();
    const { id } = (await ask('POST', '/v1/workflows', 'acme', aWorkflow(api))).body;
    expect((await ask('GET', `/v1/workflows/${id}`)).body).toMatchObject({ id, ...aWorkflow(api) });
    expect((await ask('GET', `/v1/workflows/${id}`, 'other')).status).toBe(404);
    events = [];
    left.length = 0;
    expect((await ask('DELETE', `/v1/workflows/${id}`)).status).toBe(204);
    expect(left).toEqual([id]);
    expect([events, (await ask('GET', `/v1/workflows/${id}`)).status]).toEqual([[], 404]);
  });

  it('GW-OP-18 GW-OP-19 reads and deletes what another replica made, of which this one has not heard', async () => {
    const elsewhere = (slug: string): string => {
      const [name, uid] = [`elsewhere-${slug}`, randomUUID()];
      const metadata = { name, namespace: `tenant-${slug}`, uid, resourceVersion: '1' };
      const { name: registered, ...rest } = aWorkflow(uid);
      stored.set(`toolworkflows/tenant-${slug}/${name}`, { metadata, spec: { name: registered, ...rest } } as never);
      return uid;
    };
    const [own, foreign] = [elsewhere('acme'), elsewhere('other')];
    expect((await ask('GET', `/v1/workflows/${own}`)).body).toMatchObject({ id: own });
    expect((await ask('GET', `/v1/workflows/${foreign}`)).status).toBe(404);
    expect((await ask('DELETE', `/v1/workflows/${foreign}`)).status).toBe(404);
    expect((await ask('DELETE', `/v1/workflows/${own}`)).status).toBe(204);
    expect([...stored.keys()].filter((key) => key.includes('elsewhere'))).toEqual([
      'toolworkflows/tenant-other/elsewhere-other',
    ]);
    // An id that no server has made costs one look.
    listed.length = 0;
    const unknown = randomUUID();
    for (let times = 0; times < 5; times += 1)
      expect((await ask('DELETE', `/v1/workflows/${unknown}`)).status).toBe(404);
    expect(listed).toEqual(['toolworkflows of tenant-acme', 'toolworkflows of windlass-global']);
    for (const id of ['x', 'not-a-uid']) await ask('DELETE', `/v1/workflows/${id}`);
    expect(listed).toHaveLength(2);
  });

  it('GW-WF-38 GW-TEN-08 takes an API spec that another replica made, of which this one has not heard', async () => {
    await specId();
    const [made] = [...stored].flatMap(([key, object]) => (key.startsWith('apispecs/') ? [object] : []));
    const elsewhere = (slug: string): string => {
      const [name, uid] = ['elsewhere', randomUUID()];
      const metadata = { ...made?.metadata, name, namespace: `tenant-${slug}`, uid };
      stored.set(`apispecs/tenant-${slug}/${name}`, { ...made, metadata });
      return uid;
    };
    const [own, foreign] = [elsewhere('acme'), elsewhere('other')];
    const statusOf = async (id: string) => (await ask('POST', '/v1/workflows', 'acme', aWorkflow(id))).status;
    expect([await statusOf(foreign), await statusOf(randomUUID()), await statusOf(own)]).toEqual([400, 400, 200]);
  });

  it('GW-WF-30 has no update, and gives another id to what is registered again', async () => {
    const api = await specId();
    const { id } = (await ask('POST', '/v1/workflows', 'acme', aWorkflow(api))).body;
    for (const method of ['PUT', 'PATCH']) {
      expect((await ask(method, `/v1/workflows/${id}`, 'acme', aWorkflow(api))).status).toBe(405);
    }
    await ask('DELETE', `/v1/workflows/${id}`);
    expect((await ask('POST', '/v1/workflows', 'acme', aWorkflow(api))).body.id).not.toBe(id);
  });

  it('GW-WF-01 AMB-124 refuses a name that a tool of either kind has, and one of a shared tool', async () => {
    const api = await specId();
    await ask('POST', '/v1/cli-tools', 'acme', aTool({ name: 'taken' }));
    await ask('POST', '/v1/cli-tools', 'admin', aTool({ name: 'shared' }));
    for (const name of ['taken', 'shared']) {
      expect((await ask('POST', '/v1/workflows', 'acme', aWorkflow(api, { name }))).status).toBe(409);
    }
  });

  const cases: [title: string, changes: object, path: string][] = [
    ['GW-WF-35 an empty name', { name: '' }, 'name'],
    ['GW-WF-05 GW-WF-36 no steps', { steps: [] }, 'steps'],
    ['GW-WF-03 GW-WF-37 an input_schema of another type', { input_schema: { type: 'string' } }, 'input_schema.type'],
    ['GW-WF-37 an input_schema that is no object', { input_schema: 'x' }, 'input_schema'],
    ['GW-WF-04 an api_spec_id that is no UUID', { api_spec_id: 'x' }, 'api_spec_id'],
    ['GW-WF-38 an api_spec_id that is unknown', { api_spec_id: randomUUID() }, 'api_spec_id'],
    [
      'GW-WF-07 GW-WF-39 an operation that the document lacks',
      { steps: [aStep({ operation_id: 'no' })] },
      'steps[0].operation_id',
    ],
    ['GW-WF-06 two steps of one name', { steps: [aStep(), aStep()] }, 'steps[1].name'],
    ['GW-WF-10 another policy', { steps: [aStep({ on_error: 'Retry' })] }, 'steps[0].on_error'],
    ['AMB-143 a template that is no text', { steps: [aStep({ body_template: {} })] }, 'steps[0].body_template'],
    ['a name of built-in tools', { name: 'fs.read' }, 'name'],
    ...Object.entries({
      name: 'GW-WF-35',
      steps: 'GW-WF-05 GW-WF-36',
      input_schema: 'GW-WF-37',
      api_spec_id: 'GW-WF-38',
      description: 'a',
    }).flatMap(([field, id]) =>
      [undefined, null, 7].map((value): [string, object, string] => [
        `${id} ${field} that is ${value ?? (value === null ? 'null' : 'absent')}`,
        { [field]: value },
        field,
      ]),
    ),
    [
      'more steps than the configuration allows',
      { steps: ['a', 'b', 'c', 'd'].map((name) => aStep({ name })) },
      'steps',
    ],
    ['an unknown field', { color: 'red' }, 'color'],
    ['a step without its name', { steps: [aStep({ name: undefined })] }, 'steps[0].name'],
  ];
  it('answers an API spec that the controllers refuse with 400 Validation, and says why', async () => {
    const api = await specId();
    const made = [...stored.values()].find(({ metadata }) => metadata.uid === api);
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'InvalidDefinition', message: 'x', observedGeneration: 1 },
    ];
    Object.assign(made ?? {}, { status: { conditions } });
    const { status, body } = await ask('POST', '/v1/workflows', 'acme', aWorkflow(api, {}));
    const message = 'api_spec_id names an API spec that cannot be used: it cannot run: InvalidDefinition: x';
    expect([status, body.error, body.message]).toEqual([400, 'Validation', message]);
  });

  it.each(cases)('answers %s with 400 Validation', async (_, changes, path) => {
    const api = await specId();
    const { status, body } = await ask('POST', '/v1/workflows', 'acme', aWorkflow(api, changes));
    expect([status, body.error, body.details[0].path]).toEqual([400, 'Validation', path]);
    expect(events).toEqual([]);
  });

  it('GW-TEN-08 refuses the API spec of another tenant as if there were none', async () => {
    const api = await specId('other');
    const foreign = await ask('POST', '/v1/workflows', 'acme', aWorkflow(api));
    const absent = await ask('POST', '/v1/workflows', 'acme', aWorkflow(randomUUID()));
    expect([foreign.status, foreign.body.details]).toEqual([400, absent.body.details]);
  });

  it('GW-TEN-04 refuses a payload that names another tenant', async () => {
    const api = await specId();
    expect((await ask('POST', '/v1/workflows', 'acme', aWorkflow(api, { tenant_id: 'other' }))).status).toBe(403);
    expect(events.map(({ type }) => type)).toEqual(['TenantMismatch']);
    expect((await ask('POST', '/v1/workflows', 'acme', aWorkflow(api, { tenant_id: 'acme' }))).status).toBe(200);
  });

  it.each(['/v1/workflows', '/v1/specs', '/v1/cli-tools'])(
    'GW-TEN-04 GW-TEN-07 refuses it at %s for its tenant, whatever else is wrong with it',
    async (path) => {
      const body = { name: 7, tenant_id: 'other', color: 'red' };
      expect((await ask('POST', path, 'acme', body)).status).toBe(403);
      expect(events).toMatchObject([{ type: 'TenantMismatch', data: { asserted_tenant: 'other' } }]);
      expect((await ask('POST', path, 'acme', { ...body, tenant_id: 7 })).status).toBe(400);
      expect(events).toHaveLength(1);
    },
  );
});

describe('a service account', () => {
  it('GW-TEN-05 reads and writes what is of the tenant of its claim, whose name its events have', async () => {
    const foreign = await specId('other', { name: 'foreign' });
    const api = await specId('robot');
    expect((await ask('POST', '/v1/workflows', 'robot', aWorkflow(api))).status).toBe(200);
    expect(events).toMatchObject([{ type: 'WorkflowRegistered', tenant: 'acme', subject: 'ci' }]);
    const places = [...stored.values()].map(({ metadata }) => metadata.namespace);
    expect(places).toEqual(['tenant-other', 'tenant-acme', 'tenant-acme']);
    expect((await ask('GET', '/v1/specs', 'robot')).body.items).toMatchObject([{ id: api }]);
    for (const method of ['GET', 'DELETE'])
      expect((await ask(method, `/v1/specs/${foreign}`, 'robot')).status).toBe(404);
    expect((await ask('POST', '/v1/specs', 'robot', aSpec({ tenant_id: 'other' }))).status).toBe(403);
  });
});

describe('tool workflows and workflows of the orchestrator', () => {
  it('GEN-12 are separate: neither takes the name of the other, nor is found under its id', async () => {
    const uid = randomUUID();
    const manifest = { kind: 'Workflow', metadata: { name: 'deploy', namespace: 'tenant-acme', uid } } as KubeObject;
    stored.set('workflows/tenant-acme/deploy', manifest);
    const api = await specId();
    const { status, body } = await ask('POST', '/v1/workflows', 'acme', aWorkflow(api, { name: 'deploy' }));
    expect(status).toBe(200);
    expect((await ask('GET', '/v1/workflows')).body.items).toMatchObject([{ id: body.id, name: 'deploy' }]);
    for (const method of ['GET', 'DELETE'])
      expect((await ask(method, `/v1/workflows/${uid}`, 'acme')).status).toBe(404);
    await ask('DELETE', `/v1/workflows/${body.id}`);
    expect([...stored.keys()]).toEqual(['workflows/tenant-acme/deploy', 'apispecs/tenant-acme/orders']);
    expect(stored.get('workflows/tenant-acme/deploy')).toBe(manifest);
  });
});

describe('/v1/cli-tools', () => {
  it('GW-OP-22 AMB-196 registers, lists, reads and deletes a CLI tool', async () => {
    const { status, body } = await ask('POST', '/v1/cli-tools', 'acme', aTool());
    expect([status, body.name]).toEqual([200, 'text.count']);
    expect((await ask('GET', `/v1/cli-tools/${body.id}`)).body).toMatchObject({ ...aTool(), id: body.id });
    expect((await ask('GET', '/v1/cli-tools')).body).toMatchObject({ items: [{ id: body.id }], next_cursor: null });
    expect((await ask('DELETE', `/v1/cli-tools/${body.id}`)).status).toBe(204);
    expect((await ask('GET', `/v1/cli-tools/${body.id}`)).status).toBe(404);
  });

  it.each([
    ['a template that does not end', { command: ['count', '{{input.text'] }, 'command[1]'],
    ['a schema of no type', { input_schema: { type: 'array' } }, 'input_schema.type'],
    ['an empty name', { name: '' }, 'name'],
    ['no image', { image: undefined }, 'image'],
    ['a name that is null', { name: null }, 'name'],
  ])('refuses %s with 400 Validation', async (_, changes, path) => {
    const { status, body } = await ask('POST', '/v1/cli-tools', 'acme', aTool(changes));
    expect([status, body.error, body.details[0].path]).toEqual([400, 'Validation', path]);
  });

  it.each([
    [0, 400],
    [1, 200],
    [449, 200],
    [450, 200],
    [451, 400],
  ])('takes a time of %i s with %i', async (timeout_seconds, status) => {
    expect((await ask('POST', '/v1/cli-tools', 'acme', aTool({ timeout_seconds }))).status).toBe(status);
  });
});
