import { Type } from 'typebox';
import { expect, it, vi } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { defineContract } from '../../lib/http/contract.ts';
import { defineRoute, json } from '../../lib/http/route.ts';
import type { Caller } from '../../lib/identity/caller.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { createAnswerRoom, wholeBytes } from '../../lib/tools/web/answer-room.ts';
import { createWebTools } from '../../lib/tools/web/web-tools.ts';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import { createCallRooms } from './call-room.ts';
import { createOperations } from './operations.ts';

const mebibyte = 1_048_576;

/** The heap of the API as it is deployed: that of the test is larger, and so are its pools. */
vi.mock('node:v8', async (original) => ({
  ...(await original<object>()),
  getHeapStatistics: () => ({ heap_size_limit: 576 * 1_048_576 }),
}));

const readOf = (operationId: string, bytes: number) => {
  const contract = defineContract({
    operationId,
    method: 'get',
    path: `/${operationId}`,
    tag: 'x',
    summary: 'x',
    access: 'bearer',
    success: { kind: 'json', description: 'x', schema: Type.Object({}), example: {} },
    errors: [],
  });
  return defineRoute<typeof contract, Caller>(contract, async (request) => {
    await request.reserve(bytes);
    return json({ bytes });
  });
};

const answersOf = () => createAnswerRoom({ clock: systemClock, size: bytesOf('large answers'), waitMs: 600_000 });

it('AMB-194 an operation that waits for memory keeps no other from its place', async () => {
  const operations = createOperations(systemClock);
  operations.serve([readOf('large', 20 * mebibyte), readOf('small', 1)]);
  const rooms = createCallRooms(systemClock, answersOf());
  const over = new AbortController();
  const callers = Array.from({ length: 16 }, () => ({
    ...aToolCaller(),
    room: rooms.open(aToolCaller(), over.signal),
  }));
  const [first, ...others] = callers;
  if (first === undefined) throw new Error('there is no caller');
  await operations.call('large', first, {});
  const waiting = others.map((caller) => operations.call('large', caller, {}).catch(() => undefined));
  await systemClock.sleep(10);
  const small = operations.call('small', first, {});
  expect(await Promise.race([small, systemClock.sleep(2_000).then(() => 'no place')])).toEqual({ bytes: 1 });
  over.abort(new Error('the test is over'));
  await Promise.all([...waiting, small.catch(() => undefined)]);
});

it('TOOL-051 a page counts as half of the memory for large answers at most', async () => {
  const answers = answersOf();
  const costs: number[] = [];
  const room = {
    of: (answer: Parameters<typeof answers.of>[0]) => {
      costs.push(answer.cost);
      return answers.of(answer);
    },
  };
  const deps = { clock: systemClock, toMarkdown: async (text: string) => text, room };
  const { 'web.fetch': fetch } = createWebTools({ ...deps, resolve: async () => [] });
  if (fetch?.kind !== 'api') throw new Error('it runs elsewhere');
  await fetch.run(aToolCaller(), { url: 'http://127.0.0.1:1/' }, new AbortController().signal);
  expect(costs).toHaveLength(1);
  expect(2 * Math.max(...costs)).toBeLessThanOrEqual(wholeBytes(bytesOf('large answers')));
});
