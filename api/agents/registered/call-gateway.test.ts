import { generateKeyPairSync } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { bytesOf } from '../../../lib/memory-budget/index.ts';
import { createLargeAnswers, largestAnswerPart } from '../../../lib/tools/web/answer-room.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { createGatewayCalls } from './call-gateway.ts';

const mebibyte = 1_024 * 1_024;
const answerOf = (text: string) => JSON.stringify({ result: { isError: false, content: [{ type: 'text', text }] } });
const replies: ((response: ServerResponse) => void)[] = [];
const server = createServer((request, response) => {
  request.resume().on('end', () => replies.shift()?.(response));
});
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => void server.close());

const send = (text: string) => (response: ServerResponse) => void response.end(answerOf(text));

function callsOf() {
  const { privateKey: key } = generateKeyPairSync('ed25519');
  const session = { sessionId: 's', executionId: 'e', token: 't', key };
  const sessions = { of: async () => session, again: async () => session };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const room = createLargeAnswers(systemClock);
  return createGatewayCalls({
    clock: systemClock,
    logger: silentLogger,
    newId,
    room,
    sessions: sessions as never,
    url,
  });
}

it.each([
  [{ code: -32_000, message: 'ToolNotAllowed: x', data: null }, /^Refused: ToolNotAllowed: x$/],
  [{ code: -32_602, message: 'Invalid tool arguments: x', data: null }, /^Refused: Invalid tool arguments/],
  [
    { code: -32_602, message: 'x; step one was sent', data: { error: 'Validation' } },
    /^Validation: x; step one was sent$/,
  ],
  [{ code: -32_000, message: 'revoked', data: { error: 'OutcomeUnknown' } }, /^OutcomeUnknown: revoked$/],
  [{ code: -32_000, message: 'no room', data: { error: 'QuotaExceeded' } }, /^QuotaExceeded: no room$/],
  [{ code: -32_603, message: 'not yet', data: { error: 'NotReady' } }, /^NotReady: not yet$/],
  [
    { code: -32_603, message: 'it cannot be reached; try again', data: null },
    /^OutcomeUnknown: .*Look before you call again/,
  ],
])(
  'an agent reads "Refused" of an answer that proves that nothing ran, and of no other: %j',
  async (error, content) => {
    replies.push((response) => void response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error })));
    const call = callsOf()({ tenant: 'acme' } as never, { tool: 'x.y', args: {} }, new AbortController().signal);
    expect(await call).toMatchObject({ isError: true, content: expect.stringMatching(content) });
    expect(replies).toEqual([]);
  },
);

it('large answers that are read at once have a bound in memory, and small ones need none', async () => {
  const calls = callsOf();
  const call = async (tenant: string) => {
    const { content } = await calls({ tenant } as never, { tool: 'x.y', args: {} }, new AbortController().signal);
    return content.length;
  };
  const most = Math.floor(bytesOf('large answers') * largestAnswerPart);
  const largest = answerOf('x'.repeat(most - mebibyte));
  let rest: () => void = () => undefined;
  replies.push((response) => {
    response.writeHead(200, { 'content-length': most });
    response.write(largest.slice(0, 2 * mebibyte));
    rest = () => void response.end(largest.slice(2 * mebibyte).padEnd(most - 2 * mebibyte));
  });
  const first = call('acme');
  await vi.waitFor(() => expect(replies).toHaveLength(0), { timeout: 10_000 });
  await systemClock.sleep(300);
  let second = 0;
  // A fifth of the memory is free beside the largest answer.
  const larger = Math.floor(most / 2);
  replies.push(send('x'.repeat(larger)));
  const waits = call('globex').then((length) => (second = length));
  await vi.waitFor(() => expect(replies).toHaveLength(0), { timeout: 10_000 });
  replies.push(send('small'));
  expect(await call('acme')).toBe('small'.length);
  await systemClock.sleep(1_000);
  expect(second).toBe(0);
  rest();
  expect(await first).toBe(most - mebibyte);
  expect(await waits).toBe(larger);
});
