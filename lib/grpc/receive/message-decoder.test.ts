import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import type { GrpcFailure } from '../grpc-error.ts';
import { MessageDecoder } from './message-decoder.ts';
import { createReceivedMessages } from './received-messages.ts';

const largest = 4 * 1_048_576;
const roomMs = 5_000;

/** A decoder below a stream that is read as the package reads it: on as soon as no whole message waits. */
function opened(poolBytes = 10 * largest) {
  const clock = createManualClock();
  const received = createReceivedMessages({
    clock,
    bytes: poolBytes,
    stopping: new AbortController().signal,
    roomMs,
  });
  const unread: Buffer[] = [];
  const failures: GrpcFailure[] = [];
  let isPaused = false;
  const call = {
    stream: {
      pause: () => void (isPaused = true),
      resume: () => void (isPaused = false),
      unshift: (chunk: Buffer) => void unread.unshift(chunk),
      once: () => {
        throw new Error('a stream that a tenant pays for is not asked');
      },
    },
    decoder: undefined as unknown,
    maxReceiveMessageSize: -1,
    sendStatus: (failure: GrpcFailure) => void failures.push(failure),
  };
  MessageDecoder.replaceIn(call, { received, most: largest, isShared: true });
  const decoder = call.decoder as MessageDecoder;
  return {
    clock,
    received,
    decoder,
    failures,
    isPaused: () => isPaused,
    come: (chunk: Buffer) => void unread.push(chunk),
    /** The messages that a reader has which handles each at once. */
    read: (): Buffer[] => {
      const messages: Buffer[] = [];
      decoder.asked();
      isPaused = decoder.isWaiting;
      for (let chunk = unread.shift(); chunk !== undefined && !isPaused; chunk = unread.shift()) {
        const whole = decoder.write(chunk);
        for (const message of whole) {
          messages.push(message.subarray(5));
          decoder.taken(message.byteLength - 5);
          decoder.asked();
        }
        if (whole.length > 0) isPaused = false;
        if (decoder.isWaiting) break;
      }
      return messages;
    },
  };
}

function framed(message: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.byteLength, 1);
  return Buffer.concat([header, message]);
}

const messages = [0, 1, 70_000, 3, 16_384, 16_385, 0, 200_000, 5].map((size, at) => Buffer.alloc(size, at));
const bytes = Buffer.concat(messages.map(framed));

describe('the messages of a stream', () => {
  it.each([1, 2, 3, 5, 7, 64, 1_000, 16_384, 65_536, 1_000_000])('are the same in parts of %i bytes', (part) => {
    const { decoder, read, come, received } = opened();
    decoder.charge('acme');
    const got: Buffer[] = [];
    for (let at = 0; at < bytes.byteLength; at += part) {
      come(bytes.subarray(at, at + part));
      got.push(...read());
    }
    expect(got.map((one) => one.byteLength)).toEqual(messages.map((one) => one.byteLength));
    expect(Buffer.concat(got).equals(Buffer.concat(messages))).toBe(true);
    expect(received.pool.used).toBe(0);
  });

  it('that are large begin once it is known who pays, and when there is room', async () => {
    const { decoder, read, come, received, clock } = opened(200_000);
    come(framed(Buffer.alloc(150_000)));
    expect(read()).toEqual([]);
    expect([decoder.isWaiting, received.pool.used]).toEqual([true, 0]);
    const other = received.pool.tryEnter({ tenant: 'globex', cost: 100_000 });
    decoder.charge('acme');
    await clock.advance(roomMs - 1);
    expect(decoder.isWaiting).toBe(true);
    other?.leave();
    await clock.advance(0);
    expect([decoder.isWaiting, received.pool.heldBy('acme')]).toEqual([false, 150_000]);
    expect(read()).toHaveLength(1);
    expect(received.pool.used).toBe(0);
  });

  it('end with their call where no room comes, or they do not arrive', async () => {
    const full = opened(200_000);
    const other = full.received.pool.tryEnter({ tenant: 'globex', cost: 200_000 });
    full.decoder.charge('acme');
    full.come(framed(Buffer.alloc(150_000)));
    full.read();
    await full.clock.advance(roomMs);
    expect(full.failures).toMatchObject([{ code: 14, details: expect.stringContaining('150000 bytes') as string }]);
    other?.leave();
    const slow = opened();
    slow.decoder.charge('acme');
    slow.come(framed(Buffer.alloc(150_000)).subarray(0, 3));
    slow.read();
    await slow.clock.advance(29_999);
    expect(slow.failures).toEqual([]);
    await slow.clock.advance(1);
    expect(slow.failures).toMatchObject([{ code: 8 }]);
  });

  it('in four million parts of a byte take no more memory than in one', () => {
    const { decoder } = opened();
    decoder.charge('acme');
    const chunk = Buffer.alloc(1);
    for (const byte of framed(Buffer.alloc(largest)).subarray(0, 5)) decoder.write(Buffer.of(byte));
    const before = process.memoryUsage().heapUsed;
    for (let at = 1; at < largest; at += 1) decoder.write(chunk);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1_048_576);
    expect(decoder.write(chunk)).toHaveLength(1);
  });
});
