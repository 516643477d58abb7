import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLinePrefix } from './line-prefix.ts';

async function prefixed(chunks: readonly string[]): Promise<string> {
  let text = '';
  const prefix = createLinePrefix('a | ', async (_stream, bytes) => {
    text += Buffer.from(bytes).toString('latin1');
  });
  for (const chunk of chunks) await prefix.sink('stdout', Buffer.from(chunk, 'latin1'));
  await prefix.end();
  return text;
}

describe('lines of one command among those of others', () => {
  it.each([
    [['one\ntwo\n'], 'a | one\na | two\n'],
    [['on', 'e\n\n'], 'a | one\na | \n'],
    [['end'], 'a | end\n'],
    [[], ''],
  ])('%j', async (chunks, want) => {
    expect(await prefixed(chunks)).toBe(want);
  });

  it('are the same however the log is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('x', '\n', 'yz', '\n\n')), async (chunks) => {
        expect(await prefixed(chunks)).toBe(await prefixed([chunks.join('')]));
      }),
    );
  });

  it('keeps the streams apart', async () => {
    const seen: string[] = [];
    const prefix = createLinePrefix(
      '> ',
      async (stream, bytes) => void seen.push(`${stream}:${Buffer.from(bytes).toString()}`),
    );
    await prefix.sink('stdout', Buffer.from('o'));
    await prefix.sink('stderr', Buffer.from('e\n'));
    await prefix.sink('stdout', Buffer.from('k\n'));
    expect(seen).toEqual(['stderr:> e\n', 'stdout:> ok\n']);
  });
});
