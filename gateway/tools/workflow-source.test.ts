import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createUpstreamRoom } from '../../lib/tools/web/upstream-room.ts';
import { globalNamespace } from '../../crds/labels.ts';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import {
  type AuditChain,
  createAuditChain,
  createAuditRecord,
  type GatewayEvent,
} from '../../lib/audit-chain/index.ts';
import { createApiDocuments } from '../../lib/api-spec/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createCredentials, createTokenExchange } from '../../lib/credentials/index.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { serverStops } from '../../lib/http/server-stops.ts';
import { KubeError, type Secret } from '../../lib/kube/index.ts';
import { readOpenApi } from '../../lib/openapi-document/index.ts';
import { createUpstream, type Upstream } from '../../lib/upstream/index.ts';
import { startTestBus } from '../../test/nats/test-bus.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import type { GatewayAnswer, GatewayCaller } from './tool-source.ts';
import { createToolRegistry } from './tool-registry.ts';
import { createWorkflowSource } from './workflow-source.ts';

interface Sent {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let base: string;
let upstream: Upstream;
let sent: Sent[];
let status: number;
/** Answers wait for it: all, or those of one path. */
let gate: Promise<void>;
let gated: string | undefined;
let tokens: number;
let isTokenServerAway: boolean;
/** Values of `authorization` that the API refuses. */
let revoked: (value: string) => boolean;

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      sent.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      response.setHeader('content-type', 'application/json');
      if (url === '/token') {
        tokens += 1;
        if (isTokenServerAway) response.statusCode = 503;
        return response.end(JSON.stringify({ access_token: `t${tokens}`, token_type: 'Bearer', expires_in: 3_600 }));
      }
      response.statusCode = url === '/refusing' || revoked(headers.authorization ?? '') ? 401 : status;
      const answer = JSON.stringify({ id: `${method}-1`, auth: headers.authorization ?? null });
      const isOpen = gated !== undefined && gated !== url;
      return void (isOpen ? Promise.resolve() : gate).then(() => response.end(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  upstream = createUpstream({ clock: systemClock, resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
});
afterAll(async () => {
  await upstream.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  sent = [];
  status = 200;
  gate = Promise.resolve();
  gated = undefined;
  tokens = 0;
  isTokenServerAway = false;
  revoked = () => false;
});

const operation = (operationId: string) => ({ operationId, responses: { 200: { description: 'ok' } } });
/** Paths with servers of their own, in a document without one. */
const byPath = (...hosts: string[]) => ({
  servers: [],
  paths: Object.fromEntries(
    ['find', 'order'].map((id, index) => [
      `/${id}`,
      { servers: [{ url: base.replace('127.0.0.1', hosts[index] ?? '127.0.0.1') }], post: operation(id) },
    ]),
  ),
});
const document = () => ({
  openapi: '3.1.0',
  info: { title: 'shop', version: '1' },
  servers: [{ url: base }],
  paths: {
    '/items': { get: operation('find') },
    '/orders': { post: operation('order'), head: operation('look') },
    '/elsewhere': { get: { ...operation('away'), servers: [{ url: base.replace('127.0.0.1', 'localhost') }] } },
  },
});

/** The API of the scene is gone. */
const missing =
  'there is no ApiSpec 11111111-1111-4111-8111-111111111111 in tenant-acme or windlass-global; make it, or mend ' +
  'api_spec_id of the ToolWorkflow';

type Credentials = NonNullable<ApiSpec['spec']['credentials']>;

interface Scene {
  readonly credentials?: Credentials;
  readonly secret?: Readonly<Record<string, string>>;
  /** Value of the label; `none`: the Secret lacks it. Default: true. */
  readonly label?: string;
  readonly steps?: ToolWorkflow['spec']['steps'];
  /** In place of parts of the document. */
  readonly document?: object;
  /** Generation of the API object on the API server, with another document. The cache has generation 1. */
  readonly generation?: number;
  readonly isApiGone?: boolean;
  readonly isGone?: boolean;
  /** Reason for which the controllers refuse the workflow, or its API. */
  readonly refused?: string;
  readonly apiRefused?: string;
  readonly isAuditAway?: boolean;
  /** In place of a list of events. */
  readonly audit?: AuditChain;
  /** The API server's answer to a reader of the Secret. */
  readonly refusal?: Error;
  /** All tenants share the workflow and the API that it names; the tenant has an older API of that name. */
  readonly isShadowed?: boolean;
  /** Others that claim its name. */
  readonly rivals?: readonly ToolWorkflow[];
  /** Name of the tool that a process before this one has seen. */
  readonly formerName?: string;
  readonly isFormerRead?: boolean;
}

const step = (name: string, operation_id: string, more: object = {}): ToolWorkflow['spec']['steps'][number] => ({
  name,
  operation_id,
  body_template: '{"q": "{{input.q}}", "found": "{{state.find.id}}"}',
  on_error: 'AbortWorkflow',
  ...more,
});
const two = [step('find', 'find', { extractors: { id: '$.id' } }), step('order', 'order')];
const caller: GatewayCaller = {
  tenant: 'acme',
  subject: 'agent-1',
  executionId: 'e-1',
  security: {},
  scopes: [],
  registered: false,
  namespace: 'tenant-acme',
};

const refusedFor = (reason: string | undefined) =>
  reason === undefined
    ? {}
    : {
        status: {
          conditions: [{ type: 'Ready', status: 'False', reason, message: 'a place', observedGeneration: 1 }],
        },
      };

function open(scene: Scene = {}) {
  const events: GatewayEvent[] = [];
  const namespace = scene.isShadowed === true ? globalNamespace : 'tenant-acme';
  const api = {
    metadata: {
      name: 'shop',
      namespace,
      uid: '11111111-1111-4111-8111-111111111111',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 1,
    },
    spec: { allow_internal_addresses: ['127.0.0.0/8'], credentials: scene.credentials },
    ...refusedFor(scene.apiRefused),
  } as unknown as ApiSpec;
  const workflow = {
    metadata: {
      name: 'buy',
      namespace,
      uid: 'workflow-uid',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: {
      description: 'buys',
      input_schema: { type: 'object', required: ['q'], properties: { q: { type: 'string' } } },
      ...(scene.isShadowed === true ? { api_spec: 'shop' } : { api_spec_id: api.metadata.uid }),
      steps: scene.steps ?? two,
    },
    ...refusedFor(scene.refused),
  } as unknown as ToolWorkflow;
  const ofCaller = { namespace: 'tenant-acme', uid: 'shadow', creationTimestamp: '2025-01-01T00:00:00Z' };
  const shadow = { ...api, metadata: { ...api.metadata, ...ofCaller } };
  const apis = [...(scene.isApiGone === true ? [] : [api]), ...(scene.isShadowed === true ? [shadow] : [])];
  let isListed = true;
  let now = workflow;
  const secret: Secret = {
    metadata: {
      name: 'key',
      namespace: 'tenant-acme',
      uid: 's',
      resourceVersion: '1',
      ...(scene.label !== 'none' && { labels: { 'windlass.dev/credential': scene.label ?? 'true' } }),
    },
    data: Object.fromEntries(
      Object.entries(scene.secret ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
  };
  const kube = {
    async get() {
      if (scene.refusal !== undefined) throw scene.refusal;
      if (scene.secret !== undefined) return secret as never;
      throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'secrets' });
    },
  };
  const source = createWorkflowSource({
    clock: systemClock,
    room: createUpstreamRoom({ clock: systemClock, size: 70 * 1_048_576 }),
    logger: silentLogger,
    audit: scene.audit ?? {
      async append(event) {
        if (scene.isAuditAway === true) throw new AppError('unavailable', 'the audit is away');
        events.push(event);
      },
      problem: () => undefined,
      close: async () => undefined,
    },
    tenancy: { visibleTo: (tenant) => (tenant === 'acme' ? ['tenant-acme', globalNamespace] : [globalNamespace]) },
    objects: {
      byIndex: (_index, place) => [
        ...(isListed && place === namespace ? [now] : []),
        ...(scene.rivals ?? []).filter(({ metadata }) => metadata.namespace === place),
      ],
    },
    former: {
      isCurrent: scene.isFormerRead !== false,
      has: (place, name) => place === 'tenant-acme' && (name === scene.formerName || (!isListed && name === 'buy')),
    },
    whole: async (found) => (scene.isGone === true ? undefined : found),
    apiSpecs: {
      getByUid: () => (scene.isApiGone === true ? undefined : api),
      byIndex: (_index, place) => apis.filter(({ metadata }) => metadata.namespace === place),
    },
    documents: createApiDocuments({
      kube,
      reader: { readOpenApi: async (text) => readOpenApi(typeof text === 'string' ? text : await text()) },
      whole: async ({ metadata }) => ({
        ...api,
        metadata: { ...metadata, generation: scene.generation ?? 1 },
        spec: {
          allow_internal_addresses: ['127.0.0.0/8'],
          document: JSON.stringify({ ...document(), ...scene.document, ...(metadata.uid === 'shadow' && byPath()) }),
        },
      }),
    }),
    credentials: createCredentials({
      kube,
      clock: systemClock,
      tokens: createTokenExchange({ clock: systemClock, upstream }),
    }),
    upstream,
  });
  const call = (args: Record<string, unknown> = { q: 'tea' }, { signal } = new AbortController()) => {
    const tool = source.find('acme', 'buy');
    if (tool === undefined) throw new Error('no tool');
    return tool.call(caller, args, { signal, invocationId: 'i-1' }).then(asValues);
  };
  const remove = (): void => {
    isListed = false;
  };
  const change = (steps: ToolWorkflow['spec']['steps']): void => {
    now = { ...workflow, spec: { ...workflow.spec, steps } };
  };
  return { source, call, remove, change, events, types: () => events.map(({ type }) => type) };
}

/** As its caller reads it. */
function asValues(answer: GatewayAnswer) {
  if (answer.json === undefined) return answer;
  const content = Buffer.concat(answer.json).toString();
  return { content, structured: JSON.parse(content) as unknown, isError: answer.isError };
}

describe('a tool workflow as a tool', () => {
  it('GW-TEN-08 is seen by its tenant, and by no other', () => {
    const { source } = open();
    expect([...source.list('acme')].map(({ name, source: from }) => [name, from])).toEqual([['buy', 'workflow']]);
    expect(source.find('globex', 'buy')).toBeUndefined();
  });

  it.each([
    [undefined, undefined],
    ['InvalidDefinition', 'InvalidDefinition: a place'],
    ['OperationNotFound', 'OperationNotFound: a place'],
    ['NameTaken', undefined],
    // The API is there now, and the controllers judge the tool anew.
    ['ApiSpecNotFound', undefined],
    ['ApiSpecNotReady', undefined],
    ['ApiSpecNotFound', `ApiSpecNotFound: ${missing}`, { isApiGone: true }],
    ['ApiSpecNotReady', `ApiSpecNotFound: ${missing}`, { isApiGone: true }],
    [
      'ApiSpecNotReady',
      'ApiSpecNotReady: ApiSpec shop: InvalidDefinition: a place',
      { apiRefused: 'InvalidDefinition' },
    ],
    ['ApiSpecNotReady', 'ApiSpecNotReady: ApiSpec shop: DocumentMissing: a place', { apiRefused: 'DocumentMissing' }],
  ])('is listed with the verdict %s of the controllers as %s', (refused, want, scene: Scene = {}) => {
    const [tool] = open({ ...scene, ...(refused !== undefined && { refused }) }).source.list('acme');
    expect(tool?.notReady).toBe(want);
  });

  it('GW-WF-42 says which API spec is absent, and what mends that', async () => {
    await expect(open({ isApiGone: true }).call()).rejects.toMatchObject({ reason: 'NotFound', message: missing });
    const shared = open({ isApiGone: true, isShadowed: true }).call();
    await expect(shared).rejects.toThrow(
      'there is no ApiSpec shop in windlass-global; make it, or mend api_spec of the ToolWorkflow',
    );
  });

  it('GW-WF-11 GW-WF-25 answers with the last body and the state, and sends no other header or query', async () => {
    const answer = await open().call();
    expect(answer).toMatchObject({
      isError: false,
      structured: {
        workflow_id: 'workflow-uid',
        execution_id: 'e-1',
        result: { id: 'POST-1' },
        state: { 'find.id': 'GET-1' },
      },
    });
    expect(sent.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['GET', '/items', '{"q": "tea", "found": ""}'],
      ['POST', '/orders', '{"q": "tea", "found": "GET-1"}'],
    ]);
    // Those of HTTP itself, and the type of the body.
    const own = ['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'user-agent'];
    for (const { headers } of sent) expect(Object.keys(headers).filter((name) => !own.includes(name))).toEqual([]);
  });

  it('AMB-124 GW-TEN-08 calls the API of its own namespace, and no older one of the caller', async () => {
    await open({ isShadowed: true }).call();
    expect(sent.map(({ url }) => url)).toEqual(['/items', '/orders']);
    await expect(open({ isShadowed: true, isApiGone: true }).call()).rejects.toMatchObject({ reason: 'NotFound' });
    expect(sent).toHaveLength(2);
  });

  it('GW-EVT-02 GW-EVT-03 GW-EVT-04 GW-EVT-06 tells of each act, in the order of the acts', async () => {
    const { call, events, types } = open();
    await call();
    expect(types()).toEqual([
      'WorkflowInvocationStarted',
      'CredentialExchangeCompleted',
      'WorkflowStepStarted',
      'WorkflowStepExecuted',
      'WorkflowStepStarted',
      'WorkflowStepExecuted',
      'WorkflowInvocationCompleted',
    ]);
    expect(events[1]?.data).toMatchObject({ strategy: 'none', target_service: 'shop' });
    expect(events[3]?.data).toMatchObject({
      step: 'find',
      http_status: 200,
      duration_ms: expect.any(Number) as number,
    });
    expect(events[6]?.data).toMatchObject({ step_count: 2, duration_ms: expect.any(Number) as number });
    expect(events.every(({ invocationId, tenant }) => invocationId === 'i-1' && tenant === 'acme')).toBe(true);
  });

  it('GW-EVT-05 GW-EVT-03 tells which step failed, after its response', async () => {
    status = 500;
    const { call, events, types } = open();
    expect(await call()).toMatchObject({
      isError: true,
      content: expect.stringContaining("step 'find' failed") as string,
    });
    expect(types().slice(-2)).toEqual(['WorkflowStepExecuted', 'WorkflowInvocationFailed']);
    expect(events.at(-1)?.data).toMatchObject({
      failed_step: 'find',
      reason: expect.stringContaining('500') as string,
    });
  });

  it('GW-EVT-03 GW-EVT-05 tells of no executed step where no response came', async () => {
    const away = { servers: [{ url: 'http://127.0.0.1:1' }] };
    const { call, events, types } = open({
      document: away,
      steps: [step('find', 'find', { on_error: { RetryN: 1 } })],
    });
    expect(await call()).toMatchObject({ isError: true });
    expect(types()).toEqual([
      'WorkflowInvocationStarted',
      'CredentialExchangeCompleted',
      'WorkflowStepStarted',
      'WorkflowStepStarted',
      'WorkflowInvocationFailed',
    ]);
    expect(events.at(-1)?.data).toMatchObject({ failed_step: 'find' });
  });

  it('GW-WF-08 GW-WF-24 sends the body with GET too, and the path of the operation as it is written', async () => {
    const paths = { '/orders/{id}/lines': { get: operation('find') } };
    expect(await open({ document: { paths }, steps: [step('find', 'find')] }).call()).toMatchObject({ isError: false });
    expect(sent).toMatchObject([{ method: 'GET', url: '/orders/{id}/lines', body: '{"q": "tea", "found": ""}' }]);
  });

  it.each<[string, Scene, string]>([
    ['GW-WF-41 of a workflow whose deletion the cache has not heard of', { isGone: true }, 'not_found'],
    ['GW-WF-42 whose API spec was deleted', { isApiGone: true }, 'not_found'],
    ['whose start cannot be stored', { isAuditAway: true }, 'unavailable'],
  ])('%s sends nothing', async (_title, scene, code) => {
    await expect(open(scene).call()).rejects.toMatchObject({ code });
    expect(sent).toEqual([]);
  });

  it.each<[string, Scene, string]>([
    ['itself', { refused: 'InvalidDefinition' }, 'the tool cannot run: InvalidDefinition: a place'],
    [
      'by its API',
      { refused: 'ApiSpecNotReady', apiRefused: 'InvalidDefinition' },
      "the tool's API spec shop cannot run: InvalidDefinition: a place",
    ],
    [
      'by its operations',
      { refused: 'OperationNotFound', steps: [step('find', 'find'), step('order', 'missing')] },
      "step 'order': 'missing' is no operationId of the API spec",
    ],
  ])('GW-WF-07 GW-WF-39 that the controllers refuse, %s, is not run, and says why', async (_title, scene, message) => {
    const { call } = open(scene);
    await expect(call()).rejects.toMatchObject({ code: 'invalid', reason: 'Validation', message });
    expect(sent).toEqual([]);
  });

  it.each<[string, Scene]>([
    ['not accepted yet', { refused: 'ApiSpecNotReady' }],
    ['not found then', { refused: 'ApiSpecNotFound' }],
    ['of a taken name', { refused: 'NameTaken', apiRefused: 'NameTaken' }],
    ['in a namespace that was no tenant then', { refused: 'NotATenant', apiRefused: 'NotATenant' }],
    ['without parts of its document then', { refused: 'ApiSpecNotReady', apiRefused: 'DocumentMissing' }],
  ])('runs with an API that was %s and is there now', async (_title, scene) => {
    expect(await open(scene).call()).toMatchObject({ isError: false });
  });

  it('GW-WF-41 GW-EVT-08 is not found once it was deleted, by its own tenant, and no event tells of that', async () => {
    const { call, remove, source, types } = open();
    remove();
    await expect(call({})).rejects.toMatchObject({ code: 'not_found' });
    expect(source.find('globex', 'buy')).toBeUndefined();
    expect([...source.list('acme')]).toEqual([]);
    expect(types()).toEqual([]);
  });

  it('GW-WF-29 finishes a call that is under way when it is deleted, and takes no other', async () => {
    const { call, remove, types } = open();
    const { promise, resolve: answerNow } = Promise.withResolvers<void>();
    gate = promise;
    const answer = call();
    await expect.poll(() => sent.map(({ url }) => url)).toEqual(['/items']);
    remove();
    answerNow();
    expect(await answer).toMatchObject({ isError: false, structured: { result: { id: 'POST-1' } } });
    expect(types().at(-1)).toBe('WorkflowInvocationCompleted');
    await expect(call()).rejects.toMatchObject({ code: 'not_found', reason: 'NotFound' });
    expect(sent).toHaveLength(2);
  });

  it('GW-WF-30 ADR 0116 finishes a call as it began when kubectl changes it, and takes the next one as it is now', async () => {
    const { call, change } = open();
    const { promise, resolve: answerNow } = Promise.withResolvers<void>();
    gate = promise;
    const answer = call();
    await expect.poll(() => sent.map(({ url }) => url)).toEqual(['/items']);
    change([step('order', 'order')]);
    answerNow();
    expect(await answer).toMatchObject({ isError: false, structured: { state: { 'find.id': 'GET-1' } } });
    expect(sent.map(({ url }) => url)).toEqual(['/items', '/orders']);
    expect(await call()).toMatchObject({ isError: false, structured: { state: {} } });
    expect(sent.map(({ url }) => url).slice(2)).toEqual(['/orders']);
  });

  it('that a stopping gateway gives up answers which steps were sent, and events tell why it ended', async () => {
    const { call, events } = open();
    const { promise, resolve: answerNow } = Promise.withResolvers<void>();
    gate = promise;
    const stop = new AbortController();
    const answer = call(undefined, stop);
    await expect.poll(() => sent.map(({ url }) => url)).toEqual(['/items']);
    stop.abort(serverStops());
    expect(await answer).toMatchObject({
      content: expect.stringMatching(/^OutcomeUnknown: step find was sent \(invocation i-1\)/) as string,
      isError: true,
    });
    answerNow();
    expect(events.at(-1)).toMatchObject({
      type: 'WorkflowInvocationFailed',
      data: { failed_step: 'find', reason: serverStops().message },
    });
  });

  it('that a stopping gateway gives up before a step is no answer of the tool, so that it may be called again', async () => {
    const { call } = open();
    const stop = new AbortController();
    stop.abort(serverStops());
    await expect(call(undefined, stop)).rejects.toMatchObject({ code: 'cancelled' });
    expect(sent).toEqual([]);
  });

  it('GW-WF-41 GW-WF-29 is not found in a process that began after it was deleted', async () => {
    const { source, types } = open({ formerName: 'old' });
    const reading = createToolRegistry([open({ isFormerRead: false }).source]);
    expect(reading.find('acme', 'buy')).toBeDefined();
    expect(() => reading.find('acme', 'old')).toThrow(expect.objectContaining({ reason: 'ToolsUnread' }));
    reading.requireRead('acme');
    const gone = source.find('acme', 'old');
    const context = { signal: new AbortController().signal, invocationId: 'i-1' };
    await expect(gone?.call(caller, { any: 1 }, context)).rejects.toMatchObject({
      code: 'not_found',
      reason: 'NotFound',
    });
    expect([source.find('globex', 'old'), types()]).toEqual([undefined, []]);
  });

  it.each<[string, string, string]>([
    ['the shared one, which is older', globalNamespace, '2025-01-01T00:00:00Z'],
    ['the shared one, which is younger', globalNamespace, '2027-01-01T00:00:00Z'],
    ['the older one of the tenant', 'tenant-acme', '2027-01-01T00:00:00Z'],
  ])(
    'GW-WF-01 GW-WF-02 GW-OP-20 AMB-124 is one of those that claim its name, listed and called: %s',
    (_title, place, at) => {
      const rival = {
        metadata: { name: 'buy', namespace: place, uid: 'rival', creationTimestamp: at },
        spec: { description: 'shared', input_schema: { type: 'object' }, steps: two },
      } as unknown as ToolWorkflow;
      const { source } = open({ rivals: [rival] });
      const listed = [...source.list('acme')];
      const called = source.find('acme', 'buy');
      const description = place === globalNamespace ? 'shared' : 'buys';
      expect(listed.map((tool) => tool.description)).toEqual([description]);
      expect(called?.description).toBe(description);
      expect(source.find('globex', 'buy')?.description).toBe(place === globalNamespace ? 'shared' : undefined);
    },
  );

  it('AMB-126 takes the answer to HEAD, which has no body, as null, and another status as a failure', async () => {
    const look = step('look', 'look', { extractors: { id: '$.id' } });
    const { isError, structured } = await open({ steps: [look] }).call();
    expect([isError, structured]).toMatchObject([false, { result: null, state: {} }]);
    expect(sent.map(({ method, url }) => [method, url])).toEqual([['HEAD', '/orders']]);
    status = 404;
    expect(await open({ steps: [look] }).call()).toMatchObject({
      isError: true,
      content: "step 'look' failed: the upstream answered with status 404",
    });
  });

  it('GW-EVT-05 GW-WF-40 tells which step failed where its body is no JSON', async () => {
    const broken = step('order', 'order', { body_template: '{"q": {{input.q}}' });
    const { call, events } = open({ steps: [two[0] ?? broken, broken] });
    await expect(call()).rejects.toMatchObject({ reason: 'Validation' });
    expect(events.at(-1)).toMatchObject({ type: 'WorkflowInvocationFailed', data: { failed_step: 'order' } });
  });

  it('GW-WF-40 names the steps that were sent before the one whose body is no JSON', async () => {
    const broken = step('order', 'order', { body_template: '{"q": {{input.q}}' });
    const { call } = open({ steps: [step('find', 'find'), broken] });
    await expect(call()).rejects.toMatchObject({
      code: 'invalid',
      reason: 'Validation',
      message: expect.stringMatching(
        /did not render valid JSON.*; before that, step find was sent \(invocation i-1\)$/,
      ),
    });
    expect(sent).toHaveLength(1);
  });

  const started = ['WorkflowInvocationStarted', 'CredentialExchangeCompleted', 'WorkflowStepStarted'];
  const unknown = 'OutcomeUnknown: step find was sent (invocation i-1), and the workflow did not reach its end.';
  it.each([
    [
      'between two steps says which were sent, and not to repeat it',
      '/items',
      { isError: true, content: `${unknown} Do not repeat the call; look at the audit.` },
      [...started, 'WorkflowStepExecuted', 'WorkflowInvocationFailed'],
    ],
    [
      'behind its last step has its answer',
      '/orders',
      { isError: false, structured: expect.objectContaining({ result: { id: 'POST-1', auth: null } }) },
      [
        ...started,
        'WorkflowStepExecuted',
        'WorkflowStepStarted',
        'WorkflowStepExecuted',
        'WorkflowInvocationCompleted',
      ],
    ],
  ])(
    'GW-EVT-03 GW-EVT-04 GW-EVT-05 that loses the event bus %s, and no event is lost',
    async (_where, path, want, types) => {
      const nats = await startTestBus();
      const bus = nats.connect();
      const { privateKey: key } = generateKeyPairSync('ed25519');
      const audit = createAuditChain({ bus, clock: systemClock, logger: silentLogger, newId, key });
      const warm: GatewayEvent = { type: 'SessionCreated', tenant: 'globex', subject: 'kim', data: {} };
      await expect
        .poll(
          () =>
            audit.append(warm).then(
              () => true,
              () => false,
            ),
          { timeout: 30_000 },
        )
        .toBe(true);
      const { promise, resolve: release } = Promise.withResolvers<void>();
      [gate, gated] = [promise, path];
      const answer = open({ audit }).call();
      await expect.poll(() => sent.at(-1)?.url, { timeout: 20_000 }).toBe(path);
      await nats.server.kill();
      release();
      expect(await answer).toMatchObject(want);
      expect(sent.at(-1)?.url).toBe(path);
      await nats.server.start();
      const record = createAuditRecord({ bus, clock: systemClock });
      const query = { tenant: 'acme', types: [], limit: 500 };
      const stored = async () =>
        (await record.page(query, { of: 'acme' }).catch(() => ({ events: [] }))).events.map(({ type }) => type);
      await expect.poll(stored, { timeout: 30_000 }).toEqual(types);
      await audit.close();
      await nats.stop();
    },
    90_000,
  );

  it('GW-INV-22 refuses an input that its schema refuses, and sends nothing', async () => {
    await expect(open().call({ q: 7 })).rejects.toMatchObject({
      refusal: {
        kind: 'arguments',
        message: "Invalid tool arguments: q must be string, not number for tool 'buy'",
      },
    });
    expect(sent).toEqual([]);
  });
});

const secret = { name: 'key' };

const refusalOf = (code: number, reason: string): KubeError =>
  new KubeError(code, { reason, message: 'hush' }, { verb: 'get', resource: 'secrets' });

describe('the credential of an API', () => {
  it.each([refusalOf(500, 'InternalError'), new AppError('unavailable', 'hush'), new AppError('timeout', 'hush')])(
    'GW-EVT-06 that cannot be read now fails the call after one event: %s',
    async (refusal) => {
      const { call, types, events } = open({ credentials: { kind: 'bearer', secret }, refusal });
      await expect(call()).rejects.toBe(refusal);
      expect(types()).toEqual(['WorkflowInvocationStarted', 'CredentialExchangeFailed', 'WorkflowInvocationFailed']);
      expect(events[1]?.data).toMatchObject({ strategy: 'bearer', target_service: 'shop' });
      expect(sent).toEqual([]);
    },
  );

  it.each<[Credentials, Record<string, string>, string, string]>([
    [{ kind: 'static_header', secret, header: 'x-key' }, { value: 'v1' }, 'x-key', 'v1'],
    [{ kind: 'basic', secret }, { username: 'u', password: 'p' }, 'authorization', 'Basic dTpw'],
    [{ kind: 'bearer', secret }, { token: 'tok\n' }, 'authorization', 'Bearer tok'],
    [{ kind: 'api_key_header', secret, header: 'x-api' }, { key: 'k1' }, 'x-api', 'k1'],
  ])('GW-WF-11 of the kind %j is sent with each step', async (credentials, values, header, want) => {
    const { call, events } = open({ credentials, secret: values });
    await call();
    expect(sent.map(({ headers }) => headers[header])).toEqual([want, want]);
    const exchange = events.find(({ type }) => type === 'CredentialExchangeCompleted');
    expect(exchange?.data).toMatchObject({ strategy: credentials.kind });
    for (const value of Object.values(values)) expect(JSON.stringify(events)).not.toContain(`"${value.trim()}"`);
  });

  it('GW-WF-11 is added to the query where the API wants it there', async () => {
    await open({ credentials: { kind: 'api_key_query', secret, param: 'k' }, secret: { key: 'a&b=c' } }).call();
    expect(sent.map(({ url }) => url)).toEqual(['/items?k=a%26b%3Dc', '/orders?k=a%26b%3Dc']);
  });

  it('GW-EVT-06 is a token of an OAuth 2.0 server, asked for once by callers at one time', async () => {
    const credentials = {
      kind: 'oauth2_client_credentials',
      secret,
      token_url: `${base}/token`,
      scopes: ['read'],
    } as const satisfies Credentials;
    const { call } = open({ credentials, secret: { client_id: 'c', client_secret: 's' } });
    await Promise.all([call(), call(), call()]);
    await call();
    expect(tokens).toBe(1);
    const asked = sent.find(({ url }) => url === '/token');
    expect(asked?.body).toBe('scope=read&grant_type=client_credentials');
    expect(asked?.headers.authorization).toBe(`Basic ${Buffer.from('c:s').toString('base64')}`);
    expect(sent.at(-1)?.headers.authorization).toBe('Bearer t1');
  });

  describe('a token that the API no longer takes', () => {
    const scene = (steps: ToolWorkflow['spec']['steps']): Scene => ({
      credentials: { kind: 'oauth2_client_credentials', secret, token_url: `${base}/token` },
      secret: { client_id: 'c', client_secret: 's' },
      steps,
    });
    const bearers = () => sent.filter(({ url }) => url !== '/token').map(({ headers }) => headers.authorization);

    it.each<[string, ToolWorkflow['spec']['steps'], string[], boolean]>([
      ['of a step that ends its chain, by the next call', [step('find', 'find')], ['Bearer t1'], true],
      [
        'without a further attempt, as before',
        [step('find', 'find', { on_error: { RetryN: 0 } })],
        ['Bearer t1'],
        true,
      ],
      [
        'by the next attempt of the step',
        [step('order', 'order', { on_error: { RetryN: 2 } })],
        ['Bearer t1', 'Bearer t2'],
        false,
      ],
      [
        'by the step behind one that may fail',
        [step('first', 'order', { on_error: 'Continue' }), step('order', 'order')],
        ['Bearer t1', 'Bearer t2'],
        false,
      ],
    ])(
      'GW-EVT-06 GW-WF-11 GW-WF-31 GW-WF-33 is given up, and another one sent %s',
      async (_title, steps, want, isError) => {
        revoked = (value) => value === 'Bearer t1';
        const { call, types } = open(scene(steps));
        expect(await call()).toMatchObject({ isError });
        expect(bearers()).toEqual(want);
        expect(types().filter((type) => type.startsWith('CredentialExchange'))).toHaveLength(1);
        sent = [];
        expect(await call()).toMatchObject({ isError: false });
        expect([tokens, new Set(bearers())]).toEqual([2, new Set(['Bearer t2'])]);
      },
    );

    it('GW-WF-11 costs the token server one request, however often an API refuses each token', async () => {
      revoked = () => true;
      const { call } = open(scene([step('find', 'find')]));
      for (let i = 0; i < 4; i += 1) expect(await call()).toMatchObject({ isError: true });
      await Promise.all([call(), call(), call()]);
      expect(tokens).toBe(2);
      expect(bearers().slice(0, 3)).toEqual(['Bearer t1', 'Bearer t2', 'Bearer t2']);
    });

    it('GW-WF-11 is replaced once for callers at one time', async () => {
      const { call } = open(scene([step('find', 'find')]));
      await call();
      revoked = (value) => value === 'Bearer t1';
      await Promise.all([call(), call(), call(), call()]);
      const answers = await Promise.all([call(), call(), call(), call()]);
      expect([answers.map(({ isError }) => isError), tokens]).toEqual([[false, false, false, false], 2]);
    });

    it('GW-WF-11 has no successor where the token server gives none: the step fails, and says why', async () => {
      const { call } = open(scene([step('find', 'find')]));
      await call();
      revoked = (value) => value === 'Bearer t1';
      isTokenServerAway = true;
      expect(await call()).toMatchObject({ isError: true });
      const { isError, content } = await call();
      expect([isError, content]).toEqual([true, expect.stringContaining('gave no token: it answered with status 503')]);
    });
  });

  it.each<[string, string, string]>([
    ['whose server is at an internal address', 'http://10.9.8.7/token', '10.9.8.7 is at an internal address'],
    ['whose server refuses the client', 'BASE/refusing', 'it answered with status 401'],
    ['whose server answers something else', 'BASE/items', 'its answer is none of the client credentials grant'],
    ['whose server is not there', 'http://127.0.0.1:1/token', 'the connection was refused'],
  ])('GW-EVT-06 a token %s: the answer says so, and nothing else is sent', async (_title, url, reason) => {
    const credentials = {
      kind: 'oauth2_client_credentials',
      secret,
      token_url: url.replace('BASE', base),
    } as const satisfies Credentials;
    const { call, types, events } = open({ credentials, secret: { client_id: 'c', client_secret: 'hush-hush' } });
    const answer = await call();
    expect(answer).toMatchObject({ isError: true, content: expect.stringContaining(`gave no token: `) as string });
    expect(answer.content).toContain(reason);
    expect(types()).toEqual(['WorkflowInvocationStarted', 'CredentialExchangeFailed', 'WorkflowInvocationFailed']);
    expect(JSON.stringify([answer, events])).not.toContain('hush');
    expect(sent.filter(({ url: path }) => path === '/orders')).toEqual([]);
  });

  it.each(['Host', 'Content-Length', 'Transfer-Encoding'])(
    'GW-EVT-06 in the header %s, which an ApiSpec of kubectl names, is sent nowhere',
    async (header) => {
      const credentials: Credentials = { kind: 'static_header', secret, header };
      const { call, types } = open({ credentials, secret: { value: 'hush.example.com' } });
      expect(await call()).toEqual({
        isError: true,
        content: expect.stringContaining('spec.credentials.header of the ApiSpec is a header of the connection'),
      });
      expect(types()).toEqual(['WorkflowInvocationStarted', 'CredentialExchangeFailed', 'WorkflowInvocationFailed']);
      expect(sent).toEqual([]);
    },
  );

  it('is for the server of the API alone', async () => {
    const credentials: Credentials = { kind: 'bearer', secret };
    await open({ credentials, secret: { token: 'tok' }, steps: [step('away', 'away'), step('home', 'find')] }).call();
    expect(sent.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer tok']);
  });

  it('is for the only origin of the paths, where the document names none', async () => {
    const { call, events } = open({
      credentials: { kind: 'bearer', secret },
      secret: { token: 'tok' },
      document: byPath(),
    });
    await call();
    expect(sent.map(({ headers }) => headers.authorization)).toEqual(['Bearer tok', 'Bearer tok']);
    const exchanged = events.find(({ type }) => type === 'CredentialExchangeCompleted');
    expect(exchanged?.data).toMatchObject({ server: base });
  });

  it('is for no server of a later generation of the API, which the cache has not heard of yet', async () => {
    const { call, types } = open({
      credentials: { kind: 'bearer', secret },
      secret: { token: 'tok' },
      document: { servers: [{ url: base.replace('127.0.0.1', 'localhost') }] },
      generation: 2,
    });
    await expect(call()).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'StaleRead',
      message: 'the ApiSpec shop has just been changed; try again',
    });
    expect(types()).toEqual(['WorkflowInvocationStarted', 'WorkflowInvocationFailed']);
    expect(sent).toEqual([]);
  });

  it('of a document whose paths have several origins is not read, and nothing is sent', async () => {
    const scene = {
      credentials: { kind: 'bearer', secret },
      secret: { token: 'tok' },
      document: byPath('localhost'),
    } as const;
    const { call, types } = open(scene);
    await expect(call()).rejects.toMatchObject({
      reason: 'Validation',
      message: expect.stringContaining('spec.credentials of the API spec'),
    });
    expect(types()).toEqual(['WorkflowInvocationStarted', 'WorkflowInvocationFailed']);
    expect(sent).toEqual([]);
    await open({ document: byPath('localhost') }).call();
    expect(sent).toHaveLength(2);
  });

  it.each<[string, Scene]>([
    ['whose Secret is not there', {}],
    ['whose Secret lacks the label', { secret: { token: 'hush' }, label: 'none' }],
    ['whose Secret has another value of the label', { secret: { token: 'hush' }, label: 'false' }],
    ['whose Secret lacks the key', { secret: { other: 'hush' } }],
    ['that would begin another header', { secret: { token: 'hush\r\nx-other: 1' } }],
    ['that is empty', { secret: { token: '' } }],
    ['that is too long', { secret: { token: 'x'.repeat(8_193) } }],
    ['whose Secret the gateway may not read', { refusal: refusalOf(403, 'Forbidden') }],
  ])('GW-EVT-06 %s fails the call before anything is sent', async (_title, scene) => {
    const { call, types, events } = open({ credentials: { kind: 'bearer', secret }, ...scene });
    expect(await call()).toMatchObject({ isError: true });
    expect(types()).toEqual(['WorkflowInvocationStarted', 'CredentialExchangeFailed', 'WorkflowInvocationFailed']);
    expect(JSON.stringify(events)).not.toContain('hush');
    expect(sent).toEqual([]);
  });
});
