import { describe, expect, it } from 'vitest';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import type { Json } from '../../crds/schema/parts.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { partlyKept } from '../../lib/api-spec/index.ts';
import { AppError } from '../../lib/errors.ts';
import { readOpenApi } from '../../lib/openapi-document/index.ts';
import { judgeApiSpec, statusOf } from './api-spec-module.ts';
import { judgeTool } from './cli-tool-module.ts';
import { judgeToolWorkflow } from './tool-workflow-module.ts';
import { isCallable, placeVerdict } from './verdict.ts';

const apiVersion = 'windlass.dev/v1';
const document = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'Orders' },
  servers: [{ url: 'https://orders.example.com' }],
  paths: { '/orders': { post: { operationId: 'createOrder' } } },
});
const reading = readOpenApi(document);
const index = reading.index;

const apiSpec = (status: 'True' | 'False'): ApiSpec => ({
  apiVersion,
  kind: 'ApiSpec',
  metadata: { name: 'orders', namespace: 'tenant-acme', uid: 'a', generation: 1 },
  spec: { document },
  status: {
    conditions: [{ type: 'Ready', status, reason: 'x', message: '', lastTransitionTime: '', observedGeneration: 1 }],
  },
});
const workflow = (operation_id = 'createOrder', body_template = '{}'): ToolWorkflow => ({
  apiVersion,
  kind: 'ToolWorkflow',
  metadata: { name: 'order', namespace: 'tenant-acme', uid: 'w' },
  spec: {
    description: 'd',
    input_schema: { type: 'object' },
    api_spec: 'orders',
    steps: [{ name: 'one', operation_id, body_template, on_error: 'AbortWorkflow' }],
  },
});
const documents = {
  indexOf: async () => {
    if (index === undefined) throw new Error('the document of the test is broken');
    return index;
  },
};

describe('the condition Ready of registered tools', () => {
  it.each([
    ['Accepted', workflow(), apiSpec('True')],
    ['ApiSpecNotFound', workflow(), undefined],
    ['ApiSpecNotReady', workflow(), apiSpec('False')],
    ['OperationNotFound', workflow('other'), apiSpec('True')],
    ['InvalidDefinition', workflow('createOrder', '{{#if'), apiSpec('True')],
  ] as const)('GW-WF-07 of a ToolWorkflow is %s', async (reason, object, spec) => {
    const verdict = await judgeToolWorkflow(documents, object, spec);
    expect(verdict.reason).toBe(reason);
  });

  it('GW-WF-39 of a ToolWorkflow names the operation that is absent', async () => {
    const { message } = await judgeToolWorkflow(documents, workflow('other'), apiSpec('True'));
    expect(message).toBe("steps[0].operation_id: 'other' is no operationId of ApiSpec tenant-acme/orders");
  });

  it('of an ApiSpec counts operations, names the place of a mistake, and tells of missing parts', async () => {
    const judged = async (read: () => Promise<typeof reading>) =>
      (await judgeApiSpec({ read }, apiSpec('True'))).verdict;
    expect(await judged(async () => reading)).toEqual({ reason: 'Accepted', message: '1 operation can be called' });
    const broken = await judged(async () => readOpenApi('{"swagger":"2.0"}'));
    expect([broken.reason, broken.message]).toEqual(['InvalidDocument', expect.stringContaining('swagger: ')]);
    const missing = new AppError('not_found', 'gone', { reason: 'DocumentMissing' });
    expect((await judged(() => Promise.reject(missing))).reason).toBe('DocumentMissing');
    const away = new AppError('unavailable', 'away');
    await expect(judged(() => Promise.reject(away))).rejects.toBe(away);
  });

  it('of an ApiSpec warns of a document without an operation that a step can name, and of no other', async () => {
    const text = JSON.stringify({ openapi: '3.0.3', info: { title: 'None' }, paths: { '/a': { get: {} } } });
    const none = await judgeApiSpec({ read: async () => readOpenApi(text) }, apiSpec('True'));
    expect(statusOf(apiSpec('True'), none, 0)).toMatchObject({
      operations: 0,
      conditions: [{ status: 'True', message: '0 operations can be called; status.warnings has 1 warning' }],
      warnings: ['document: has no operation with an operationId, so no tool workflow can call it'],
    });
    const one = await judgeApiSpec({ read: async () => reading }, apiSpec('True'));
    expect(statusOf(apiSpec('True'), one, 0)).not.toHaveProperty('warnings');
  });

  it('GW-WF-24 of an ApiSpec and of a ToolWorkflow says that a parameter in the path is not filled in', async () => {
    const text = document.replace('"/orders"', '"/orders/{id}"');
    const read = await judgeApiSpec({ read: async () => readOpenApi(text) }, apiSpec('True'));
    const { conditions, warnings } = statusOf(apiSpec('True'), read, 0);
    const message =
      '1 operation can be called, 1 of them without the parameters that they need; status.warnings has 1 warning';
    expect([conditions, warnings]).toMatchObject([[{ status: 'True', message }], [expect.stringContaining('1 of 1')]]);
    const indexOf = async () => read.index as NonNullable<typeof read.index>;
    const verdict = await judgeToolWorkflow({ indexOf }, workflow(), apiSpec('True'));
    expect(verdict).toMatchObject({ reason: 'Accepted', warnings: [{ path: 'steps[0].operation_id' }] });
  });

  it('GW-WF-24 GW-WF-25 of an ApiSpec comes of one look for parameters at its operations', async () => {
    let looks = 0;
    class Counted<K, V> extends Map<K, V> {
      override [Symbol.iterator]() {
        looks += 1;
        return super[Symbol.iterator]();
      }
    }
    const { index: found } = readOpenApi(document.replace('"/orders"', '"/orders/{id}"'));
    if (found === undefined) throw new Error('the document of the test is broken');
    const read = async () => ({ problems: [], index: { ...found, operations: new Counted(found.operations) } });
    const judged = await judgeApiSpec({ read }, apiSpec('True'));
    expect(statusOf(apiSpec('True'), judged, 0).warnings).toHaveLength(1);
    expect(looks).toBe(1);
  });

  it('of an ApiSpec names the header of a credential that the connection needs', async () => {
    const spec = apiSpec('True');
    const credentials = { kind: 'static_header', secret: { name: 's' }, header: 'Host' } as const;
    const { verdict } = await judgeApiSpec({ read: async () => reading }, { ...spec, spec: { document, credentials } });
    expect(verdict).toMatchObject({
      reason: 'InvalidDefinition',
      message: expect.stringMatching(/^spec\.credentials\.header:? is a header of the connection/),
    });
  });

  const served = (url: string, operationId: string) => ({ servers: [{ url }], get: { operationId } });
  const [a, b] = [served('https://a.example', 'a'), served('https://b.example', 'b')];
  const bearer = { kind: 'bearer', secret: { name: 's' } } as const;
  it.each([
    {
      what: 'of several origins alone',
      credentials: bearer,
      reason: 'InvalidDefinition',
      says: /^spec\.credentials:? are for the server of the document/,
    },
    { what: 'of several origins, without credentials', reason: 'Accepted', says: /^2 operations can be called$/ },
    {
      what: 'of several origins, with the kind none',
      credentials: { kind: 'none' } as const,
      reason: 'Accepted',
      says: /^2 operations can be called$/,
    },
    {
      what: 'of another origin than the document',
      servers: [{ url: 'https://a.example' }],
      credentials: bearer,
      reason: 'Accepted',
      says: /^2 operations can be called, 1 of them without the credentials, which are for https:\/\/a\.example$/,
    },
  ])(
    'of an ApiSpec with servers $what says where credentials are sent',
    async ({ servers, credentials, reason, says }) => {
      const paths = { '/a': a, '/b': b };
      const text = JSON.stringify({ openapi: '3.0.3', info: { title: 'Two' }, paths, ...(servers && { servers }) });
      const spec = { ...apiSpec('True'), spec: { document: text, ...(credentials && { credentials }) } };
      const { verdict } = await judgeApiSpec({ read: async () => readOpenApi(text) }, spec);
      expect(verdict).toEqual({ reason, message: expect.stringMatching(says) });
    },
  );

  it('of a CliTool names the argument whose template is broken', () => {
    const tool = (argument: string): CliTool => ({
      apiVersion,
      kind: 'CliTool',
      metadata: { name: 't' },
      spec: { description: 'd', input_schema: { type: 'object' }, image: 'a.example/b:1', command: ['x', argument] },
    });
    expect(judgeTool(tool('{{input.a}}')).reason).toBe('Accepted');
    expect(judgeTool(tool('{{input.a'))).toMatchObject({
      reason: 'InvalidDefinition',
      message: expect.stringContaining('spec.command[1]'),
    });
  });

  it('of a CliTool names the time that is longer than a call, which the kind took once', () => {
    const spec = {
      description: 'd',
      input_schema: { type: 'object' as const },
      image: 'a.example/b:1',
      command: ['x'],
    };
    const judged = (timeout_seconds: number) =>
      judgeTool({ apiVersion, kind: 'CliTool', metadata: { name: 't' }, spec: { ...spec, timeout_seconds } });
    expect([449, 450].map((seconds) => judged(seconds).reason)).toEqual(['Accepted', 'Accepted']);
    expect(judged(451)).toEqual({
      reason: 'InvalidDefinition',
      message: expect.stringMatching(/^spec\.timeout_seconds:? must be at most 450, not 451: .*register the tool anew/),
    });
  });

  it('of a CliTool refuses a schema that fills the memory', () => {
    const fields = Array.from({ length: 95_000 }, (_, index) => [`f${index}`, {}]);
    const input_schema = { type: 'object', properties: Object.fromEntries(fields) as Record<string, Json> };
    const spec = { description: 'd', input_schema, image: 'a.example/b:1', command: ['x'] };
    const tool: CliTool = { apiVersion, kind: 'CliTool', metadata: { name: 't' }, spec };
    expect(judgeTool(tool)).toMatchObject({
      reason: 'InvalidDefinition',
      message: expect.stringContaining('spec.input_schema') as string,
    });
    expect(JSON.stringify(partlyKept.CliTool.slim(tool)).length).toBeLessThan(1_000);
  });

  it('AMB-124 gives a name to the oldest that the tenant sees', () => {
    const at = (uid: string, creationTimestamp: string) => ({
      metadata: { name: 'order', namespace: 'tenant-acme', uid, creationTimestamp },
      spec: {},
    });
    const [older, younger] = [at('b', '2026-01-01T00:00:00Z'), at('a', '2026-01-02T00:00:00Z')];
    expect(placeVerdict(older, [older, younger], true)).toBeUndefined();
    expect(placeVerdict(younger, [older, younger], true)?.reason).toBe('NameTaken');
    expect(placeVerdict(older, [], false)?.reason).toBe('NotATenant');
  });

  it('AMB-124 gives a name to what all tenants share, also where that is younger', () => {
    const at = (namespace: string, creationTimestamp: string) => ({
      metadata: { name: 'order', namespace, uid: namespace, creationTimestamp },
      spec: {},
    });
    const own = at('tenant-acme', '2026-01-01T00:00:00Z');
    const shared = at('windlass-global', '2026-01-02T00:00:00Z');
    expect(placeVerdict(shared, [own, shared], true)).toBeUndefined();
    expect(placeVerdict(own, [own, shared], true)).toEqual({
      reason: 'NameTaken',
      message: 'the name order is that of windlass-global/order, which all tenants share',
    });
  });

  it('AMB-125 counts what is in windlass-global as shared, and nothing of the system tenant', () => {
    const tenants = { tenantOf: (namespace: string) => (namespace === 'windlass-system' ? 'system' : undefined) };
    expect(['windlass-global', 'windlass-system', 'default'].map((place) => isCallable(place, tenants))).toEqual([
      true,
      true,
      false,
    ]);
  });
});
