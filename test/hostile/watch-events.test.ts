import { describe, expect, it } from 'vitest';
import { lineBytes, readJsonLines } from '../../lib/kube/json-lines.ts';

/** The attacker has a program that answers in the place of the API server, such as an aggregated one, or writes the largest objects that etcd takes. */
describe('a watch event', () => {
  async function* inChunks(line: string): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(line);
    for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536);
  }

  async function read(chunks: AsyncIterable<Uint8Array>, bytesMax?: number): Promise<unknown[]> {
    const events: unknown[] = [];
    for await (const event of readJsonLines(chunks, bytesMax)) events.push(event);
    return events;
  }

  async function* atOnce(line: string): AsyncGenerator<Uint8Array> {
    yield Buffer.from(line);
  }

  const lineOf = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"\n`;

  it.each([
    ['one byte less than', 99_999],
    ['exactly', 100_000],
  ])('of %s the bound is read, also as the second of a chunk', async (_what, bytes) => {
    const small = '{"a":1}\n';
    expect(await read(inChunks(small + lineOf(bytes) + small), 100_000)).toHaveLength(3);
  });

  it.each([100_001, 200_000])('of %i bytes is refused where the bound is 100,000', async (bytes) => {
    await expect(read(inChunks(lineOf(bytes)), 100_000)).rejects.toMatchObject({ reason: 'EventTooLarge' });
    await expect(read(atOnce(lineOf(bytes)), 100_000)).rejects.toMatchObject({ reason: 'EventTooLarge' });
  });

  it('that never ends is cut off at its bound, not at the end of the memory', async () => {
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (const chunk = Buffer.alloc(65_536, 'x'); ; sent += chunk.length) yield chunk;
    }
    await expect(read(endless())).rejects.toMatchObject({ code: 'limit_exceeded', reason: 'EventTooLarge' });
    expect(sent).toBeLessThanOrEqual(lineBytes + 65_536);
  });

  it('of the largest object that etcd takes, each byte escaped as six, is read', async () => {
    const text = String.raw`\u003c`.repeat(1_572_864);
    expect(await read(inChunks(`{"type":"ADDED","object":{"text":"${text}"}}\n`))).toHaveLength(1);
  });
});
