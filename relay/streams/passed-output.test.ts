import { describe, expect, it } from 'vitest';
import { edgeBuckets, type EdgeChunk } from '../../lib/edge/index.ts';
import { isPassed, type PassedOutput, passOn as passOnAt } from './passed-output.ts';

const cut = { cut: true };
const output = (bytes: number, stream: 'stdout' | 'stderr' = 'stdout'): EdgeChunk => ({
  stream,
  data: Buffer.alloc(bytes, 'x').toString('base64'),
});
const streamOf = () => ({ progress: undefined as Map<string, PassedOutput> | undefined });
const passOn = (stream: ReturnType<typeof streamOf>, commandId: string, chunk: EdgeChunk, nowMs = 0) =>
  passOnAt(stream, { commandId, chunk, nowMs });

describe('the output of a command that is passed on', () => {
  it('EDGE-REST-29 is the first 64 KiB of both streams together, and then one word of the cut', () => {
    const stream = streamOf();
    expect(passOn(stream, 'c', output(65_535))).toEqual([output(65_535)]);
    expect(isPassed(stream, 'c')).toBe(false);
    expect(passOn(stream, 'c', output(2, 'stderr'))).toEqual([output(1, 'stderr'), cut]);
    expect(isPassed(stream, 'c')).toBe(true);
    expect(passOn(stream, 'other', output(65_536))).toEqual([output(65_536)]);
    expect(passOn(stream, 'other', output(1))).toEqual([cut]);
  });

  it('is in 1024 chunks at most', () => {
    const stream = streamOf();
    for (let number = 1; number <= 1_024; number += 1) expect(passOn(stream, 'c', output(1))).toEqual([output(1)]);
    expect(passOn(stream, 'c', output(1))).toEqual([cut]);
  });

  it('has each state whole or not at all', () => {
    const stream = streamOf();
    const state = { state: 'started', message: 'now' };
    expect(passOn(stream, 'c', state)).toEqual([state]);
    expect(passOn(stream, 'c', output(65_536 - 10 - 9))).toHaveLength(1);
    expect(passOn(stream, 'c', state)).toEqual([cut]);
  });

  it('is counted for 256 commands in flight, of which none is forgotten for a further one', () => {
    const stream = streamOf();
    expect(passOn(stream, 'c-0', output(65_536))).toEqual([output(65_536)]);
    for (let number = 1; number < 256; number += 1) passOn(stream, `c-${number}`, output(1));
    for (let number = 256; number < 512; number += 1) {
      expect(passOn(stream, `c-${number}`, output(1))).toEqual([cut]);
      expect(isPassed(stream, `c-${number}`)).toBe(true);
    }
    expect(passOn(stream, 'c-512', output(1))).toEqual([]);
    expect(stream.progress?.size).toBe(512);
    expect(passOn(stream, 'c-255', output(1))).toEqual([output(1)]);
    expect(passOn(stream, 'c-0', output(1))).toEqual([cut]);
  });

  it('is counted for others once commands have ended, or their records are gone', () => {
    const stream = streamOf();
    for (let number = 0; number < 256; number += 1) passOn(stream, `c-${number}`, output(1), number);
    stream.progress?.delete('c-7');
    expect(passOn(stream, 'next', output(1), 256)).toEqual([output(1)]);
    const { ttlMs } = edgeBuckets.commands;
    expect(passOn(stream, 'late', output(1), ttlMs - 1)).toEqual([cut]);
    expect(passOn(stream, 'later', output(1), ttlMs + 1)).toEqual([output(1)]);
  });
});
