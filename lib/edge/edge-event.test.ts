import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import {
  EdgeCapabilities,
  EdgeCommand,
  EdgeEvent,
  Heartbeat,
  SealNodeEnvelope,
} from '../../proto/generated/windlass/node/v1/node.ts';
import { AppError } from '../errors.ts';
import {
  assertFresh,
  edgeLimits,
  isSealedBy,
  readEdgeEvent,
  readRotation,
  sealEdgeCommand,
  sealEdgeEvent,
} from './index.ts';
import { openEdgeCommand } from './edge-command.ts';
import { cutField, readFields, writeField } from './wire.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const streamId = '0b54ef1e-9d5d-4f6a-8b8e-000000000001';
const sealing = { key: privateKey, nodeId: 'n', token: 't', streamId, sequence: 7n, now: 1_790_000_000_000 };
const heartbeat = { $case: 'heartbeat', value: { envelope: undefined, sentAt: new Date(1_790_000_000_000) } } as const;
const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);
/** One byte in a field of number 2. */
const two = bytes(0x12, 1, 0x61);

const codeOf = (read: () => unknown): string => {
  try {
    read();
    return 'taken';
  } catch (error) {
    return error instanceof AppError ? error.code : `not an AppError: ${String(error)}`;
  }
};

const problemOf = (read: () => unknown): string => {
  try {
    read();
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
const tooMany = 'the message is no canonical protobuf: it has more than 4096 fields';

describe('messages of a daemon', () => {
  it('EDGE-FLOW-05 are read with their envelope, which proves the key, the stream and the sequence', () => {
    const { event, sealed } = readEdgeEvent(sealEdgeEvent(heartbeat, sealing));
    expect(event.$case).toBe('heartbeat');
    expect(sealed.envelope).toMatchObject({ nodeId: 'n', securityToken: 't', sequence: 7n });
    expect(isSealedBy(publicKey, sealed, streamId)).toBe(true);
    const other = { ...sealed, envelope: { ...sealed.envelope, sequence: 8n } };
    expect(isSealedBy(publicKey, other, streamId)).toBe(false);
  });

  it('are read once, envelope and content', () => {
    const envelopes = vi.spyOn(SealNodeEnvelope, 'decode');
    const contents = vi.spyOn(Heartbeat, 'decode');
    const { event } = readEdgeEvent(sealEdgeEvent(heartbeat, sealing));
    expect(event).toMatchObject(heartbeat);
    expect([envelopes.mock.calls.length, contents.mock.calls.length]).toEqual([1, 1]);
    vi.restoreAllMocks();
  });

  it('are read the same wherever their envelope is', () => {
    const commandId = 'c';
    const sent = {
      $case: 'commandResult',
      value: { envelope: undefined, commandId, result: { outcome: undefined } },
    } as const;
    const [field] = readFields(sealEdgeEvent(sent, sealing));
    const inner = sealEdgeEvent(sent, sealing).subarray(field?.valueFrom, field?.to);
    const { rest, value } = cutField(inner, 1) ?? { rest: bytes(), value: bytes() };
    const [first] = readFields(rest);
    const envelope = writeField(1, value);
    for (const at of [0, first?.to, rest.length]) {
      const moved = Buffer.concat([rest.subarray(0, at), envelope, rest.subarray(at)]);
      const { event, sealed } = readEdgeEvent(writeField(3, moved));
      expect(event).toMatchObject(sent);
      expect(Buffer.from(sealed.rest)).toEqual(Buffer.from(rest));
      expect(isSealedBy(publicKey, sealed, streamId)).toBe(true);
    }
  });

  it('EDGE-FLOW-05 are refused without an envelope', () => {
    expect(codeOf(() => readEdgeEvent(EdgeEvent.encode({ event: heartbeat }).finish()))).toBe('unauthenticated');
    expect(codeOf(() => readRotation(two))).toBe('unauthenticated');
  });

  it('AMB-202 cannot be taken for another kind: the same bytes under another field have another signature', () => {
    const sent = sealEdgeEvent(
      { $case: 'commandResult', value: { envelope: undefined, commandId: 'c', result: undefined } },
      sealing,
    );
    const [field] = readFields(sent);
    const inner = sent.subarray(field?.valueFrom, field?.to);
    const { sealed } = readEdgeEvent(writeField(4, inner));
    expect(sealed.domain).toBe('commandProgress');
    expect(isSealedBy(publicKey, sealed, streamId)).toBe(false);
  });

  it('AMB-202 are refused with anything that the signature does not cover', () => {
    const whole = Buffer.from(sealEdgeEvent(heartbeat, sealing));
    const [field] = readFields(whole);
    const inner = whole.subarray(field?.valueFrom, field?.to);
    const envelope = Buffer.from(cutField(inner, 1)?.value ?? []);
    const rest = Buffer.from(cutField(inner, 1)?.rest ?? []);
    const withEnvelope = (value: Uint8Array): Uint8Array => writeField(2, Buffer.concat([rest, writeField(1, value)]));
    const cases: Readonly<Record<string, Uint8Array>> = {
      'nothing at all': bytes(),
      'two events': Buffer.concat([whole, whole]),
      'an unknown field beside the event': Buffer.concat([whole, two.map((byte, at) => (at === 0 ? 0x32 : byte))]),
      'an unknown kind of event': writeField(6, inner),
      'two envelopes': writeField(2, Buffer.concat([inner, writeField(1, envelope)])),
      'an envelope that is a number': writeField(2, bytes(0x08, 1)),
      'an unknown field in the envelope': withEnvelope(Buffer.concat([envelope, bytes(0x32, 1, 1)])),
      'a field of the envelope twice': withEnvelope(Buffer.concat([envelope, bytes(0x28, 1)])),
      'a cut-off message': whole.subarray(0, -1),
      'no protobuf at all': Buffer.from('GET / HTTP/1.1'),
    };
    for (const [what, message] of Object.entries(cases)) {
      expect([what, codeOf(() => readEdgeEvent(message))]).toEqual([what, 'invalid']);
    }
    expect(codeOf(() => readEdgeEvent(withEnvelope(envelope)))).toBe('taken');
  });

  it('are refused with a content that no message has, however deep', () => {
    const groups = Buffer.alloc(100_000, 0x1b);
    const hello = writeField(
      1,
      Buffer.concat([
        writeField(2, groups),
        writeField(1, SealNodeEnvelope.encode(SealNodeEnvelope.create({ nodeId: 'n' })).finish()),
      ]),
    );
    expect(codeOf(() => readEdgeEvent(hello))).toBe('invalid');
  });

  const envelope = writeField(1, SealNodeEnvelope.encode(SealNodeEnvelope.create({ nodeId: 'n' })).finish());
  const read = (kind: number, content: Uint8Array): string =>
    codeOf(() => readEdgeEvent(writeField(kind, Buffer.concat([envelope, content]))).event);
  const label = writeField(5, bytes(0x0a, 1, 0x61, 0x12, 1, 0x62));
  const labels = (count: number, more = bytes()): Uint8Array =>
    writeField(2, Buffer.concat([more, ...Array<Uint8Array>(count).fill(label)]));
  /** Fields of so many are 4,095: each label has one around it and two in it, and there are the report, the envelope, its node id. */
  const labelsMost = 1_364;

  it.each([1, 5])('AMB-202 have at most 4096 fields at all levels together, as labels have: field %i', (kind) => {
    const spare = bytes(0x0a, 0);
    expect(read(kind, labels(labelsMost))).toBe('taken');
    expect(read(kind, labels(labelsMost, spare))).toBe('taken');
    expect(read(kind, labels(labelsMost, Buffer.concat([spare, spare])))).toBe('invalid');
    expect(read(kind, Buffer.concat([labels(700), labels(700)]))).toBe('invalid');
  });

  it('AMB-202 hide no fields in any message inside them', () => {
    const many = Buffer.alloc(2 * 4_096, bytes(0x08, 1));
    const inside = (...path: readonly number[]): Uint8Array =>
      path.reduceRight<Uint8Array>((content, number) => writeField(number, content), many);
    const paths: Readonly<Record<number, readonly (readonly number[])[]>> = {
      1: [[1], [1, 4], [2], [2, 5], [2, 10]],
      2: [[1, 4], [2]],
      3: [[1, 4], [3], [3, 1], [3, 1, 2], [3, 1, 3], [3, 2], [3, 3], [3, 3, 1], [3, 4]],
      4: [[1, 4], [3], [3, 3]],
      5: [[1, 4], [2], [2, 5], [2, 10]],
    };
    for (const [kind, found] of Object.entries(paths))
      for (const path of found) {
        const message = writeField(Number(kind), inside(...path));
        expect([kind, path, problemOf(() => readEdgeEvent(message))]).toEqual([kind, path, tooMany]);
      }
  });

  it.each([1, 5])('are reports of at most 512 KiB: field %i', (kind) => {
    const text = (size: number): Uint8Array => {
      const around = envelope.length + 8;
      return writeField(2, writeField(1, Buffer.alloc(size - around, 'x')));
    };
    const most = edgeLimits.reportBytes;
    const sizeOf = (content: Uint8Array): number => envelope.length + content.length;
    expect([most - 1, most, most + 1].map((size) => sizeOf(text(size)))).toEqual([most - 1, most, most + 1]);
    expect([most - 1, most, most + 1].map((size) => read(kind, text(size)))).toEqual(['taken', 'taken', 'invalid']);
  });

  it('are reports as large as the other bounds permit', () => {
    const name = (index: number, length: number): string => `${index}`.padEnd(length, '\u4e00');
    const of = (count: number, length: number): string[] =>
      Array.from({ length: count }, (_, index) => name(index, length));
    const { localTools, mountPoints, labels: most, nameLength } = edgeLimits;
    const capabilities = EdgeCapabilities.create({
      localTools: of(localTools, nameLength),
      // All of them have 16 KiB at most as JSON.
      mountPoints: of(mountPoints, 20),
      customLabels: Object.fromEntries(of(most, nameLength).map((label) => [label, name(0, 256)])),
      commandTimeout: { seconds: 60n, nanos: 0 },
    });
    const event = { $case: 'hello', value: { envelope: undefined, capabilities, streamId } } as const;
    const token = 't'.repeat(edgeLimits.tokenLength);
    expect(codeOf(() => readEdgeEvent(sealEdgeEvent(event, { ...sealing, token })).event)).toBe('taken');
  });

  it('are decoded when their event is asked for, which is after the proof', () => {
    const contents = vi.spyOn(Heartbeat, 'decode');
    const received = readEdgeEvent(sealEdgeEvent(heartbeat, sealing));
    expect(contents).not.toHaveBeenCalled();
    expect(received.event).toBe(received.event);
    expect(contents).toHaveBeenCalledOnce();
    vi.restoreAllMocks();
  });

  it('EDGE-FLOW-05 are fresh within the skew to the millisecond', () => {
    const now = 1_790_000_000_000;
    const at = (ms: number): string =>
      codeOf(() => assertFresh(SealNodeEnvelope.create({ timestamp: new Date(now + ms) }), now));
    expect([at(-edgeLimits.skewMs), at(edgeLimits.skewMs)]).toEqual(['taken', 'taken']);
    expect([at(-edgeLimits.skewMs - 1), at(edgeLimits.skewMs + 1)]).toEqual(['unauthenticated', 'unauthenticated']);
    expect(codeOf(() => assertFresh(SealNodeEnvelope.create({}), now))).toBe('unauthenticated');
  });
});

describe('fields on the wire', () => {
  it('AMB-202 are read in one way only', () => {
    const cases: readonly (readonly [string, Uint8Array, string])[] = [
      ['the highest field number', bytes(0xf8, 0xff, 0xff, 0xff, 0x0f, 1), 'taken'],
      ['a tag of 2^32', bytes(0x80, 0x80, 0x80, 0x80, 0x10, 1), 'invalid'],
      ['field number 0', bytes(0x00, 1), 'invalid'],
      ['a tag with a needless byte', bytes(0x92, 0x00, 1, 0x61), 'invalid'],
      ['a length with a needless byte', bytes(0x12, 0x81, 0x00, 0x61), 'invalid'],
      ['a number with a needless byte', bytes(0x08, 0x81, 0x00), 'invalid'],
      ['the largest number', bytes(0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1), 'taken'],
      ['a number of 65 bits', bytes(0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2), 'invalid'],
      ['a number of eleven bytes', bytes(0x08, ...Array<number>(10).fill(0x80), 1), 'invalid'],
      ['a group', bytes(0x0b, 0x0c), 'invalid'],
      ['an end of a group', bytes(0x0c), 'invalid'],
      ['a length beyond the end', bytes(0x12, 2, 0x61), 'invalid'],
      ['eight bytes', bytes(0x09, 1, 2, 3, 4, 5, 6, 7, 8), 'taken'],
      ['four bytes', bytes(0x0d, 1, 2, 3, 4), 'taken'],
      ['four bytes cut off', bytes(0x0d, 1, 2, 3), 'invalid'],
      ['a tag cut off', bytes(0x92), 'invalid'],
      ['4096 fields', Buffer.alloc(2 * 4_096, bytes(0x08, 1)), 'taken'],
      ['4097 fields', Buffer.alloc(2 * 4_097, bytes(0x08, 1)), 'invalid'],
    ];
    for (const [what, message, want] of cases) expect([what, codeOf(() => readFields(message))]).toEqual([what, want]);
  });
});

describe('messages to a daemon', () => {
  it('EDGE-FLOW-06 are refused without an envelope, with fields that repeat, and with unknown ones', () => {
    const place = { key: publicKey, nodeId: 'n', streamId, after: 0n };
    const sent = sealEdgeCommand({ command: { $case: 'drain', value: {} }, resultAck: undefined }, sealing);
    const plain = EdgeCommand.encode({
      command: { $case: 'drain', value: {} },
      serverEnvelope: undefined,
      resultAck: undefined,
    });
    const read = (message: Uint8Array): string => codeOf(() => openEdgeCommand(message, place));
    expect(read(sent)).toBe('taken');
    expect(read(plain.finish())).toBe('unauthenticated');
    expect(read(Buffer.concat([sent, writeField(4, bytes())]))).toBe('invalid');
    expect(read(Buffer.concat([sent, writeField(12, bytes())]))).toBe('invalid');
    expect(read(Buffer.concat([sent, writeField(5, bytes())]))).toBe('unauthenticated');
  });
});
