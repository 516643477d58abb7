import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineContract } from './contract.ts';
import { bodyLimits } from './body-limits.ts';
import { readBody } from './read-body.ts';
import { defineRoute, json } from './route.ts';
import { readAnswer, requestText, sendRaw, startTestServer } from '../../test/support/http-server.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { endlessRoom } from '../../test/support/whole-body.ts';

const mib = 1_048_576;

const server = createServer();

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('the body of a request', () => {
  it('is not waited for when the client left before the first look', async () => {
    const requested = once(server, 'request');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{');
    const [message] = (await requested) as [IncomingMessage];
    const closed = new Promise((resolve) => message.on('error', () => undefined).once('close', resolve));
    socket.destroy();
    await closed;
    const source = { message, onRead: () => undefined, ...endlessRoom, reserve: async () => undefined };
    await expect(readBody(source, { kind: 'bytes' })).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('that is large is refused where others of its owner take half of the memory; other requests are served', async () => {
    const large = bodyLimits.raw.bearer / 4;
    const take = defineContract({
      operationId: 'take',
      method: 'post',
      path: '/take',
      tag: 'Test',
      summary: 'Take bytes',
      access: 'bearer',
      body: { kind: 'bytes', maxBytes: large },
      success: { kind: 'json', description: 'Done.', schema: Type.Object({}), example: {} },
      errors: [],
    });
    // No body falls behind its pace: the clock is still.
    const clock = createManualClock();
    const app = await startTestServer([defineRoute(take, async ({ body }) => json({ bytes: body.length }))], { clock });
    const post = (body: string, caller = 'ada') =>
      sendRaw(app.port, requestText('POST /take', [`Authorization: Bearer ${caller}`], body));
    const { smallRawBytes } = bodyLimits;
    const held: Socket[] = [];
    try {
      // Two that keep back their last byte have all that one owner may have, but for the two bytes.
      for (let index = 0; index < 2; index += 1) {
        const socket = connect(app.port, '127.0.0.1');
        held.push(socket);
        const head = ['POST /take HTTP/1.1', 'Host: a', 'Authorization: Bearer ada', `Content-Length: ${large}`];
        socket.write(`${head.join('\r\n')}\r\n\r\n`);
        await new Promise((resolve) => socket.write(Buffer.alloc(large - 1), resolve));
      }
      await expect.poll(async () => (await post('x'.repeat(smallRawBytes + 1))).status).toBe(503);
      const refused = await post('x'.repeat(smallRawBytes + 1));
      expect([refused.headers['retry-after'], JSON.parse(refused.body)]).toMatchObject([
        '5',
        { error: 'unavailable', message: 'too many large bodies are being read; try again' },
      ]);
      expect(await post('x'.repeat(smallRawBytes))).toMatchObject({ status: 200, body: '{"bytes":65536}' });
      expect(await post('x'.repeat(mib), 'bob')).toMatchObject({ status: 200 });
      const [first] = held as [Socket];
      first.write('x');
      expect(await readAnswer(first)).toMatchObject({ status: 200, body: `{"bytes":${large}}` });
      expect(await post('x'.repeat(mib))).toMatchObject({ status: 200 });
      held[1]?.destroy();
      expect((await Promise.all([1, 2, 3].map(() => post('x'.repeat(8 * mib))))).map(({ status }) => status)).toEqual([
        200, 200, 200,
      ]);
    } finally {
      for (const socket of held) socket.destroy();
      await app.close();
    }
  });

  it.each([
    ['application/json', '{"a": 1}', 200, undefined],
    ['application/json', '{"a": 1, "a": 2}', 200, undefined],
    ['application/json', 'a: 1', 400, 'body'],
    ['Application/JSON; charset=utf-8', '{"a": NaN}', 400, 'body'],
    ['application/yaml', 'a: 1', 200, undefined],
  ])('that is text and called %s is, as %j, answered %i', async (type, body, want, path) => {
    const take = defineContract({
      operationId: 'takeText',
      method: 'post',
      path: '/take',
      tag: 'Test',
      summary: 'Take text',
      access: 'public',
      body: { kind: 'text', mediaTypes: ['application/yaml', 'application/json'], example: 'a: 1' },
      success: { kind: 'json', description: 'Done.', schema: Type.Object({}), example: {} },
      errors: [],
    });
    const app = await startTestServer([defineRoute(take, async () => json({}))]);
    try {
      const answer = await sendRaw(app.port, requestText('POST /take', [`Content-Type: ${type}`], body));
      expect([answer.status, JSON.parse(answer.body).details?.[0].path]).toEqual([want, path]);
    } finally {
      await app.close();
    }
  });
});
