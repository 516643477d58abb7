import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { defineContract } from '../../lib/http/contract.ts';
import { jsonCost } from '../../lib/http/json-cost.ts';
import { defineRoute, json } from '../../lib/http/route.ts';
import { parseStrictJson } from '../../lib/http/strict-json.ts';
import { requestText, sendRaw, startTestServer } from '../support/http-server.ts';
import { hostileShapes, listOf } from './support/json-shapes.ts';
import { ParsedHeap } from './support/parsed-heap.ts';
import { restedTurnMs } from './support/turns.ts';

const mib = 1_048_576;

const take = defineContract({
  operationId: 'take',
  method: 'post',
  path: '/take',
  tag: 'Test',
  summary: 'Take anything',
  access: 'bearer',
  // The usual bound and room for what is around the largest text: one that is cut off is never looked at after JSON.parse.
  body: { kind: 'json', maxBytes: mib + 64, schema: Type.Object({ input: Type.Unknown() }), example: {} },
  success: { kind: 'json', description: 'Done.', schema: Type.Object({}), example: {} },
  errors: [],
});

let heap: ParsedHeap;
beforeAll(() => {
  heap = new ParsedHeap();
});
afterAll(() => heap.close());

const shapes = Object.entries(hostileShapes).map(([name, text]) => ({ name, text }));

describe('an attacker who may send JSON of 1 MiB', () => {
  it.each(shapes)('takes no more memory with $name than the price says', async ({ text }) => {
    // Other memory of the thread may differ a little.
    expect(await heap.bytesOf(text)).toBeLessThanOrEqual(jsonCost(text) + mib);
  });

  it.each(shapes)('keeps the event loop for less than 100 ms of its CPU time with $name', async ({ text }) => {
    const server = await startTestServer([defineRoute(take, async () => json({}))]);
    // As few programs write it, which takes the longest way.
    const body = ` {"input":${text} }`;
    const request = requestText('POST /take', ['Authorization: Bearer eve', 'Content-Type: application/json'], body);
    try {
      const longestMs = await restedTurnMs(async () => {
        const { status } = await sendRaw(server.port, request);
        expect([200, 413]).toContain(status);
      }, 100);
      expect(longestMs).toBeLessThan(100);
    } finally {
      await server.close();
    }
  });

  it('is refused with 413 where the values would take too much memory, and only there', async () => {
    const server = await startTestServer([defineRoute(take, async () => json({}))]);
    const post = async (units: number) => {
      const body = `{"input":[${Array(units).fill('{}').join(',')}]}`;
      const head = ['Authorization: Bearer eve', 'Content-Type: application/json'];
      return { cost: jsonCost(body), ...(await sendRaw(server.port, requestText('POST /take', head, body))) };
    };
    try {
      const each = jsonCost('{},');
      const most = Math.floor((limits.parsedJsonBytes - jsonCost('{"input":[]}')) / each);
      const [fits, exceeds] = [await post(most), await post(most + 1)];
      expect([fits.cost <= limits.parsedJsonBytes, fits.status]).toEqual([true, 200]);
      expect([exceeds.cost > limits.parsedJsonBytes, exceeds.status]).toEqual([true, 413]);
      expect(JSON.parse(exceeds.body)).toMatchObject({
        error: 'payload_too_large',
        message: expect.stringContaining('send fewer objects'),
      });
    } finally {
      await server.close();
    }
  });

  it('and sends twenty of the worst bodies at once has to wait in turn, while other tenants are answered', async () => {
    let kept = 0;
    let most = 0;
    const busy = Promise.withResolvers<void>();
    const hold = async ({ caller }: { readonly caller: { readonly name: string } }) => {
      if (caller.name !== 'eve') return json({});
      kept += 1;
      most = Math.max(most, kept);
      await busy.promise;
      kept -= 1;
      return json({});
    };
    const server = await startTestServer([defineRoute(take, hold)]);
    const post = (caller: string, body: string) =>
      sendRaw(
        server.port,
        requestText('POST /take', [`Authorization: Bearer ${caller}`, 'Content-Type: application/json'], body),
      );
    const worst = `{"input":${listOf('{}', 430_000)}}`;
    expect(jsonCost(worst)).toBeGreaterThan(limits.parsedJsonBytes * 0.9);
    try {
      const hostile = Array.from({ length: 20 }, () => post('eve', worst));
      await expect.poll(() => kept, { timeout: 20_000 }).toBe(4);
      expect((await post('ada', '{"input":{}}')).status).toBe(200);
      expect((await post('ada', worst)).status).toBe(200);
      busy.resolve();
      const statuses = (await Promise.all(hostile)).map(({ status }) => status);
      expect(statuses).toEqual(Array(20).fill(200));
      expect(most).toBe(4);
    } finally {
      await server.close();
    }
  });

  it.each(shapes)('is understood as JSON.parse understands it: $name', ({ text }) => {
    // An assertion that can show how two values differ takes a second for each.
    expect(isDeepStrictEqual(parseStrictJson(` ${text}`), JSON.parse(text))).toBe(true);
  });
});
