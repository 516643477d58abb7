import { expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { ConversationRecord } from '../../../lib/conversation/record.ts';
import type { PlacedRecord } from '../../agents/conversation/feed.ts';
import { createFinalAnswers } from './final-answer.ts';

const at = '2026-01-01T00:00:00.000Z';
const placed = (records: readonly object[]): PlacedRecord[] =>
  records.map(
    (record, index) => ({ sequence: index + 1, record: { at, ...record } as ConversationRecord }) as PlacedRecord,
  );
const said = (content: string) => ({
  kind: 'tool_ended',
  call_id: content,
  tool: 't',
  content,
  is_error: false,
  ran: true,
});
const whole = placed([
  { kind: 'started', agent_id: 'a', agent: 'a', version: '1.0.0', system: 's', input: 'i', model: 'm' },
  said('first'),
  said('second'),
  { kind: 'ended', result: { outcome: 'completed', output: 'done', at } },
]);

/** An answer whose log is `first` while it is judged, and `second` while it is sent. */
async function textOf(first: readonly PlacedRecord[], second: readonly PlacedRecord[]): Promise<string> {
  let log = first;
  const feed = {
    read: async (_tenant: string, _uid: string, after: number) => log.filter(({ sequence }) => sequence > after),
  };
  const finals = createFinalAnswers({ feed: feed as never, clock: systemClock });
  const request = { reserve: async () => undefined, signal: new AbortController().signal };
  const reply = await finals.answer({ tenant: 'acme', executionId: 'e', request, check: () => (log = second) });
  if (reply.kind !== 'stream') throw new Error(`the answer is ${reply.kind}`);
  const pieces: Buffer[] = [];
  for await (const piece of reply.stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

it('the final answer is whole where the log is the same at both readings', async () => {
  const { content, conversation } = JSON.parse(await textOf(whole, whole)) as Record<string, unknown>;
  expect([content, (conversation as unknown[]).length]).toEqual(['done', 4]);
});

it.each([
  ['all of it', []],
  ['its beginning', whole.slice(1)],
  ['a part of it', [...whole.slice(0, 1), ...whole.slice(2)]],
  ['its end', whole.slice(0, -1)],
])('the final answer breaks off where the bus has dropped %s between the two readings', async (_title, left) => {
  await expect(textOf(whole, left)).rejects.toThrow('the log of the conversation');
});
