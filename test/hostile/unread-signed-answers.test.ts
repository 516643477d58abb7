import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Type } from 'typebox';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { defineContract } from '../../lib/http/contract.ts';
import { partsLength } from '../../lib/http/json-parts.ts';
import { defineRoute, type Reply } from '../../lib/http/route.ts';
import { collectGarbage } from '../../lib/process/collect-garbage.ts';
import { startTestServer, type TestCaller, type TestServer } from '../support/http-server.ts';

/** The attacker makes signed calls with large answers, and reads nothing of them. An answer takes memory as its text alone. */
const contract = defineContract({
  operationId: 'call',
  method: 'post',
  path: '/v1/call',
  tag: 'Test',
  summary: 'Test',
  access: 'signature',
  body: { kind: 'bytes', maxBytes: 1_000, document: { schema: Type.Object({}), example: {} } },
  success: { kind: 'json', description: 'Answer.', schema: Type.Object({}), example: {} },
  errors: [],
});
/** Lists of which each takes some 80 times the memory of its text. */
const text = `[${Array(400_000).fill('[]').join(',')}]`;
/** More than the system takes for a client that reads nothing. */
const pad = 'x'.repeat(6_000_000);
const clients = 4;

const sockets: Socket[] = [];
let server: TestServer;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

const heapUsed = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

let freed = 0;
const forms: Readonly<Record<string, () => Reply>> = {
  values: () => ({ kind: 'json', value: { pad, list: JSON.parse(text) as unknown } }),
  parts: () => {
    const json = [Buffer.from(`{"pad":"${pad}","list":`), Buffer.from(`${text}}`)];
    const parts = [{ json, as: 'value' }] as const;
    const held = { [Symbol.dispose]: () => void (freed += 1) };
    return { kind: 'parts', parts, mediaType: 'application/json', bytes: partsLength(parts), held };
  },
};

it.each(Object.keys(forms))(
  'answers of signed calls that no client reads hold no values: given as %s',
  async (form) => {
    freed = 0;
    const route = defineRoute<typeof contract, TestCaller>(contract, async (request) => {
      request.ofTenant('acme');
      return forms[form]?.() ?? { kind: 'no_content' };
    });
    server = await startTestServer([route]);
    const before = heapUsed();
    for (let count = 0; count < clients; count += 1) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1').pause();
      sockets.push(socket);
      await once(socket, 'connect');
      socket.write('POST /v1/call HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}');
      await once(socket, 'readable');
    }
    await systemClock.sleep(500);
    expect(heapUsed() - before).toBeLessThan(clients * 3_000_000);
    expect(freed).toBe(form === 'parts' ? clients : 0);
  },
);

it.each(Object.keys(forms))('an answer that is read is whole: given as %s', async (form) => {
  const route = defineRoute<typeof contract, TestCaller>(contract, async (request) => {
    request.ofTenant('acme');
    return forms[form]?.() ?? { kind: 'no_content' };
  });
  server = await startTestServer([route]);
  const answer = await fetch(`${server.url}/v1/call`, { method: 'POST', body: '{}' });
  expect(await answer.text()).toBe(`{"pad":"${pad}","list":${text}}`);
});
