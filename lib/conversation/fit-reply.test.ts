import { expect, it } from 'vitest';
import { busLimits } from '../bus/index.ts';
import { fitReply } from './fit-reply.ts';

const reply = (content: string, args: readonly string[] = [], name = 'fs.write') => ({
  content,
  tool_calls: args.map((text, index) => ({ id: `${index}`, name, arguments: text })),
  stop: 'end' as const,
  provider: 'p',
  model: 'm',
  input_tokens: 7,
  output_tokens: 9,
});

it.each([
  ['control characters', '\u0001'.repeat(262_144)],
  ['Chinese', '\u6f22'.repeat(262_144)],
  ['pairs of surrogates', '\u{1f600}'.repeat(131_072)],
  ['quotes', '"'.repeat(262_144)],
])('a reply of %s fits a message of the event bus with its tokens, whatever it calls', (_what, text) => {
  const kept = fitReply(
    reply(
      text,
      Array.from({ length: 128 }, () => text),
      '\u0001'.repeat(128),
    ),
    1,
  );
  expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(busLimits.messageBytes - 4_096);
  expect(kept).toMatchObject({ cut: true, input_tokens: 7, output_tokens: 9 });
  expect(kept.content.length).toBeGreaterThan(60_000);
  expect(kept.content.isWellFormed()).toBe(true);
});

it('a reply of plain text keeps 256 KiB, and 512 KiB of arguments', () => {
  const text = 'x'.repeat(262_144);
  const kept = fitReply(reply(text, [text, text, 'y']), 2);
  expect(kept).not.toHaveProperty('cut');
  expect(kept.tool_calls.map(({ id, arguments: { length } }) => [id, length])).toEqual([
    ['call_2_0', 262_144],
    ['call_2_1', 262_144],
    ['call_2_2', 0],
  ]);
});
