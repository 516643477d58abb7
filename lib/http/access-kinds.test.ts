import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  requestText,
  sendRaw,
  startTestServer,
  type TestCaller,
  type TestServer,
} from '../../test/support/http-server.ts';
import { type Contract, defineContract } from './contract.ts';
import { HttpError } from './http-error.ts';
import { defineRoute, json, type Route } from './route.ts';
import { errorsOf } from './shared-errors.ts';

const common = {
  tag: 'Test',
  summary: 'Test',
  params: Type.Object({ room: Type.String() }),
  success: { kind: 'json', description: 'Done.', schema: Type.Object({}), example: {} },
  errors: [],
} as const;
const body = {
  kind: 'json',
  schema: Type.Object({ seats: Type.Integer({ minimum: 1 }) }, { additionalProperties: false }),
  maxBytes: 100,
  example: { seats: 1 },
} as const;

const put = defineContract({
  ...common,
  operationId: 'put',
  method: 'put',
  path: '/v1/rooms/{room}',
  access: 'bearer',
  body,
});
const patch = defineContract({ ...put, operationId: 'patch', method: 'patch' });
const attest = defineContract({
  ...common,
  operationId: 'attest',
  method: 'post',
  path: '/v1/pods/{room}/attest',
  access: 'pod',
  body,
});

const seen: unknown[] = [];
const echo = async ({ params, body: taken, caller }: Record<string, unknown>) => {
  seen.push({ params, body: taken, caller });
  return json({});
};
const fromPod = async ({ rawHeaders, remoteAddress, caller }: Record<string, unknown>) => {
  const token = (rawHeaders as [string, string][]).find(([name]) => name === 'authorization')?.[1];
  seen.push({ token, remoteAddress, caller });
  if (token !== 'Bearer of-this-pod') throw new HttpError({ code: 'forbidden', message: 'another pod' });
  return json({});
};
const routes: Route<TestCaller>[] = [
  ...[put, patch].map((contract) => defineRoute<Contract, TestCaller>(contract, echo as never)),
  defineRoute<Contract, TestCaller>(attest, fromPod as never),
];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer(routes);
});
afterAll(() => server.close());
beforeEach(() => {
  seen.length = 0;
});

const bearer = 'Authorization: Bearer ada';
const jsonType = 'Content-Type: application/json';
const statusOf = async (first: string, headers: readonly string[], text: string) =>
  (await sendRaw(server.port, requestText(first, headers, text))).status;

describe.each(['PUT', 'PATCH'])('%s', (method) => {
  const first = `${method} /v1/rooms/blue`;

  it('reaches its handler with the body parsed, the parameters and the caller', async () => {
    expect(await statusOf(first, [bearer, jsonType], '{"seats":2}')).toBe(200);
    expect(seen).toEqual([{ params: { room: 'blue' }, body: { seats: 2 }, caller: { name: 'ada' } }]);
    expect(server.lines.at(-1)).toMatchObject({ operation: method.toLowerCase(), method, status: 200, level: 'info' });
  });

  it.each([
    ['no token', [jsonType], '{"seats":2}', 401],
    ['no body', [bearer, jsonType], '', 400],
    ['a body that breaks its schema', [bearer, jsonType], '{"seats":0}', 400],
    ['a member twice', [bearer, jsonType], '{"seats":1,"seats":2}', 400],
    ['another media type', [bearer, 'Content-Type: text/plain'], '{"seats":2}', 415],
    ['more bytes than allowed', [bearer, jsonType], `{"seats":${'1'.repeat(200)}}`, 413],
  ])('with %s is refused before the handler', async (_, headers, text, status) => {
    expect(await statusOf(first, headers, text)).toBe(status);
    expect(seen).toEqual([]);
  });
});

it('PUT and PATCH are both in Allow of their path', async () => {
  const { status, headers } = await sendRaw(server.port, requestText('DELETE /v1/rooms/blue', [bearer]));
  expect([status, headers['allow']]).toEqual([405, 'PATCH, PUT']);
});

describe('an operation of pods', () => {
  const first = 'POST /v1/pods/one/attest';

  it('hands the token and the address of the sender to its handler, which alone decides', async () => {
    expect(await statusOf(first, ['Authorization: Bearer of-this-pod', jsonType], '{"seats":1}')).toBe(200);
    expect(await statusOf(first, [jsonType], '{"seats":1}')).toBe(403);
    expect(seen).toEqual([
      { token: 'Bearer of-this-pod', remoteAddress: '127.0.0.1', caller: undefined },
      { token: undefined, remoteAddress: '127.0.0.1', caller: undefined },
    ]);
  });

  it('takes one token only, and a body as its contract says', async () => {
    expect(await statusOf(first, [bearer, 'Authorization: Bearer of-this-pod', jsonType], '{"seats":1}')).toBe(400);
    expect(await statusOf(first, [jsonType], '{"seats":0}')).toBe(400);
    expect(seen).toEqual([]);
  });

  it('is routine for the log, and can be unavailable', async () => {
    await statusOf(first, ['Authorization: Bearer of-this-pod', jsonType], '{"seats":1}');
    expect(server.lines.at(-1)).toMatchObject({ operation: 'attest', level: 'debug', status: 200 });
    expect(errorsOf(attest).map(({ status }) => status)).toEqual(expect.arrayContaining([503, 504]));
  });
});
