import { expect, it } from 'vitest';
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

const deep = `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`;

it.each([
  ['an object', '{"path": "$& $1 \\u0000"}', { path: '$& $1 \u0000' }],
  ['a list', '[1]', {}],
  ['no JSON', '{"a":1}, "model": "other"', {}],
  ['nothing', '', {}],
  ['too deep', deep, {}],
])('arguments that are %s are sent as an object, and end nowhere else', async (_title, text, want) => {
  const written = new WrittenArguments();
  const calls = [await written.mark(text), await written.mark('{"b":2}')];
  const body = { model: 'm', messages: [{ content: '{"0":0}', calls }] };
  expect(await sent(written, body)).toEqual({
    model: 'm',
    messages: [{ content: '{"0":0}', calls: [want, { b: 2 }] }],
  });
});

it('a package that changes the arguments of a call sends nothing', async () => {
  const written = new WrittenArguments();
  await written.mark('{"a":1}');
  await expect(sent(written, { calls: ['left out'] })).rejects.toThrow('changed the arguments');
});
