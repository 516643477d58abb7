import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEnd, aWorkflow } from '../../builders/workflow-builder.ts';
import { workflowExecutions, workflows } from '../harness/kinds.ts';
import { pause } from '../harness/wait.ts';
import { type ApiWorld, startApiWorld } from './harness/index.ts';

let world: ApiWorld;
let ada: string;

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'wire', nats: false });
  ada = await world.token({ user: 'ada', tenant: world.tenant });
  const answer = aWorkflow('answer').state('end', anEnd()).build();
  await world.kube.create(workflows, { ...answer, metadata: { name: 'answer', namespace: world.tenant } });
});
afterAll(() => world?.close());

const body = JSON.stringify({ workflow: 'answer' });
const started = async (): Promise<number> =>
  (await world.kube.listAll(workflowExecutions, { namespace: world.tenant })).items.length;

/** The head of a start, with these lines beside the usual ones. */
const head = (...lines: readonly string[]): string =>
  [
    'POST /v1/workflows/executions HTTP/1.1',
    'Host: test',
    `Authorization: Bearer ${ada}`,
    'Content-Type: application/json',
    ...lines,
    '',
    '',
  ].join('\r\n');

interface Talk {
  readonly socket: Socket;
  readonly received: () => string;
  /** Resolves when the other side has closed; rejects after so many milliseconds. */
  readonly closed: (withinMs?: number) => Promise<string>;
}

async function talk(...pieces: readonly (string | Uint8Array)[]): Promise<Talk> {
  const { hostname, port } = new URL(world.replicas[0]?.url ?? '');
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1'))).on('error', () => undefined);
  const over = once(socket, 'close');
  await once(socket, 'connect');
  for (const piece of pieces) socket.write(piece);
  return {
    socket,
    received: () => text,
    async closed(withinMs = 5_000) {
      const late = pause(withinMs).then(() => Promise.reject(new Error(`still open after ${withinMs} ms: ${text}`)));
      await Promise.race([over, late]);
      return text;
    },
  };
}

const ok = (text: string): boolean => /^HTTP\/1\.1 200 OK\r\n[^]*"execution_id"/.test(text);

describe('a request as it should be', () => {
  it('is answered, so that the others prove something', async () => {
    const before = await started();
    const whole = await talk(head(`Content-Length: ${body.length}`, 'Connection: close'), body);
    expect(await whole.closed()).toSatisfy(ok);
    const size = body.length.toString(16);
    const chunked = await talk(
      head('Transfer-Encoding: chunked', 'Connection: close'),
      `${size}\r\n${body}\r\n0\r\n\r\n`,
    );
    expect(await chunked.closed()).toSatisfy(ok);
    expect(await started()).toBe(before + 2);
  });

  it('may come one byte at a time', async () => {
    const { socket, closed } = await talk();
    for (const byte of head(`Content-Length: ${body.length}`, 'Connection: close') + body) {
      socket.write(byte);
      if (byte === '{' || byte === '\n') await pause(5);
    }
    expect(await closed()).toSatisfy(ok);
  });
});

describe('a request that two readers could read differently', () => {
  const size = body.length.toString(16);
  it.each<[what: string, text: () => string]>([
    ['two lengths', () => `${head(`Content-Length: ${body.length}`, `Content-Length: ${body.length}`)}${body}`],
    ['two lengths that differ', () => `${head(`Content-Length: ${body.length}`, 'Content-Length: 4')}${body}`],
    ['two lengths in one header', () => `${head(`Content-Length: ${body.length}, ${body.length}`)}${body}`],
    [
      'a length and chunks',
      () => head(`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked') + `0\r\n\r\n${body}`,
    ],
    ['chunks of another encoding', () => `${head('Transfer-Encoding: gzip, chunked')}${size}\r\n${body}\r\n0\r\n\r\n`],
    [
      'chunks named twice',
      () => `${head('Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}${size}\r\n${body}\r\n0\r\n\r\n`,
    ],
    ['a chunk of no number', () => `${head('Transfer-Encoding: chunked')}xyz\r\n${body}\r\n0\r\n\r\n`],
    ['a chunk that is longer than it says', () => `${head('Transfer-Encoding: chunked')}4\r\n${body}\r\n0\r\n\r\n`],
    ['a negative length', () => `${head('Content-Length: -1')}${body}`],
    ['a length that is no number', () => `${head('Content-Length: 0x10')}${body}`],
    ['a space before the colon', () => `${head('Content-Length : 5')}${body}`],
    [
      'a header that continues in the next line',
      () => `${head(`Content-Length: ${body.length}`, 'X-A: b', ' c')}${body}`,
    ],
    ['a NUL in a header', () => `${head(`Content-Length: ${body.length}`, 'X-A: b\u0000c')}${body}`],
    ['bare line feeds', () => `${head(`Content-Length: ${body.length}`).replaceAll('\r', '')}${body}`],
    [
      'no host',
      () => `${head(`Content-Length: ${body.length}`, 'Connection: close').replace('Host: test\r\n', '')}${body}`,
    ],
    ['two hosts', () => `${head(`Content-Length: ${body.length}`, 'Host: other', 'Connection: close')}${body}`],
    [
      'a version that is none',
      () => `${head(`Content-Length: ${body.length}`).replace('HTTP/1.1', 'HTTP/9.9')}${body}`,
    ],
    ['no HTTP at all', () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n'],
  ])('%s: 400, the connection ends, and nothing is written', async (_what, text) => {
    const before = await started();
    const begun = performance.now();
    const { closed } = await talk(Buffer.from(text(), 'latin1'));
    const answer = await closed();
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/\r\ncontent-type: application\/json\r\n[^]*\r\n\r\n\{"error":"invalid_request"/i);
    // One answer: what follows a broken request is no second one.
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect(await started()).toBe(before);
  });

  it('headers of more than 16 KiB: 431', async () => {
    const { closed } = await talk(head(`X-A: ${'a'.repeat(17_000)}`));
    expect(await closed()).toMatch(
      /^HTTP\/1\.1 431 [^]*\{"error":"headers_too_large","code":"headers_too_large","message":"[^"]+"\}$/,
    );
  });
});

describe('a request that breaks off', () => {
  it.each<[what: string, text: () => string]>([
    ['in its headers', () => head('Content-Length: 10').slice(0, 60)],
    ['before its body', () => head(`Content-Length: ${body.length}`)],
    ['in its body', () => `${head(`Content-Length: ${body.length}`)}${body.slice(0, -1)}`],
    ['in a chunk', () => `${head('Transfer-Encoding: chunked')}ff\r\n${body}`],
    ['before its last chunk', () => `${head('Transfer-Encoding: chunked')}${body.length.toString(16)}\r\n${body}\r\n`],
  ])('%s leaves nothing behind, however it ends', async (_what, text) => {
    const before = await started();
    for (const end of ['end', 'resetAndDestroy'] as const) {
      const { socket } = await talk(text());
      await pause(30);
      socket[end]();
    }
    await pause(200);
    expect(await started()).toBe(before);
    expect((await world.http('/health')).status).toBe(200);
  });

  it('two hundred at a time delay no other client', async () => {
    const open = await Promise.all(
      Array.from({ length: 200 }, () => talk(`${head(`Content-Length: ${body.length}`)}${body.slice(0, 5)}`)),
    );
    const begun = performance.now();
    expect((await world.http('/v1/workflows/executions', { token: ada })).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(2_000);
    for (const { socket } of open) socket.destroy();
  });
});

describe.concurrent('a client that is slow', () => {
  it('with its headers is answered 408 within a quarter of a minute', async () => {
    const { closed } = await talk(head().slice(0, 60));
    expect(await closed(16_000)).toMatch(
      /^HTTP\/1\.1 408 [^]*\{"error":"request_timeout","code":"request_timeout","message":"[^"]+"\}$/,
    );
  }, 30_000);

  it('with its body is answered 408 within three quarters of a minute, and nothing is written', async () => {
    const before = await started();
    const { socket, closed, received } = await talk(head(`Content-Length: ${body.length}`));
    const dripping = (async () => {
      for (const byte of body.slice(0, -1)) {
        if (socket.destroyed) return;
        socket.write(byte);
        await pause(2_500);
      }
    })();
    expect(await closed(45_000)).toMatch(
      /^HTTP\/1\.1 408 [^]*\{"error":"request_timeout","code":"request_timeout","message":"[^"]+"\}$/,
    );
    await dripping;
    expect(received()).not.toContain('execution_id');
    expect(await started()).toBe(before);
  }, 90_000);
});
