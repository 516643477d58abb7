import { expect, it, vi } from 'vitest';
import type { ModelMessage } from './models.ts';
import { createToolNames, encodeMessage } from './tool-names.ts';
import { WrittenArguments } from './written-arguments.ts';

/** The body that is sent where a package would send this one. */
async function sent(written: WrittenArguments, body: unknown): Promise<unknown> {
  let seen = '';
  const send = async (_url: unknown, init?: { readonly body?: unknown }) => {
    seen = String(init?.body);
    return new Response();
  };
  await written.through(send as typeof fetch)('http://127.0.0.1/', { method: 'POST', body: JSON.stringify(body) });
  return JSON.parse(seen);
}

const callOf = (text: string) => ({ id: 'c', name: 'fs.read', arguments: text });

const deep = `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`;

it.each([
  ['an object', '{"path": "$& $1 \\u0000"}', { path: '$& $1 \u0000' }],
  ['a list', '[1]', {}],
  ['no JSON', '{"a":1}, "model": "other"', {}],
  ['nothing', '', {}],
  ['too deep', deep, {}],
  ['numbers that JSON cannot hold', '{"a":1e999,"b":1e20}', { a: null, b: 1e20 }],
])('arguments that are %s are sent as an object, and end nowhere else', async (_title, text, want) => {
  const written = new WrittenArguments();
  const calls = [await written.mark(callOf(text)), await written.mark(callOf('{"b":2}'))];
  const body = { model: 'm', messages: [{ content: '{"0":0}', calls }] };
  expect(await sent(written, body)).toEqual({
    model: 'm',
    messages: [{ content: '{"0":0}', calls: [want, { b: 2 }] }],
  });
});

it('a package that changes the arguments of a call sends nothing', async () => {
  const written = new WrittenArguments();
  await written.mark(callOf('{"a":1}'));
  await expect(sent(written, { calls: ['left out'] })).rejects.toThrow('changed the arguments');
});

it('the arguments of a call are parsed once, however many questions hold the call in the spelling of a provider', async () => {
  const call = callOf('{"path": [1, 2]}');
  const message: ModelMessage = { role: 'assistant', content: '', tool_calls: [call] };
  using parse = vi.spyOn(JSON, 'parse');
  for (let question = 0; question < 3; question += 1) {
    const encoded = encodeMessage(message, createToolNames([], [message]));
    const [spelled] = encoded.role === 'assistant' ? (encoded.tool_calls ?? []) : [];
    expect(spelled?.name).toBe('fs_read');
    await new WrittenArguments().mark(spelled ?? call);
  }
  expect(parse.mock.calls.filter(([text]) => text === call.arguments)).toHaveLength(1);
});
