import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import type { GrpcListener } from '../../lib/grpc/listen-grpc.ts';
import { createRateLimit, type RateLimit } from '../../lib/http/index.ts';
import { newId } from '../../lib/ids.ts';
import type { LogFields } from '../../lib/logger.ts';
import { ServerReflectionClient } from '../../proto/generated/grpc/reflection/v1/reflection.ts';
import { HealthClient } from '../../proto/generated/health/v1/health.ts';
import {
  type IngestStimulusRequest,
  type IngestStimulusResponse,
  RuntimeServiceClient,
} from '../../proto/generated/windlass/runtime/v1/runtime.ts';
import { type Authority, type CertificateFields, type Issued, makeAuthority } from '../../test/builders/x509.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { IngestError, type Submission } from '../ingest/index.ts';
import { startGrpc } from './index.ts';

const paths = { certificate: 'tls.crt', key: 'tls.key', clientAuthorities: 'ca.crt' };
const tenantUri = (slug: string): CertificateFields => ({
  commonName: `ci of ${slug}`,
  uris: [`windlass://tenant/${slug}`],
});

let authority: Authority;
let folder: Record<string, string>;
let listener: GrpcListener;
let submissions: Submission[];
let respond: (submission: Submission) => Promise<IngestStimulusResponse>;
let registry: Registry;
let takeShare: RateLimit['take'];
let lines: (readonly [fields: LogFields, message: string])[];
/** Lets the files be looked at again. */
let look: () => void;
const clients: { close(): void }[] = [];

const ids = { stimulusId: 's-1', workflowExecutionId: 'e-1' };

function putServer(issuer: Authority): void {
  const { cert, key } = issuer.issue({
    commonName: 'api',
    dnsNames: ['localhost'],
    ips: ['127.0.0.1'],
    purpose: 'server',
  });
  Object.assign(folder, { 'tls.crt': cert, 'tls.key': key, 'ca.crt': issuer.cert });
}

beforeEach(async () => {
  authority = makeAuthority();
  folder = {};
  putServer(authority);
  submissions = [];
  lines = [];
  takeShare = async () => undefined;
  respond = async () => ids;
  registry = new Registry();
  const log = (fields: LogFields, message: string) => void lines.push([fields, message]);
  listener = await startGrpc(
    { port: 0, host: '127.0.0.1', tls: paths },
    {
      ingest: (submission) => {
        submissions.push(submission);
        return respond(submission);
      },
      rateLimit: { take: (tenant) => takeShare(tenant) },
      tenants: { namespaceOf: (slug) => (['acme', 'globex'].includes(slug) ? `tenant-${slug}` : undefined) },
      clock: {
        ...systemClock,
        // The only sleep of ten seconds is the one between two looks at the files.
        sleep: (ms, signal) =>
          ms === 10_000 && signal?.aborted !== true
            ? new Promise((resolve) => {
                look = resolve;
                signal?.addEventListener('abort', () => resolve(), { once: true });
              })
            : systemClock.sleep(ms, signal),
      },
      logger: { ...silentLogger, info: log, error: log, child: () => ({ ...silentLogger, info: log, error: log }) },
      newId,
      registry,
      readFile: async (path) => folder[path] ?? '',
    },
  );
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await listener.close(AbortSignal.abort());
});

type ClientClass<T> = new (
  address: string,
  channel: ReturnType<typeof credentials.createSsl>,
  options?: Record<string, unknown>,
) => T;

function open<T extends { close(): void }>(
  Client: ClientClass<T>,
  own: Issued | undefined,
  options: Record<string, unknown> = {},
): T {
  const key = own && Buffer.from(own.key);
  const cert = own && Buffer.from(own.cert);
  const channel = credentials.createSsl(Buffer.from(authority.cert), key ?? null, cert ?? null);
  const client = new Client(`127.0.0.1:${listener.port}`, channel, {
    'grpc.enable_retries': 0,
    'grpc.ssl_target_name_override': 'localhost',
    ...options,
  });
  clients.push(client);
  return client;
}

const acme = (): Issued => authority.issue(tenantUri('acme'));

const stimulus = (changes: Partial<IngestStimulusRequest> = {}): IngestStimulusRequest => ({
  source: 'my-ci',
  content: 'built',
  idempotencyKey: undefined,
  headers: {},
  ...changes,
});

function call(
  own: Issued | undefined,
  request: Partial<IngestStimulusRequest> = {},
  options: { deadline?: number; on?: RuntimeServiceClient } = {},
): Promise<IngestStimulusResponse | ServiceError> {
  const client = options.on ?? open(RuntimeServiceClient, own);
  const deadline = Date.now() + (options.deadline ?? 5_000);
  return new Promise((resolve) => {
    client.ingestStimulus(stimulus(request), new Metadata(), { deadline }, (error, response) =>
      resolve(error ?? response),
    );
  });
}

describe('ORCH-AUTH-06 who may call', () => {
  it('STIM-02 STIM-03 STIM-04 STIM-05 STIM-18 a client whose certificate names a tenant submits for that tenant', async () => {
    const before = Date.now();
    const headers = { 'X-Delivery': '7', Authorization: 'left to the use case' };
    const answer = await call(acme(), { content: '{"ref":"main"}', idempotencyKey: 'k-1', headers });
    expect(answer).toMatchObject(ids);
    expect(submissions).toEqual([
      {
        source: { kind: 'HttpApi', name: 'my-ci' },
        transport: 'Grpc',
        tenant: 'acme',
        content: { ref: 'main' },
        idempotencyKey: 'k-1',
        headers,
        receivedAt: expect.any(Number),
        signal: expect.any(AbortSignal),
      },
    ]);
    expect(submissions[0]?.receivedAt).toBeGreaterThanOrEqual(before);
  });

  const hour = 3_600_000;
  it.each<[title: string, own: () => Issued | undefined]>([
    ['no certificate', () => undefined],
    ['one of another authority', () => makeAuthority().issue(tenantUri('acme'))],
    ['one of another authority with the same name', () => makeAuthority('authority').issue(tenantUri('acme'))],
    ['one that vouches for itself', () => makeAuthority('acme')],
    ['one that has expired', () => authority.issue({ ...tenantUri('acme'), notAfter: Date.now() - hour / 2 })],
    ['one that is not valid yet', () => authority.issue({ ...tenantUri('acme'), notBefore: Date.now() + hour })],
    ['one for servers', () => authority.issue({ ...tenantUri('acme'), purpose: 'server' })],
  ])('a client with %s is refused before it can say anything', async (_title, own) => {
    expect(await call(own())).toMatchObject({ code: status.UNAVAILABLE });
    const health = open(HealthClient, own());
    const checked = await new Promise((resolve) => health.check({ service: '' }, (error) => resolve(error)));
    expect(checked).toMatchObject({ code: status.UNAVAILABLE });
    expect(submissions).toEqual([]);
    expect(lines).toEqual([]);
  });

  it.each<[title: string, fields: CertificateFields]>([
    ['no name', {}],
    ['a common name alone', { commonName: 'acme' }],
    ['a DNS name', { dnsNames: ['acme'] }],
    ['a tenant inside of a DNS name', { dnsNames: ['a, URI:windlass://tenant/acme, b'] }],
    ['another URI', { uris: ['spiffe://cluster.local/tenant/acme'] }],
    ['a URI with more after the tenant', { uris: ['windlass://tenant/acme/admin'] }],
    ['a URI with a query', { uris: ['windlass://tenant/acme?x'] }],
    ['a URI of upper-case letters', { uris: ['windlass://tenant/ACME'] }],
    ['an empty tenant', { uris: ['windlass://tenant/'] }],
    ['two tenants', { uris: ['windlass://tenant/acme', 'windlass://tenant/globex'] }],
    ['a tenant that is not set up', { uris: ['windlass://tenant/nobody'] }],
    ['a tenant that every object has', { uris: ['windlass://tenant/constructor'] }],
  ])('a client whose certificate has %s is denied', async (_title, fields) => {
    expect(await call(authority.issue(fields))).toMatchObject({ code: status.PERMISSION_DENIED });
    expect(submissions).toEqual([]);
  });

  it('a client without TLS is refused', async () => {
    const client = new RuntimeServiceClient(`127.0.0.1:${listener.port}`, credentials.createInsecure());
    clients.push(client);
    expect(await call(undefined, {}, { on: client })).toMatchObject({ code: status.UNAVAILABLE });
    const raw = await new Promise<string>((resolve) => {
      const socket: Socket = connectTcp(listener.port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\n\r\n'));
      socket
        .on('data', () => undefined)
        .on('error', () => resolve('broken'))
        .on('close', () => resolve('closed'));
    });
    expect(raw).toMatch(/broken|closed/);
  });

  it('TLS before 1.2 is not spoken', async () => {
    const { cert, key } = acme();
    const failed = await new Promise<string>((resolve) => {
      const options = { host: '127.0.0.1', port: listener.port, cert, key, ca: authority.cert };
      const socket = connectTls({ ...options, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' });
      socket
        .on('secureConnect', () => resolve(socket.getProtocol() ?? ''))
        .on('error', (error) => resolve(error.message));
    });
    expect(failed).toMatch(/protocol|handshake|alert/i);
  });
});

describe('STIM-18 what may be submitted', () => {
  it.each<[title: string, request: Partial<IngestStimulusRequest>]>([
    ['a source of one letter', { source: 'a' }],
    ['a source of 63 characters', { source: 'a'.repeat(63) }],
    ['a name with dots and an underscore', { source: 'Tickets.EU_1' }],
    ['a key of one character', { idempotencyKey: 'k' }],
    ['a key of 1024 characters', { idempotencyKey: 'k'.repeat(1_024) }],
    ['text in any script', { content: '\ufeffŁódź 🚲 \u0000', headers: { 'x-ort': 'Łódź 🚲' } }],
    ['STIM-09 STIM-20 content without a character', { content: '' }],
    ['a hundred headers', { headers: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`h${n}`, 'v'])) }],
    ['headers of 16 KiB', { headers: { h: 'v'.repeat(16 * 1_024 - 1) } }],
    ['a header that every object has', { headers: { constructor: 'x' } }],
  ])('%s', async (_title, request) => {
    expect(await call(acme(), request)).toMatchObject(ids);
    expect(submissions[0]).toMatchObject({
      headers: request.headers ?? {},
      source: { name: request.source ?? 'my-ci' },
    });
  });

  it.each<[title: string, request: Partial<IngestStimulusRequest>, field: string]>([
    ['no source', { source: '' }, 'source'],
    ['a source of 64 characters', { source: 'a'.repeat(64) }, 'source'],
    ['a source with a slash', { source: 'a/b' }, 'source'],
    ['a source with a line feed', { source: 'a\n' }, 'source'],
    ['an empty key', { idempotencyKey: '' }, 'idempotency_key'],
    ['a key of 1025 characters', { idempotencyKey: 'k'.repeat(1_025) }, 'idempotency_key'],
    ['101 headers', { headers: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`h${n}`, 'v'])) }, 'headers'],
    ['headers of more than 16 KiB', { headers: { h: 'v'.repeat(16 * 1_024) } }, 'headers'],
  ])('%s is refused, and the field named', async (_title, request, field) => {
    expect(await call(acme(), request)).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: expect.stringContaining(field),
    });
    expect(submissions).toEqual([]);
  });

  it('all mistakes are reported at once', async () => {
    const answer = await call(acme(), { source: '', idempotencyKey: '' });
    expect(answer).toMatchObject({ details: expect.stringMatching(/source.*idempotency_key|idempotency_key.*source/) });
  });

  const mib = 1_024 * 1_024;
  it.each([
    [mib - 1, status.OK],
    [mib, status.OK],
    [mib + 1, status.RESOURCE_EXHAUSTED],
    [2 * mib, status.RESOURCE_EXHAUSTED],
  ])('content of %i bytes: status %i', async (bytes, code) => {
    const answer = await call(acme(), { content: 'x'.repeat(bytes) });
    expect('code' in answer ? answer.code : status.OK).toBe(code);
    expect(submissions).toHaveLength(code === status.OK ? 1 : 0);
  });

  it('content that is small only while it is compressed is refused', async () => {
    const client = open(RuntimeServiceClient, acme(), { 'grpc.default_compression_algorithm': 2 });
    expect(await call(undefined, { content: 'x'.repeat(64 * mib) }, { on: client })).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
    });
    expect(await call(undefined, { content: 'x'.repeat(1_000) }, { on: client })).toMatchObject(ids);
  });

  const sendBytes = (message: Buffer): Promise<ServiceError | null> => {
    const client = open(RuntimeServiceClient, acme());
    const path = '/windlass.runtime.v1.RuntimeService/IngestStimulus';
    const asItIs = (bytes: Buffer): Buffer => bytes;
    return new Promise((resolve) => void client.makeUnaryRequest(path, asItIs, asItIs, message, resolve));
  };

  it('bytes that are no message are refused', async () => {
    const failure = await sendBytes(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 1]));
    expect(failure?.code).toBe(status.INTERNAL);
    expect(submissions).toEqual([]);
  });

  const bad = { lone: [0xff], surrogate: [0xed, 0xa0, 0x80], 'cut off': [0xc3], overlong: [0xc0, 0xaf] };
  const field = (number: number, bytes: readonly number[]): number[] => [(number << 3) | 2, bytes.length, ...bytes];
  const letter = [0x61];
  it.each(Object.entries(bad))(
    'a string that is no UTF-8 (%s) is refused, and its field named',
    async (_title, bytes) => {
      const messages = {
        source: [...field(1, bytes), ...field(2, letter)],
        content: [...field(1, letter), ...field(2, bytes)],
        idempotency_key: [...field(1, letter), ...field(2, letter), ...field(3, bytes)],
        'headers by name': [
          ...field(1, letter),
          ...field(2, letter),
          ...field(4, [...field(1, bytes), ...field(2, letter)]),
        ],
        'headers by value': [
          ...field(1, letter),
          ...field(2, letter),
          ...field(4, [...field(1, letter), ...field(2, bytes)]),
        ],
      };
      for (const [title, message] of Object.entries(messages)) {
        expect(await sendBytes(Buffer.from(message))).toMatchObject({
          code: status.INVALID_ARGUMENT,
          details: `${title.split(' ')[0]} must be UTF-8`,
        });
      }
      expect(submissions).toEqual([]);
    },
  );
});

describe('STIM-20 what becomes of it', () => {
  it('AMB-057 more than the share of a tenant is refused', async () => {
    const limit = createRateLimit(1);
    takeShare = (tenant) => limit.take(tenant);
    for (let calls = 0; calls < 10; calls += 1) expect(await call(acme())).toMatchObject(ids);
    expect(await call(acme())).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: expect.stringContaining('too many requests'),
    });
    expect(await call(authority.issue(tenantUri('globex')))).toMatchObject(ids);
    expect(submissions).toHaveLength(11);
  });

  it.each<[title: string, error: () => Error, want: object]>([
    [
      'STIM-31 a duplicate names the first stimulus',
      () => new IngestError('idempotent_duplicate', 'again', { originalStimulusId: 's-0' }),
      { code: status.ALREADY_EXISTS, 'windlass-error': 'idempotent_duplicate', 'original-stimulus-id': 's-0' },
    ],
    [
      'STIM-33 a source without a route',
      () => new IngestError('no_router_configured', 'no route'),
      { code: status.FAILED_PRECONDITION, 'windlass-error': 'no_router_configured' },
    ],
    [
      'STIM-32 a router agent that is not sure',
      () => new IngestError('classification_failed', 'not sure'),
      { code: status.FAILED_PRECONDITION, 'windlass-error': 'classification_failed' },
    ],
    [
      'STIM-34 a workflow that cannot be started',
      () => new IngestError('workflow_error', 'no', { details: [{ path: 'input.ref', message: 'is required' }] }),
      { code: status.INTERNAL, details: 'no; input.ref is required', 'windlass-error': 'workflow_error' },
    ],
    [
      'content that no execution holds',
      () => new AppError('limit_exceeded', 'too large', { reason: 'ContentTooLarge' }),
      { code: status.RESOURCE_EXHAUSTED, details: 'too large' },
    ],
    [
      'an outcome that is not known',
      () => new AppError('unavailable', 'connect ECONNREFUSED 10.1.2.3'),
      { code: status.UNAVAILABLE, details: 'unavailable', 'grpc-retry-pushback-ms': '5000' },
    ],
    ['a fault', () => new Error('secret of the house'), { code: status.INTERNAL, details: 'internal' }],
  ])('%s', async (_title, error, want) => {
    respond = () => Promise.reject(error());
    const answer = await call(acme());
    const { code, details, metadata } = answer as ServiceError;
    expect({ code, details, ...metadata.getMap() }).toMatchObject(want);
  });

  it('one line tells of each call, without its content; faults tell everything to us alone', async () => {
    await call(acme(), { content: 'the content', idempotencyKey: 'the key', headers: { h: 'the header' } });
    expect(lines.filter(([, message]) => message === 'call')).toMatchObject([
      [{ operation: 'ingestStimulus', code: 'OK', client: 'ci of acme', ms: expect.any(Number) }, 'call'],
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/the (content|key|header)/);
    const fault = new Error('of ours');
    respond = () => Promise.reject(fault);
    await call(acme());
    expect(lines.at(-1)).toMatchObject([{ code: 'INTERNAL', err: fault }, 'call failed']);
    expect(await registry.metrics()).toContain('windlass_grpc_calls_total{operation="ingestStimulus",code="OK"} 1');
  });

  it('a call whose deadline is over, or that is cancelled, tells its handler', async () => {
    const aborted = new Promise<void>((resolve) => {
      respond = ({ signal }) =>
        new Promise(() => {
          signal?.addEventListener('abort', () => resolve());
        });
    });
    expect(await call(acme(), {}, { deadline: 200 })).toMatchObject({ code: status.DEADLINE_EXCEEDED });
    await aborted;
  });
});

describe('certificates that change on disk', () => {
  const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

  it('count for new connections, and the old authority no more', async () => {
    const former = acme();
    expect(await call(former)).toMatchObject(ids);
    const old = authority;
    authority = makeAuthority();
    putServer(authority);
    look();
    await settle();
    expect(await call(acme())).toMatchObject(ids);
    expect(await call(old.issue(tenantUri('acme')))).toMatchObject({ code: status.UNAVAILABLE });
  });

  it('and cannot be used leave everything as it is', async () => {
    folder['tls.key'] = '';
    look();
    await settle();
    expect(await call(acme())).toMatchObject(ids);
  });

  it('and cannot be used at the start are an error', async () => {
    const started = startGrpc(
      { port: 0, host: '127.0.0.1', tls: paths },
      {
        ingest: async () => ids,
        rateLimit: createRateLimit(0),
        tenants: { namespaceOf: () => undefined },
        clock: systemClock,
        logger: silentLogger,
        newId,
        registry: new Registry(),
        readFile: async () => '',
      },
    );
    await expect(started).rejects.toMatchObject({ reason: 'TlsInvalid' });
  });
});

describe('health and reflection', () => {
  const names = ['windlass.runtime.v1.RuntimeService', 'grpc.health.v1.Health', 'grpc.reflection.v1.ServerReflection'];

  it.each(['', ...names])('the service "%s" serves', async (service) => {
    const client = open(HealthClient, acme());
    const answer = await new Promise((resolve) => client.check({ service }, (error, found) => resolve(error ?? found)));
    expect(answer).toMatchObject({ status: 1 });
  });

  it('an unknown service is not found', async () => {
    const client = open(HealthClient, acme());
    const answer = await new Promise((resolve) => client.check({ service: 'x' }, (error) => resolve(error)));
    expect(answer).toMatchObject({ code: status.NOT_FOUND });
  });

  it('all services are listed with their health', async () => {
    const client = open(HealthClient, acme());
    const answer = await new Promise((resolve) => client.list({}, (error, found) => resolve(error ?? found)));
    expect(answer).toMatchObject({ statuses: { [names[0] ?? '']: { status: 1 } } });
  });

  it('a watcher learns of the end, and does not delay it', async () => {
    const client = open(HealthClient, acme());
    const seen: number[] = [];
    const watch = client.watch({ service: '' });
    watch.on('data', ({ status: now }) => seen.push(now));
    watch.on('error', () => undefined);
    const ended = new Promise((resolve) => watch.on('close', resolve).on('end', resolve));
    await new Promise((resolve) => watch.once('data', resolve));
    await listener.close(new AbortController().signal);
    await ended;
    expect(seen).toEqual([1, 2]);
  });

  function ask(messageRequest: object): Promise<Record<string, unknown>> {
    const client = open(ServerReflectionClient, acme());
    const stream = client.serverReflectionInfo();
    return new Promise((resolve, reject) => {
      stream.on('data', (answer) => {
        resolve(answer.messageResponse);
        stream.end();
      });
      stream.on('error', reject);
      stream.write({ host: '', messageRequest } as never);
    });
  }

  it('reflection lists every service, health and itself too', async () => {
    expect(await ask({ $case: 'listServices', value: '*' })).toMatchObject({
      $case: 'listServicesResponse',
      value: { service: names.map((name) => ({ name })) },
    });
  });

  it.each([
    ['fileContainingSymbol', 'windlass.runtime.v1.RuntimeService'],
    ['fileContainingSymbol', 'windlass.runtime.v1.RuntimeService.IngestStimulus'],
    ['fileContainingSymbol', 'windlass.runtime.v1.IngestStimulusRequest'],
    ['fileContainingSymbol', 'windlass.runtime.v1.IngestStimulusRequest.HeadersEntry'],
    ['fileByFilename', 'windlass/runtime/v1/runtime.proto'],
    ['fileContainingSymbol', 'grpc.health.v1.Health'],
    ['fileContainingSymbol', 'grpc.reflection.v1.ServerReflection'],
  ])('reflection shows the file by %s %s', async ($case, value) => {
    const answer = await ask({ $case, value });
    expect(answer['$case']).toBe('fileDescriptorResponse');
    const [bytes] = (answer['value'] as { fileDescriptorProto: Uint8Array[] }).fileDescriptorProto;
    const { package: name, service } = fromBinary(FileDescriptorProtoSchema, bytes ?? new Uint8Array());
    expect([name, service.length]).toEqual([expect.stringMatching(/\.v1$/), 1]);
  });

  it.each([
    ['fileContainingSymbol', 'windlass.runtime.v1.Nothing'],
    ['fileContainingSymbol', ''],
    ['fileContainingSymbol', '.'],
    ['fileByFilename', '../../etc/passwd'],
    ['allExtensionNumbersOfType', 'windlass.runtime.v1.IngestStimulusRequest'],
  ])('reflection knows no %s "%s"', async ($case, value) => {
    expect(await ask({ $case, value })).toMatchObject({
      $case: 'errorResponse',
      value: { errorCode: status.NOT_FOUND },
    });
  });

  it('reflection answers clients that know its former name', async () => {
    const client = open(ServerReflectionClient, acme());
    const { serverReflectionInfo: method } = ServerReflectionClient.service;
    const stream = client.makeBidiStreamRequest(
      '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
      method.requestSerialize,
      method.responseDeserialize,
    );
    const answer = await new Promise((resolve, reject) => {
      stream.on('data', resolve).on('error', reject);
      stream.write({ host: '', messageRequest: { $case: 'listServices', value: '' } });
    });
    stream.end();
    expect(answer).toMatchObject({ messageResponse: { $case: 'listServicesResponse' } });
  });

  it('a service that is not there is not implemented', async () => {
    const client = open(RuntimeServiceClient, acme());
    const failure = await new Promise<ServiceError | null>((resolve) => {
      const same = (bytes: Buffer) => bytes;
      client.makeUnaryRequest('/windlass.runtime.v1.RuntimeService/Nothing', same, same, Buffer.alloc(0), (error) =>
        resolve(error),
      );
    });
    expect(failure?.code).toBe(status.UNIMPLEMENTED);
  });
});

describe('the end', () => {
  it('waits for calls under way, and takes no new ones', async () => {
    let answer = (_response: IngestStimulusResponse): void => undefined;
    const begun = new Promise<void>((resolve) => {
      respond = () => {
        resolve();
        return new Promise((done) => (answer = done));
      };
    });
    const underWay = call(acme());
    await begun;
    const closed = listener.close(new AbortController().signal);
    expect(await call(acme(), {}, { deadline: 1_000 })).toHaveProperty('code');
    answer(ids);
    expect(await underWay).toMatchObject(ids);
    await closed;
    expect(submissions).toHaveLength(1);
  });

  it('breaks off what is under way when the grace is over', async () => {
    const begun = new Promise<void>((resolve) => {
      respond = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const underWay = call(acme());
    await begun;
    const grace = new AbortController();
    const closed = listener.close(grace.signal);
    grace.abort();
    await closed;
    const end = await underWay;
    expect(end).toMatchObject({ code: expect.any(Number) });
    expect(end).not.toMatchObject({ code: status.DEADLINE_EXCEEDED });
  });
});
