import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  readAnswer,
  requestText,
  sendRaw,
  startTestServer,
  type TestCaller,
  type TestServer,
} from '../../test/support/http-server.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { AppError } from '../errors.ts';
import { KubeError } from '../kube/kube-error.ts';
import { type Contract, defineContract } from './contract.ts';
import { HttpError } from './http-error.ts';
import type { AnsweredRequest } from './http-metrics.ts';
import { createRateLimit } from './rate-limit.ts';
import { defineRoute, json, type Route } from './route.ts';

const common = {
  tag: 'Test',
  summary: 'Test',
  access: 'bearer',
  success: { kind: 'json', description: 'Done.', schema: Type.Object({}), example: {} },
  errors: [],
} as const;

const book = defineContract({
  ...common,
  operationId: 'book',
  method: 'post',
  path: '/v1/rooms/{room}/bookings',
  params: Type.Object({ room: Type.String({ pattern: '^[a-z]+$' }) }),
  query: Type.Object({ dry: Type.Optional(Type.Boolean()), limit: Type.Integer({ default: 5, maximum: 9 }) }),
  headers: Type.Object({ 'idempotency-key': Type.Optional(Type.String({ maxLength: 8 })) }),
  body: {
    kind: 'json',
    schema: Type.Object(
      { seats: Type.Integer({ minimum: 1 }), note: Type.Optional(Type.String({ maxLength: 10 })) },
      { additionalProperties: false },
    ),
    maxBytes: 1_000,
    example: { seats: 1 },
  },
});
const approve = defineContract({
  ...common,
  operationId: 'approve',
  method: 'post',
  path: '/v1/approvals/{id}/approve',
  params: Type.Object({ id: Type.String({ pattern: '^[0-9]+$' }) }),
  invalidParams: { status: 400, error: 'Invalid request ID' },
  body: { kind: 'json', required: false, schema: Type.Object({ by: Type.Optional(Type.String()) }), example: {} },
});
const register = defineContract({
  ...common,
  operationId: 'register',
  method: 'post',
  path: '/v1/register',
  body: { kind: 'text', mediaTypes: ['application/yaml', 'text/yaml'], example: 'a: 1' },
});
const hook = defineContract({
  ...common,
  operationId: 'hook',
  method: 'post',
  path: '/v1/hooks/{source}',
  access: 'signature',
  params: Type.Object({ source: Type.String() }),
  body: { kind: 'bytes', maxBytes: 100 },
});
const read = defineContract({ ...common, operationId: 'read', method: 'get', path: '/v1/rooms/{room}' });
const list = defineContract({ ...common, operationId: 'list', method: 'get', path: '/v1/rooms/all' });
const remove = defineContract({ ...common, operationId: 'remove', method: 'delete', path: '/v1/rooms/{room}' });
const open = defineContract({ ...common, operationId: 'open', method: 'get', path: '/open', access: 'public' });
const fail = defineContract({
  ...common,
  operationId: 'fail',
  method: 'get',
  path: '/v1/fail',
  query: Type.Object({ how: Type.String() }),
});

/** Arguments of the handlers. */
const seen: unknown[] = [];
const reports: AnsweredRequest[] = [];
const echo = async ({ params, query, headers, body, caller }: Record<string, unknown>) => {
  seen.push({ params, query, headers, body, caller });
  return json({ body: Buffer.isBuffer(body) ? body.toString('hex') : body });
};

const failures: Readonly<Record<string, () => unknown>> = {
  plain: () => new Error('secret of ours'),
  unavailable: () => new AppError('unavailable', 'connect 10.0.0.1'),
  lost: () => new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'configmaps' }),
  decided: () => new HttpError({ code: 'invalid', status: 422, error: 'input validation failed', details: [] }),
  string: () => 'thrown text',
};

const routes: Route<TestCaller>[] = [
  ...[book, approve, register, hook, read, list, remove].map((contract) =>
    defineRoute<Contract, TestCaller>(contract, echo as never),
  ),
  defineRoute<typeof open, TestCaller>(open, async ({ requestId }) => json({ requestId })),
  defineRoute<typeof fail, TestCaller>(fail, async ({ query }) => {
    const { how } = query;
    if (how === 'stream') {
      return { kind: 'stream', stream: Readable.from([Buffer.from('abc')]), mediaType: 'text/plain' };
    }
    throw failures[how]?.();
  }),
];

let server: TestServer;
beforeAll(async () => {
  const metrics = {
    requestDone: (report: AnsweredRequest) => void reports.push(report),
    streamOpened: () => () => undefined,
    streamCutOff: () => undefined,
  };
  server = await startTestServer(routes, { metrics });
});
afterAll(() => server.close());
beforeEach(() => {
  seen.length = 0;
});

const bearer = 'Authorization: Bearer ada';
const jsonType = 'Content-Type: application/json';
const booking = (body: string, ...headers: string[]): string =>
  requestText('POST /v1/rooms/blue/bookings', [bearer, jsonType, ...headers], body);

describe('a good request', () => {
  it('reaches its handler parsed, with defaults and the caller', async () => {
    const text = requestText('POST /v1/rooms/blue/bookings?dry=true', [bearer, jsonType], '{"seats":2}');
    expect(await sendRaw(server.port, text)).toMatchObject({ status: 200, body: '{"body":{"seats":2}}' });
    expect(seen).toEqual([
      {
        params: { room: 'blue' },
        query: { dry: true, limit: 5 },
        headers: {},
        body: { seats: 2 },
        caller: { name: 'ada' },
      },
    ]);
  });

  it('GEN-03 is answered with application/json, and with headers that keep browsers and proxies from guessing', async () => {
    const { headers } = await sendRaw(server.port, requestText('GET /open'));
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'generated-id',
    });
  });

  it.each(['charset=utf-8', 'charset=UTF-8', 'charset="utf-8"'])(
    'may name its character set: %s',
    async (parameter) => {
      const text = requestText('POST /v1/rooms/blue/bookings', [bearer, `${jsonType}; ${parameter}`], '{"seats":2}');
      expect((await sendRaw(server.port, text)).status).toBe(200);
    },
  );

  it('may leave out a body that is not required', async () => {
    for (const text of [
      requestText('POST /v1/approvals/1/approve', [bearer]),
      requestText('POST /v1/approvals/1/approve', [bearer, 'Content-Length: 0']),
      requestText('POST /v1/approvals/1/approve', [bearer, jsonType]),
    ]) {
      expect(await sendRaw(server.port, text)).toMatchObject({ status: 200, body: '{"body":{}}' });
    }
  });

  it('hands over bytes as they were sent, of any type', async () => {
    const head = requestText('POST /v1/hooks/x', ['Content-Type: image/png', 'Content-Length: 4']);
    expect(await sendRaw(server.port, head, Uint8Array.from([0, 255, 254, 13]))).toMatchObject({
      status: 200,
      body: '{"body":"00fffe0d"}',
    });
  });

  it('finds the path without parameters before the one with them', async () => {
    await sendRaw(server.port, requestText('GET /v1/rooms/all', [bearer]));
    await sendRaw(server.port, requestText('GET /v1/rooms/any', [bearer]));
    expect(seen).toMatchObject([{ params: {} }, { params: { room: 'any' } }]);
    expect(server.lines.slice(-2)).toMatchObject([{ operation: 'list' }, { operation: 'read' }]);
  });

  it('may ask for the head of what GET answers', async () => {
    const answer = await sendRaw(server.port, requestText('HEAD /open', ['Connection: close']));
    expect(answer).toMatchObject({ status: 200, body: '' });
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(0);
  });

  it('may wait to be asked for its body', async () => {
    const socket = connect(server.port, '127.0.0.1');
    const text = booking('{"seats":2}', 'Expect: 100-continue');
    const head = text.slice(0, text.indexOf('\r\n\r\n') + 4);
    socket.write(head);
    const interim = await new Promise<string>((resolve) => {
      socket.once('data', (chunk) => resolve(chunk.toString()));
    });
    expect(interim).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(text.slice(head.length));
    expect(await readAnswer(socket)).toMatchObject({ status: 200 });
  });
});

describe('a request id', () => {
  it.each(['abc', 'A-1_b.c:d/e+f=', 'x'.repeat(128)])('%s of the client is kept', async (id) => {
    const answer = await sendRaw(server.port, requestText('GET /open', [`X-Request-Id: ${id}`]));
    expect(answer.headers['x-request-id']).toBe(id);
    expect(answer.body).toBe(JSON.stringify({ requestId: id }));
    expect(server.lines.at(-1)).toMatchObject({ requestId: id });
  });

  it.each(['', 'a b', 'x'.repeat(129), '{"a":1}', 'é'])('%j of the client is replaced', async (id) => {
    const answer = await sendRaw(server.port, requestText('GET /open', [`X-Request-Id: ${id}`]));
    expect(answer.headers['x-request-id']).toBe('generated-id');
  });
});

/** A bad request, and the answer it gets. */
interface Refusal {
  readonly send: readonly (string | Uint8Array)[];
  readonly status: number;
  readonly error: string;
  readonly places?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

const gzipped = gzipSync('{"seats":2}');
const refusals: Readonly<Record<string, Refusal>> = {
  'no token': {
    send: [requestText('POST /v1/rooms/blue/bookings', [jsonType], '{"seats":2}')],
    status: 401,
    error: 'unauthorized',
    headers: { 'www-authenticate': 'Bearer' },
  },
  'no token, and everything else wrong as well': {
    send: [requestText('POST /v1/rooms/BLUE/bookings?x=1', ['Content-Type: text/plain'], 'x'.repeat(2_000))],
    status: 401,
    error: 'unauthorized',
  },
  'an unknown path': { send: [requestText('GET /v2/rooms')], status: 404, error: 'not_found' },
  'another case in the path': { send: [requestText('GET /OPEN')], status: 404, error: 'not_found' },
  'a slash at the end': { send: [requestText('GET /open/')], status: 404, error: 'not_found' },
  'two slashes': { send: [requestText('GET //open')], status: 404, error: 'not_found' },
  'a method that the path does not have': {
    send: [requestText('PUT /v1/rooms/blue')],
    status: 405,
    error: 'method_not_allowed',
    headers: { allow: 'DELETE, GET, HEAD' },
  },
  'a method that only the path with a parameter has': {
    send: [requestText('DELETE /v1/rooms/all', [bearer])],
    status: 405,
    error: 'method_not_allowed',
    headers: { allow: 'GET, HEAD' },
  },
  'OPTIONS, as no other origin may call': {
    send: [requestText('OPTIONS /open', ['Origin: https://evil.example', 'Access-Control-Request-Method: GET'])],
    status: 405,
    error: 'method_not_allowed',
    headers: { allow: 'GET, HEAD' },
  },
  'OPTIONS of everything': { send: [requestText('OPTIONS *')], status: 404, error: 'not_found' },
  TRACE: { send: [requestText('TRACE /open')], status: 405, error: 'method_not_allowed' },
  'a path that is not percent-encoded': {
    send: [requestText('GET /v1/rooms/%zz', [bearer])],
    status: 400,
    error: 'invalid_request',
  },
  'a path that is no UTF-8': {
    send: [requestText('GET /v1/rooms/%ff', [bearer])],
    status: 400,
    error: 'invalid_request',
  },
  'a parameter that breaks its pattern': {
    send: [requestText('POST /v1/rooms/B%20/bookings', [bearer, jsonType], '{"seats":1}')],
    status: 400,
    error: 'invalid_request',
    places: ['path.room'],
  },
  'a parameter whose answer is fixed': {
    send: [requestText('POST /v1/approvals/x/approve', [bearer])],
    status: 400,
    error: 'Invalid request ID',
  },
  'an unknown query parameter': {
    send: [requestText('GET /v1/rooms/blue?page=1', [bearer])],
    status: 400,
    error: 'invalid_request',
    places: ['query.page'],
  },
  'a query parameter out of range': {
    send: [requestText('POST /v1/rooms/blue/bookings?limit=10', [bearer, jsonType], '{"seats":1}')],
    status: 400,
    error: 'invalid_request',
    places: ['query.limit'],
  },
  'a query parameter of another type': {
    send: [requestText('POST /v1/rooms/blue/bookings?limit=x&dry=yes', [bearer, jsonType], '{"seats":1}')],
    status: 400,
    error: 'invalid_request',
    places: ['query.dry', 'query.limit'],
  },
  'a header that breaks its schema': {
    send: [booking('{"seats":1}', 'Idempotency-Key: 123456789')],
    status: 400,
    error: 'invalid_request',
    places: ['header.idempotency-key'],
  },
  'no Content-Type': {
    send: [requestText('POST /v1/rooms/blue/bookings', [bearer], '{"seats":1}')],
    status: 415,
    error: 'unsupported_media_type',
  },
  'another character set': {
    send: [requestText('POST /v1/rooms/blue/bookings', [bearer, `${jsonType}; charset=latin1`], '{"seats":1}')],
    status: 415,
    error: 'unsupported_media_type',
  },
  'a parameter of the media type that means something': {
    send: [requestText('POST /v1/register', [bearer, 'Content-Type: text/yaml; x=y'], 'a: 1')],
    status: 415,
    error: 'unsupported_media_type',
  },
  'a compressed body': {
    send: [
      requestText('POST /v1/rooms/blue/bookings', [
        bearer,
        jsonType,
        'Content-Encoding: gzip',
        `Content-Length: ${gzipped.length}`,
      ]),
      gzipped,
    ],
    status: 415,
    error: 'unsupported_media_type',
  },
  'no body': { send: [booking('')], status: 400, error: 'invalid_request' },
  'a body where there is none': {
    send: [requestText('GET /open', [jsonType], '{}')],
    status: 400,
    error: 'invalid_request',
  },
  'a body that is no UTF-8': {
    send: [
      requestText('POST /v1/rooms/blue/bookings', [bearer, jsonType, 'Content-Length: 13']),
      Buffer.concat([Buffer.from('{"seats":"'), Uint8Array.from([0xff]), Buffer.from('"}')]),
    ],
    status: 400,
    error: 'invalid_request',
  },
  'text that is no UTF-8': {
    send: [
      requestText('POST /v1/register', [bearer, 'Content-Type: application/yaml', 'Content-Length: 2']),
      Uint8Array.from([0xc3, 0x28]),
    ],
    status: 400,
    error: 'invalid_request',
  },
  'an expectation other than 100-continue': {
    send: [booking('{"seats":1}', 'Expect: tea')],
    status: 417,
    error: 'expectation_failed',
  },
  'no Host': { send: ['GET /open HTTP/1.1\r\n\r\n'], status: 400, error: 'invalid_request' },
  'a Host that is none': { send: ['GET /open HTTP/1.1\r\nHost: a b"<\r\n\r\n'], status: 400, error: 'invalid_request' },
  'a Host with a path': { send: ['GET /open HTTP/1.1\r\nHost: a/b\r\n\r\n'], status: 400, error: 'invalid_request' },
  'a Host with a user': { send: ['GET /open HTTP/1.0\r\nHost: a@b\r\n\r\n'], status: 400, error: 'invalid_request' },
  'an empty Host': { send: ['GET /open HTTP/1.1\r\nHost:\r\n\r\n'], status: 400, error: 'invalid_request' },
  'chunks in HTTP/1.0': {
    send: ['GET /open HTTP/1.0\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    status: 400,
    error: 'invalid_request',
  },
  'half of HTTP': { send: ['GET /open HTTP/1.1\r\nno colon\r\n\r\n'], status: 400, error: 'invalid_request' },
  'no HTTP at all': { send: ['\u0016\u0003\u0001\u0002'], status: 400, error: 'invalid_request' },
  'two lengths': {
    send: [booking('{"seats":1}', 'Content-Length: 3')],
    status: 400,
    error: 'invalid_request',
  },
  'a length and chunks': {
    send: [booking('{"seats":1}', 'Transfer-Encoding: chunked')],
    status: 400,
    error: 'invalid_request',
  },
  'a transfer coding beside chunked': {
    send: [
      requestText('POST /v1/rooms/blue/bookings', [
        bearer,
        jsonType,
        'Transfer-Encoding: gzip, chunked',
        'Connection: close',
      ]) + 'b\r\n{"seats":1}\r\n0\r\n\r\n',
    ],
    status: 400,
    error: 'invalid_request',
  },
  'a transfer coding instead of chunked': {
    send: [requestText('POST /v1/rooms/blue/bookings', [bearer, jsonType, 'Transfer-Encoding: gzip'])],
    status: 400,
    error: 'invalid_request',
  },
  'a transfer coding beside chunked, and no chunks': {
    send: [`${requestText('GET /open', ['Transfer-Encoding: gzip, chunked'])}${'x'.repeat(200)}`],
    status: 400,
    error: 'invalid_request',
  },
  'headers beyond 16 KiB': {
    send: [requestText('GET /open', [`X-Long: ${'x'.repeat(17_000)}`])],
    status: 431,
    error: 'headers_too_large',
  },
};

const bodies: Readonly<Record<string, readonly [text: string, ...places: string[]]>> = {
  'a missing field': ['{}', 'body.seats'],
  'a field that is null': ['{"seats":null}', 'body.seats'],
  'a field of another type': ['{"seats":"2"}', 'body.seats'],
  'a field out of range': ['{"seats":0}', 'body.seats'],
  'a number with a fraction': ['{"seats":1.5}', 'body.seats'],
  'a number beyond what can be read': ['{"seats":1e999}', 'body.seats'],
  'a text that is too long': [`{"seats":1,"note":"${'x'.repeat(11)}"}`, 'body.note'],
  'an unknown field': ['{"seats":1,"seat":1}', 'body.seat'],
  'two unknown fields': ['{"seats":1,"a":1,"b":1}', 'body.a', 'body.b'],
  'a field that is given twice': ['{"seats":1,"seats":2}', 'body.seats'],
  'the name of the prototype': ['{"seats":1,"__proto__":{"admin":true}}', 'body.__proto__'],
  'the name of the constructor': ['{"seats":1,"constructor":{"prototype":{}}}', 'body.constructor'],
  'a list': ['[{"seats":1}]', 'body'],
  'a string': ['"seats"', 'body'],
  null: ['null', 'body'],
  'a number': ['1', 'body'],
  'no JSON': ['{seats:1}', 'body'],
  'half of it': ['{"seats":1', 'body'],
  'a byte order mark': ['\ufeff{"seats":1}', 'body'],
  'a lone surrogate': ['{"seats":1,"note":"\\ud800"}', 'body.note'],
  'levels without end': [`{"seats":${'['.repeat(400)}${']'.repeat(400)}}`, 'body'],
};

describe('a bad request', () => {
  it.each(Object.entries(refusals))('with %s is refused', async (_, { send, status, error, places, headers }) => {
    const answer = await sendRaw(server.port, ...send);
    const body = JSON.parse(answer.body) as { error: string; details?: { path: string }[] };
    expect([answer.status, body.error]).toEqual([status, error]);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', ...headers });
    expect(body.details?.map(({ path }) => path)).toEqual(places);
    expect(seen).toEqual([]);
  });

  it.each(Object.entries(bodies))('whose body has %s is refused with its place', async (_, [text, ...places]) => {
    const answer = await sendRaw(server.port, booking(text));
    const body = JSON.parse(answer.body) as { error: string; message: string; details: { path: string }[] };
    expect([answer.status, body.error]).toEqual([400, 'invalid_request']);
    expect(body.details.map(({ path }) => path)).toEqual(places);
    expect(body.message).toContain(places[0]);
    expect(seen).toEqual([]);
  });

  it.each(['text/plain', 'application/jsonx', 'application/*', 'text/json', 'application/problem+json', 'json', ';'])(
    'of type %s in place of application/json is refused',
    async (type) => {
      const text = requestText('POST /v1/rooms/blue/bookings', [bearer, `Content-Type: ${type}`], '{"seats":1}');
      expect(await sendRaw(server.port, text)).toMatchObject({ status: 415 });
    },
  );

  it.each([
    ['Authorization', 'Bearer ada'],
    ['Content-Type', 'application/json'],
    ['Content-Encoding', 'identity'],
    ['Host', 'test'],
    ['Idempotency-Key', 'k'],
    ['X-Idempotency-Key', 'k'],
    ['X-Tenant-Id', 'acme'],
    ['X-Request-Id', 'r'],
    ['Last-Event-ID', '1'],
  ])('that sends %s twice is refused, even when both are the same', async (name, value) => {
    const answer = await sendRaw(
      server.port,
      booking('{"seats":1}', `${name}: ${value}`, `${name.toLowerCase()}: ${value}`),
    );
    expect(answer.status).toBe(400);
    const { details } = JSON.parse(answer.body) as { details: { path: string }[] };
    expect(new Set(details.map(({ path }) => path))).toEqual(new Set([`header.${name.toLowerCase()}`]));
    expect(seen).toEqual([]);
  });
});

describe('a body at its limit', () => {
  const withLength = (bytes: number): string => {
    const text = '{"seats":1}';
    return text.slice(0, -1) + ' '.repeat(bytes - text.length) + text.slice(-1);
  };

  it.each([
    [999, 200],
    [1_000, 200],
    [1_001, 413],
  ])('AMB-153 of %i bytes is answered with %i', async (bytes, status) => {
    expect((await sendRaw(server.port, booking(withLength(bytes)))).status).toBe(status);
    const chunked = requestText('POST /v1/rooms/blue/bookings', [bearer, jsonType, 'Transfer-Encoding: chunked']);
    const chunk = `${bytes.toString(16)}\r\n${withLength(bytes)}\r\n0\r\n\r\n`;
    expect((await sendRaw(server.port, chunked, chunk)).status).toBe(status);
  });

  it.each([
    ['/v1/rooms/blue/bookings', [bearer, jsonType], 1_000],
    ['/v1/register', [bearer, 'Content-Type: application/yaml'], 1_048_576],
    ['/v1/hooks/ci', [], 100],
  ])('AMB-153 too large has one answer of %s, whether its length is announced or not', async (path, headers, most) => {
    const text = ' '.repeat(most + 1);
    const whole = await sendRaw(server.port, requestText(`POST ${path}`, headers, text));
    const pieces = `${(most).toString(16)}\r\n${text.slice(1)}\r\n1\r\n \r\n0\r\n\r\n`;
    const chunked = await sendRaw(
      server.port,
      requestText(`POST ${path}`, [...headers, 'Transfer-Encoding: chunked']),
      pieces,
    );
    expect([whole.status, whole.body]).toEqual([413, expect.stringContaining(`larger than ${most} bytes`)]);
    expect([chunked.status, chunked.body]).toEqual([whole.status, whole.body]);
    expect(seen).toEqual([]);
  });

  it('AMB-153 too large is refused by what its header says, before any of it arrives', async () => {
    // No byte of the body is ever sent: an answer that waited for one would never come.
    const answer = await sendRaw(
      server.port,
      requestText('POST /v1/rooms/blue/bookings', [bearer, jsonType, 'Content-Length: 100000000']),
    );
    expect(answer).toMatchObject({
      status: 413,
      body: '{"error":"payload_too_large","code":"payload_too_large","message":"the body is larger than 1000 bytes"}',
    });
    expect(answer.headers['connection']).toBe('close');
  });

  it('AMB-153 a client that keeps sending still gets the answer, and the connection ends', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(requestText('POST /v1/rooms/blue/bookings', [bearer, jsonType, 'Transfer-Encoding: chunked']));
    const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    for (let count = 0; count < 80; count++) socket.write(piece);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    expect(await readAnswer(socket)).toMatchObject({
      status: 413,
      body: '{"error":"payload_too_large","code":"payload_too_large","message":"the body is larger than 1000 bytes"}',
    });
    await closed;
  });

  it('a client that is not asked for its body does not send it', async () => {
    const text = requestText('POST /v1/rooms/blue/bookings', [jsonType, 'Content-Length: 900', 'Expect: 100-continue']);
    expect((await sendRaw(server.port, text)).status).toBe(401);
  });
});

describe('a connection', () => {
  it('continues after a small unwanted body', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(requestText('POST /v1/rooms/blue/bookings', [jsonType], '{"seats":1}') + requestText('GET /open'));
    let text = '';
    for await (const chunk of socket) {
      text += String(chunk);
      if (text.includes('HTTP/1.1 200')) break;
    }
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  it('that is cut off in the middle of a body leaves nothing behind', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(booking('{"seats":1}').slice(0, -3));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = server.lines.length;
    socket.destroy();
    await expect.poll(() => server.lines.length).toBeGreaterThan(before);
    expect(seen).toEqual([]);
    expect(server.lines.at(-1)).toMatchObject({ operation: 'book', level: 'info' });
  });

  it('whose client sends half a body and no more is answered with the reason', async () => {
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(booking('{"seats":1}').slice(0, -3));
    const { status, body } = await readAnswer(socket);
    expect([status, JSON.parse(body)]).toEqual([
      400,
      { error: 'invalid_request', code: 'invalid_request', message: expect.stringMatching(/cut off/) },
    ]);
    expect(seen).toEqual([]);
  });
});

describe('a failure', () => {
  const failing = (how: string) => sendRaw(server.port, requestText(`GET /v1/fail?how=${how}`, [bearer]));

  it('of no known kind is a bland 500, and is logged with all that is known', async () => {
    const bland = {
      status: 500,
      body: expect.stringMatching(/^\{"error":"internal","code":"internal","message":"something is wrong/),
    };
    expect(await failing('plain')).toMatchObject(bland);
    expect(server.lines.at(-1)).toMatchObject({
      level: 'error',
      msg: 'request failed',
      operation: 'fail',
      requestId: 'generated-id',
      err: { message: 'secret of ours', stack: expect.stringContaining('http-app.test') },
    });
    expect(await failing('string')).toMatchObject(bland);
  });

  it('of a dependency is logged once a minute, and not at the level of our own', async () => {
    const clock = createManualClock();
    const behind = await startTestServer(routes, { clock });
    const fails = async () => {
      await sendRaw(behind.port, requestText('GET /v1/fail?how=unavailable', [bearer]));
      return behind.lines.at(-1);
    };
    expect(await fails()).toMatchObject({ level: 'warn', msg: 'request failed', err: { message: 'connect 10.0.0.1' } });
    await clock.advance(59_999);
    expect(await fails()).toMatchObject({ level: 'info', msg: 'request', status: 503 });
    await clock.advance(1);
    expect(await fails()).toMatchObject({ level: 'warn', msg: 'request failed' });
    await behind.close();
  });

  it('that is an answer to us and not to the caller is logged with the id of the request', async () => {
    expect(await failing('lost')).toMatchObject({ status: 404, body: expect.stringContaining('"not_found"') });
    expect(server.lines.at(-1)).toMatchObject({
      level: 'warn',
      msg: 'request failed',
      requestId: 'generated-id',
      err: { message: expect.stringContaining('get configmaps') },
    });
  });

  it('of something behind us is 503 with Retry-After', async () => {
    const answer = await failing('unavailable');
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      503,
      { error: 'unavailable', code: 'unavailable', message: 'something that this needs cannot be reached; try again' },
    ]);
    expect(answer.headers['retry-after']).toBe('5');
  });

  it('AMB-056 that a handler decides is sent as it says, and is no fault', async () => {
    expect(await failing('decided')).toMatchObject({
      status: 422,
      body: '{"error":"input validation failed","code":"input_validation_failed","message":"the request is not as described","details":[]}',
    });
    expect(server.lines.at(-1)).toMatchObject({ level: 'info', msg: 'request' });
  });
});

describe('the log', () => {
  it('has one line a request, and in it neither query nor headers nor body', async () => {
    const before = server.lines.length;
    await sendRaw(
      server.port,
      requestText('POST /v1/rooms/blue/bookings?q=hush1', [bearer, jsonType, 'X-Other: hush2'], '{"note":"hush3"}'),
    );
    const lines = server.lines.slice(before);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      operation: 'book',
      method: 'POST',
      status: 400,
      tenant: 'ada',
      remote: '127.0.0.1',
    });
    expect(JSON.stringify(lines)).not.toMatch(/hush|Bearer/);
  });

  it.each([
    ['203.0.113.7, 10.0.0.1', '203.0.113.7, 10.0.0.1'],
    ['2001:DB8::7', '2001:DB8::7'],
    ['[2001:db8::7]:4711', '[2001:db8::7]:4711'],
    ['1'.repeat(200), '1'.repeat(200)],
    ['1'.repeat(201), undefined],
    ['hush', undefined],
    ['203.0.113.7"}\t{', undefined],
    ['', undefined],
  ])('logs the addresses that a proxy has put into X-Forwarded-For, and nothing else: %j', async (sent, logged) => {
    await sendRaw(server.port, requestText('GET /nowhere', [`X-Forwarded-For: ${sent}`]));
    expect(server.lines.at(-1)?.['forwardedFor']).toBe(logged);
  });

  it('cuts long paths', async () => {
    await sendRaw(server.port, requestText(`GET /${'x'.repeat(1_000)}`));
    expect(String(server.lines.at(-1)?.['path'])).toHaveLength(200);
  });

  it('and the metrics name the operation, and what is none as one', async () => {
    reports.length = 0;
    await sendRaw(server.port, requestText('GET /open'));
    await sendRaw(server.port, requestText('GET /nowhere'));
    expect(reports).toMatchObject([
      { operation: 'open', method: 'GET', status: 200 },
      { operation: 'unmatched', method: 'GET', status: 404 },
    ]);
  });
});

describe('a stream', () => {
  it('is sent as it comes, and not at all for HEAD', async () => {
    const answer = await sendRaw(server.port, requestText('GET /v1/fail?how=stream', [bearer, 'Connection: close']));
    expect(answer).toMatchObject({ status: 200, body: '3\r\nabc\r\n0\r\n\r\n' });
    const head = await sendRaw(server.port, requestText('HEAD /v1/fail?how=stream', [bearer, 'Connection: close']));
    expect(head).toMatchObject({ status: 200, body: '' });
  });
});

describe('the rate limit', () => {
  it('AMB-057 stops the tenant that has had its share, and no other', async () => {
    const limited = await startTestServer(routes, { rateLimit: createRateLimit(1) });
    try {
      const ask = (name: string) =>
        sendRaw(limited.port, requestText('GET /v1/rooms/blue', [`Authorization: Bearer ${name}`]));
      for (let count = 0; count < 10; count++) expect((await ask('ada')).status).toBe(200);
      const refused = await ask('ada');
      expect(refused.status).toBe(429);
      expect(JSON.parse(refused.body)).toMatchObject({ error: 'rate_limited' });
      expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(10);
      expect((await ask('eve')).status).toBe(200);
    } finally {
      await limited.close();
    }
  });
});
