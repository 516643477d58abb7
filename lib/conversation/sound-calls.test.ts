import { expect, it } from 'vitest';
import { countTurns } from '../../test/support/count-turns.ts';
import type { ModelMessage } from '../models/models.ts';
import { createSoundMessages } from './sound-calls.ts';

const called = (...texts: string[]): ModelMessage => ({
  role: 'assistant',
  content: '',
  tool_calls: texts.map((text, index) => ({ id: `call_${index}`, name: 'fs.read', arguments: text })),
});
const deep = `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`;
const large = `{"a":[${'{},'.repeat(80_000)}{}]}`;

it.each(['[1', '[]', '1', '', deep])(
  'arguments that are no JSON object, or are too deep, are sent as an empty one: %#',
  async (text) => {
    const [message] = await createSoundMessages()([called('{"a":1}', text)]);
    expect(message).toMatchObject({ tool_calls: [{ arguments: '{"a":1}' }, { arguments: '{}' }] });
  },
);

it('arguments of a whole history are judged in several turns, and never again', async () => {
  const sound = createSoundMessages();
  const messages = Array.from({ length: 8 }, () => called(large));
  expect(await countTurns(() => sound(messages))).toBeGreaterThanOrEqual(8);
  messages.push(called(large));
  expect(await countTurns(() => sound(messages))).toBeLessThan(4);
  expect(await sound(messages)).toEqual(messages);
});
