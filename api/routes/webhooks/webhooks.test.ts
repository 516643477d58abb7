import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import type { BusEvent } from '../../../lib/bus/index.ts';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { createRateLimit } from '../../../lib/http/index.ts';
import { newId } from '../../../lib/ids.ts';
import {
  readAnswer,
  requestText,
  sendRaw,
  startTestServer,
  type TestServer,
} from '../../../test/support/http-server.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import type { Submission } from '../../ingest/index.ts';
import { createWebhookRoutes } from './index.ts';
import { secretsFromEnvironment } from './secrets.ts';

const secrets = secretsFromEnvironment({ SVC_WEBHOOK_SECRET_CI: 'secret', SVC_WEBHOOK_SECRET_OTHER: 'secret' });
const signature = (body: string | Uint8Array) =>
  `X-Svc-Signature: sha256=${createHmac('sha256', 'secret').update(body).digest('hex')}`;

let server: TestServer;
let submissions: Submission[];
let events: BusEvent[];
let ended: string[];

async function serve(perSecond: number, clock: Clock = systemClock): Promise<void> {
  const routes = createWebhookRoutes({
    ingest: async (submission) => {
      submissions.push(submission);
      return { stimulusId: 's-1', workflowExecutionId: 'e-1' };
    },
    clock,
    secrets,
    table: { tenantOf: (source) => (source === 'other' ? 'globex' : 'acme') },
    events: { raise: (event) => void events.push(event) },
    observer: { ended: (_door, outcome) => void ended.push(outcome), leftOut: () => void ended.push('left_out') },
    newStimulusId: newId,
    rateLimit: createRateLimit(perSecond),
  });
  // Callers of webhooks have no identity: the type of other callers does not matter here.
  server = await startTestServer(routes.map(({ caller: _caller, ...route }) => route));
}

beforeEach(() => {
  submissions = [];
  events = [];
  ended = [];
});
afterEach(() => server.close());

/** Signed as it is sent. */
function sendBytes(body: Uint8Array, headers: readonly string[]) {
  const length = `Content-Length: ${body.length}`;
  return sendRaw(server.port, requestText('POST /v1/webhooks/ci', [signature(body), length, ...headers]), body);
}

const send = (source: string, headers: readonly string[], body = 'x') =>
  sendRaw(server.port, requestText(`POST /v1/webhooks/${source}`, headers, body));

describe('a webhook whose body is coded', () => {
  beforeEach(() => serve(0));
  const event = '{"action":"opened"}';

  it.each<[string, Uint8Array]>([
    ['gzip', gzipSync(event)],
    ['GZip', gzipSync(event)],
    ['deflate', deflateSync(event)],
    ['deflate', deflateRawSync(event)],
    ['br', brotliCompressSync(event)],
    ['gzip, br', brotliCompressSync(gzipSync(event))],
    ['identity', Buffer.from(event)],
  ])('AMB-176 as %s is signed as it came and read as what it was', async (coding, body) => {
    expect(await sendBytes(body, [`Content-Encoding: ${coding}`])).toMatchObject({ status: 200 });
    expect(submissions).toMatchObject([{ content: { action: 'opened' } }]);
  });

  it('AMB-176 in an unknown way is handed on as bytes', async () => {
    const body = Buffer.from('anything');
    const headers = ['Content-Encoding: zstd', 'Content-Type: application/json'];
    expect(await sendBytes(body, headers)).toMatchObject({ status: 200 });
    const content = { base64: body.toString('base64'), content_type: 'application/json' };
    expect(submissions).toMatchObject([{ content }]);
  });

  it.each(['gzip', 'deflate', 'br'])('AMB-176 as %s and empty is what it is without a coding', async (coding) => {
    expect(await sendBytes(Buffer.alloc(0), [`Content-Encoding: ${coding}`])).toMatchObject({ status: 200 });
    expect(submissions).toMatchObject([{ content: '' }]);
  });

  const tooMuchHeld = `an execution holds at most ${limits.executionInputBytes}`;
  const tooMuchDecoded = `the decoded body is larger than ${limits.webhookBodyBytes} bytes`;
  it.each<[what: string, bytes: number, want: number, says?: string]>([
    ['one byte less than an execution holds', limits.executionInputBytes - 1, 200],
    ['as much as an execution holds', limits.executionInputBytes, 200],
    ['one byte more than an execution holds', limits.executionInputBytes + 1, 413, tooMuchHeld],
    ['one byte less than is decoded', limits.webhookBodyBytes - 1, 413, tooMuchHeld],
    ['as much as is decoded', limits.webhookBodyBytes, 413, tooMuchHeld],
    ['one byte more than is decoded', limits.webhookBodyBytes + 1, 413, tooMuchDecoded],
    ['a hundred times as much', 1_024 * 1_048_576, 413, tooMuchDecoded],
  ])('AMB-176 that is %s when it is decoded is answered %i', async (_what, bytes, want, says = '') => {
    // The best quality takes five seconds to find that all bytes are alike.
    const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };
    const parts =
      bytes > 100_000_000
        ? brotliCompressSync(Buffer.alloc(100_000_000, 'x'), { params })
        : gzipSync(Buffer.alloc(bytes, 'x'));
    const coding = bytes > 100_000_000 ? 'br' : 'gzip';
    const { status, body } = await sendBytes(parts, [`Content-Encoding: ${coding}`]);
    expect([status, submissions.length]).toEqual([want, want === 200 ? 1 : 0]);
    expect(body).toContain(says);
  });

  it('AMB-176 otherwise than it says is refused', async () => {
    const answer = await sendBytes(Buffer.from(event), ['Content-Encoding: gzip']);
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([400, { code: 'invalid_request' }]);
  });

  it('AMB-177 takes undescribed query parameters', async () => {
    const body = 'x';
    const request = requestText('POST /v1/webhooks/ci?retry=1&retry=2&%ZZ', [signature(body)], body);
    expect(await sendRaw(server.port, request)).toMatchObject({ status: 200 });
  });
});

describe('a webhook that cannot be authentic', () => {
  beforeEach(() => serve(0));

  const wellFormed = `X-Svc-Signature: sha256=${'0'.repeat(64)}`;
  it.each<[title: string, source: string, headers: string[], want: string]>([
    ['STIM-26 without a signature', 'ci', [], '401 missing_signature'],
    ['STIM-27 with one of another form', 'ci', ['X-Svc-Signature: sha1=00'], '400 malformed_signature'],
    ['AMB-045 with two', 'ci', [wellFormed, wellFormed], '400 malformed_signature'],
    ['STIM-28 with one that is not hexadecimal', 'ci', ['X-Svc-Signature: sha256=xy'], '400 invalid_hex'],
    ['STIM-29 of a source without a secret', 'unknown', [wellFormed], '401 secret_not_found'],
    ['AMB-043 of a source that is no slug', 'CI', [wellFormed], '401 secret_not_found'],
  ])('%s is refused before its body is read', async (_title, source, headers, want) => {
    const announced = [...headers, `Content-Length: ${limits.webhookBodyBytes}`, 'Expect: 100-continue'];
    const answer = await sendRaw(server.port, requestText(`POST /v1/webhooks/${source}`, announced), 'the beginning');
    expect(`${answer.status} ${JSON.parse(answer.body).error}`).toBe(want);
    expect(ended).toEqual(['not_authentic']);
    expect(events.map(({ type, data }) => [type, data['reason']])).toEqual([['StimulusRejected', 'HmacInvalid']]);
  });

  it('AMB-181 ROUTE-08 is published a hundred times at once, and later with the number left out', async () => {
    await server.close();
    const clock = createManualClock();
    await serve(0, clock);
    for (let sent = 0; sent < 150; sent += 1) await send('ci', []);
    expect(events).toHaveLength(100);
    expect(ended.filter((one) => one === 'left_out')).toHaveLength(50);
    await clock.advance(100);
    await send('ci', []);
    expect(events).toHaveLength(101);
    expect(events[100]?.data).toMatchObject({ left_out: 50 });
  });

  it('AMB-045 is refused for that rather than because it is too large, compressed, or has too long a key', async () => {
    for (const header of [
      `Content-Length: ${limits.webhookBodyBytes + 1}`,
      'Content-Encoding: gzip',
      `X-Idempotency-Key: ${'k'.repeat(limits.idempotencyKeyLength + 1)}`,
    ]) {
      const answer = await sendRaw(server.port, requestText('POST /v1/webhooks/ci', [header]));
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
        401,
        { error: 'missing_signature', code: 'missing_signature' },
      ]);
    }
  });

  it('AMB-153 is refused by the length that it announces, where only the digest could still be wrong', async () => {
    const tooMany = requestText('POST /v1/webhooks/ci', [wellFormed, `Content-Length: ${limits.webhookBodyBytes + 1}`]);
    expect(await sendRaw(server.port, tooMany, 'the beginning')).toMatchObject({ status: 413 });
    expect(await send('ci', [wellFormed])).toMatchObject({
      status: 401,
      body: expect.stringContaining('{"error":"invalid_signature"'),
    });
    expect(submissions).toEqual([]);
  });

  it('is asked for its body where it may be authentic and waits to be asked', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(requestText('POST /v1/webhooks/ci', [signature('late'), 'Content-Length: 4', 'Expect: 100-continue']));
    const [asked] = await new Promise<Buffer[]>((resolve) => socket.once('data', (chunk) => resolve([chunk])));
    expect(String(asked)).toContain('100 Continue');
    socket.write('late');
    expect(await readAnswer(socket)).toMatchObject({ status: 200 });
    expect(submissions).toMatchObject([{ content: 'late' }]);
  });
});

describe('a webhook that is authentic', () => {
  beforeEach(() => serve(0));

  it('STIM-02 STIM-03 STIM-04 STIM-05 is a stimulus of its source, with its content, key and headers', async () => {
    const before = Date.now();
    const headers = [signature('{"ref":"main"}'), 'X-Idempotency-Key: d-1', 'X-Event: push', 'X-Event: tag'];
    expect(await send('ci', headers, '{"ref":"main"}')).toMatchObject({
      status: 200,
      body: '{"stimulus_id":"s-1","workflow_execution_id":"e-1"}',
    });
    expect(submissions).toEqual([
      {
        source: { kind: 'Webhook', name: 'ci' },
        content: { ref: 'main' },
        idempotencyKey: 'd-1',
        signed: { signature: expect.stringMatching(/^[0-9a-f]{64}$/), isBound: false },
        headers: expect.objectContaining({ 'x-event': 'push, tag', 'x-idempotency-key': 'd-1' }),
        receivedAt: expect.any(Number),
        signal: expect.any(AbortSignal),
        memory: { letGo: expect.any(Function), reserve: expect.any(Function) },
      },
    ]);
    expect(submissions[0]?.receivedAt).toBeGreaterThanOrEqual(before);
    expect(events).toEqual([]);
  });
});

describe('a webhook that is bound to source and key', () => {
  beforeEach(() => serve(0));
  const [key, body] = ['monday', '{}'];
  const text = `ci\n${key}\n${body}`;
  const hmac = (algorithm: string) => `${algorithm}=${createHmac(algorithm, 'secret').update(text).digest('hex')}`;
  const post = (headers: readonly string[], sent: string) =>
    sendRaw(server.port, requestText('POST /v1/webhooks/ci', headers, sent));
  const bound = (value: string) => [signature(body), `X-Idempotency-Key: ${key}`, `X-Svc-Bound-Signature: ${value}`];

  it('is taken with the HMAC-SHA512 of both and its body', async () => {
    expect((await post(bound(hmac('sha512')), body)).status).toBe(200);
    expect(submissions).toMatchObject([{ idempotencyKey: key, signed: { isBound: true } }]);
  });

  it.each([
    ['the hash of a plain signature', hmac('sha256'), 400, 'malformed_signature'],
    [
      'the scheme of the one and the digest of the other',
      hmac('sha256').replace('256', '512'),
      401,
      'invalid_signature',
    ],
    ['no digest', 'sha512=', 400, 'malformed_signature'],
    ['no hexadecimal', 'sha512=x', 400, 'invalid_hex'],
  ])('is refused with %s', async (_title, value, status, error) => {
    const answer = await post(bound(value), body);
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([status, { error }]);
    expect(submissions).toEqual([]);
  });

  it.each([
    [hmac('sha512'), 400],
    [hmac('sha512').replace('512', '256'), 401],
  ])('lends its signature to no other body: %s', async (value, status) => {
    const forged = await post([`X-Svc-Signature: ${value}`], text);
    expect(forged.status).toBe(status);
    expect(submissions).toEqual([]);
  });
});

describe('AMB-057 the limit of a tenant', () => {
  beforeEach(() => serve(1));
  const many = async (count: number, source: string, headers: readonly string[]) => {
    const answers: number[] = [];
    for (let index = 0; index < count; index += 1) answers.push((await send(source, headers)).status);
    return answers;
  };

  it('counts its webhooks, and not those of another tenant', async () => {
    expect(await many(10, 'ci', [signature('x')])).toEqual(Array.from({ length: 10 }, () => 200));
    const refused = await send('ci', [signature('x')]);
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([429, { error: 'rate_limited' }]);
    expect(ended).toEqual(['rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(await many(1, 'other', [signature('x')])).toEqual([200]);
    expect(submissions).toHaveLength(11);
  });

  it('is not used up by those who cannot sign', async () => {
    expect(new Set(await many(30, 'ci', [`X-Svc-Signature: sha256=${'0'.repeat(64)}`]))).toEqual(new Set([401]));
    expect(await many(1, 'ci', [signature('x')])).toEqual([200]);
  });
});
