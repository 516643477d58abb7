import fc from 'fast-check';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  requestText,
  sendRaw,
  startTestServer,
  type TestCaller,
  type TestServer,
} from '../../test/support/http-server.ts';
import { type Contract, defineContract } from './contract.ts';
import { defineRoute, json, type Route } from './route.ts';

const operations = [
  'GET /health',
  'GET /docs/explorer.js',
  // A path with parameters comes first: the order of the routes has no say.
  'GET /v1/workflows/{workflow}',
  'DELETE /v1/workflows/{workflow}',
  'GET /v1/workflows/{workflow}/versions',
  'GET /v1/workflows',
  'POST /v1/workflows/register',
  'GET /v1/workflows/executions/{execution_id}',
  'GET /v1/workflows/executions/{execution_id}/stream',
  'GET /v1/workflows/executions',
  'POST /v1/workflows/executions',
  'POST /v1/rooms/{room}/bookings/{booking}',
];

/** A route that answers with its operation and the parameters of the path. */
function routeOf(operation: string, index: number): Route<TestCaller> {
  const [method = '', path = ''] = operation.split(' ');
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const contract = defineContract({
    operationId: `operation${index}`,
    method: method.toLowerCase() as Contract['method'],
    path,
    tag: 'Test',
    summary: 'Test',
    access: 'public',
    params: Type.Object(Object.fromEntries(names.map((name) => [name, Type.String()]))),
    success: { kind: 'json', description: 'Done.', schema: Type.Object({}), example: {} },
    errors: [],
  });
  return defineRoute<Contract, TestCaller>(contract, async ({ params }) => json({ operation, params }));
}

const start = (...list: string[]) => startTestServer(list.map(routeOf));

let server: TestServer;
beforeAll(async () => {
  server = await start(...operations);
});
afterAll(() => server.close());

const ask = (first: string) => sendRaw(server.port, requestText(first, ['Connection: close']));

async function served(first: string): Promise<unknown> {
  const { status, body } = await ask(first);
  return status === 200 ? JSON.parse(body) : status;
}

describe('a path', () => {
  it.each([
    ['GET /health', 'GET /health', {}],
    ['GET /docs/explorer.js', 'GET /docs/explorer.js', {}],
    ['GET /v1/workflows', 'GET /v1/workflows', {}],
    ['GET /health?x=/v1/workflows', 'GET /health', {}],
    ['GET /v1/workflows/hello', 'GET /v1/workflows/{workflow}', { workflow: 'hello' }],
    ['DELETE /v1/workflows/hello', 'DELETE /v1/workflows/{workflow}', { workflow: 'hello' }],
    ['GET /v1/workflows/hello/versions', 'GET /v1/workflows/{workflow}/versions', { workflow: 'hello' }],
    [
      'GET /v1/workflows/executions/a1/stream',
      'GET /v1/workflows/executions/{execution_id}/stream',
      { execution_id: 'a1' },
    ],
    ['POST /v1/rooms/blue/bookings/7', 'POST /v1/rooms/{room}/bookings/{booking}', { room: 'blue', booking: '7' }],
    ['GET http://test/v1/workflows/hello', 'GET /v1/workflows/{workflow}', { workflow: 'hello' }],
  ])('%s leads to %s', async (first, operation, params) => {
    expect(await served(first)).toEqual({ operation, params });
  });

  it('that is written out means itself, whatever the method and the order of the routes', async () => {
    expect(await served('POST /v1/workflows/register')).toMatchObject({ operation: 'POST /v1/workflows/register' });
    expect(await served('GET /v1/workflows/executions')).toMatchObject({ operation: 'GET /v1/workflows/executions' });
    expect(await served('GET /v1/workflows/register')).toBe(405);
    expect(await served('DELETE /v1/workflows/executions')).toBe(405);
  });

  it('falls back to a parameter where the segments that are written out lead nowhere', async () => {
    expect(await served('GET /v1/workflows/register/versions')).toEqual({
      operation: 'GET /v1/workflows/{workflow}/versions',
      params: { workflow: 'register' },
    });
  });

  it('prefers the segment that is written out where two paths with parameters fit', async () => {
    const execution = { operation: 'GET /v1/workflows/executions/{execution_id}' };
    expect(await served('GET /v1/workflows/executions/versions')).toMatchObject(execution);
  });

  it.each([
    'GET /',
    'GET *',
    'OPTIONS *',
    'OPTIONS /nowhere',
    'HEAD /nowhere',
    'GET /HEALTH',
    'GET /health/',
    'GET //health',
    'GET /health//',
    'GET /health/x',
    'GET /docs/explorerxjs',
    'GET /v1',
    'GET /v1/',
    'GET /v1/workflows/',
    'GET /v1/workflows//versions',
    'GET /v1/workflows/hello/versions/',
    'POST /v1/rooms/blue/bookings',
    'POST /v1/rooms//bookings/7',
    'GET /v1/__proto__',
    'GET /constructor',
    'GET /%68ealth',
    'GET /v1%2Fworkflows',
    'GET /v1/workflows/a%2Fversions/',
  ])('%s leads nowhere', async (first) => {
    const { status, headers, body } = await ask(first);
    expect([status, headers['allow']]).toEqual([404, undefined]);
    expect(body).toMatch(first.startsWith('HEAD') ? /^$/ : /"error":"not_found"/);
  });

  it.each(['GET /v1/workflows/%zz', 'GET /v1/workflows/%', 'GET /v1/workflows/%ff', 'GET /nowhere/%c3', 'PUT /%zz'])(
    '%s is no percent-encoded UTF-8',
    async (first) => {
      expect((await ask(first)).status).toBe(400);
    },
  );
});

const refusalOf = (allow: string): string =>
  JSON.stringify({
    error: 'method_not_allowed',
    code: 'method_not_allowed',
    message: `this path takes ${allow}`,
  });

describe('a method that the path does not have', () => {
  it.each([
    ['POST /health', 'GET, HEAD'],
    ['OPTIONS /health', 'GET, HEAD'],
    ['PUT /v1/workflows/hello', 'DELETE, GET, HEAD'],
    ['GET /v1/workflows/register', 'POST'],
    ['HEAD /v1/workflows/register', 'POST'],
    ['DELETE /v1/workflows/register', 'POST'],
    ['DELETE /v1/workflows/executions', 'GET, HEAD, POST'],
    ['TRACE /v1/workflows/executions/versions', 'GET, HEAD'],
    ['QUERY /v1/workflows', 'GET, HEAD'],
    ['GET /v1/rooms/blue/bookings/7', 'POST'],
    ['PATCH /v1/rooms/a%2Fb/bookings/7', 'POST'],
  ])('is refused with those that it has: %s', async (first, allow) => {
    const { status, headers, body } = await ask(first);
    expect([status, headers['allow']]).toEqual([405, allow]);
    expect(body).toBe(first.startsWith('HEAD') ? '' : refusalOf(allow));
  });

  it('is HEAD nowhere that GET is', async () => {
    expect(await ask('HEAD /v1/workflows/hello')).toMatchObject({ status: 200, body: '' });
    expect(server.lines.at(-1)).toMatchObject({ method: 'HEAD', operation: 'operation2' });
  });
});

const paramsOf = async (path: string): Promise<unknown> => {
  const { body } = await ask(`GET ${path}`);
  return (JSON.parse(body) as { params?: unknown }).params;
};

describe('a parameter', () => {
  it.each([
    ['a%2Fb', 'a/b'],
    ['a%2fb', 'a/b'],
    ['%2F', '/'],
    ['a%20b+c', 'a b+c'],
    ['%25', '%'],
    ['%2541', '%41'],
    ['a;b=c,d:e@f', 'a;b=c,d:e@f'],
    ['%00%0A', '\0\n'],
    ['%C3%A9', 'é'],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['..', '..'],
    ['%2E%2E', '..'],
    ['register%2F', 'register/'],
    ['Register', 'Register'],
  ])('is decoded once: %s', async (sent, workflow) => {
    expect(await paramsOf(`/v1/workflows/${sent}`)).toEqual({ workflow });
  });

  it('gives back any text that was percent-encoded into it', async () => {
    const text = fc
      .string({ minLength: 1, unit: 'binary', maxLength: 50 })
      .filter((name) => name.isWellFormed() && name !== 'register' && name !== 'executions');
    await fc.assert(
      fc.asyncProperty(text, async (workflow) => {
        expect(await paramsOf(`/v1/workflows/${encodeURIComponent(workflow)}`)).toEqual({ workflow });
      }),
      { numRuns: 40 },
    );
  });
});

it('refuses paths that differ in the names of parameters only', async () => {
  await expect(start('GET /a/{x}', 'DELETE /a/{y}')).rejects.toThrow(
    '/a/{x} and /a/{y} differ in the names of parameters only',
  );
});
