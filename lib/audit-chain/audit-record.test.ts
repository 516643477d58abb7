import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import type { EventBus, MessageStream, StreamMessage } from '../bus/index.ts';
import { systemClock } from '../clock.ts';
import { auditStream } from './audit-streams.ts';
import { chainStart, linked, unlinkedEvent, writtenEvent } from './chained-event.ts';
import { type AuditQuery, auditLimits, createAuditRecord } from './index.ts';

const count = Math.floor(auditLimits.pageBytes / auditLimits.batchBytes) + 2;

/** One event whose message has as many bytes as a batch may have. */
function largestBody(index: number): string {
  const event = unlinkedEvent(
    { type: 'ToolInvocationStarted', tenant: 'acme', subject: 'kim', data: {} },
    `id-${index}`,
    '2026-01-01T00:00:00.000Z',
  );
  const body = `[${linked(writtenEvent(event), 'l0', chainStart).text}]`;
  return body.padEnd(auditLimits.batchBytes, ' ');
}

let nats: TestBus;
let bus: EventBus;
beforeAll(async () => {
  nats = await startTestBus();
  bus = await nats.connected();
  const stream = bus.stream(auditStream);
  for (let index = 0; index < count; index += 1)
    await stream.append({ tenant: 'acme', key: 'l0', body: largestBody(index) });
}, 300_000);
afterAll(() => nats.stop());

interface Watch {
  /** Holds every scan up. */
  readonly gate?: Promise<void>;
  /** Called where the body of a message is read. */
  readonly onBody?: (sequence: number) => void;
}

/** The record, and the bytes of each scan that it makes. */
function openRecord({ gate, onBody }: Watch = {}) {
  const watched = (message: StreamMessage): StreamMessage => ({
    ...message,
    get body() {
      onBody?.(message.sequence);
      return message.body;
    },
  });
  const scanned: number[] = [];
  const stream: EventBus['stream'] = (definition) => {
    const real = bus.stream(definition);
    const scan: MessageStream['scan'] = async (query) => {
      scanned.push(0);
      const at = scanned.length - 1;
      await gate;
      const messages = await real.scan(query);
      scanned[at] = messages.reduce((sum, { body }) => sum + body.byteLength, 0);
      return messages.map(watched);
    };
    return { ...real, scan };
  };
  return { record: createAuditRecord({ bus: { stream }, clock: systemClock }), scanned };
}

const query: AuditQuery = { tenant: 'acme', types: ['SessionRevoked'], limit: 500 };

it('a page of the audit looks at so many bytes, in reads of fewer, and the next page at the rest', async () => {
  const { record, scanned } = openRecord();
  const first = await record.page(query, { of: 'acme' });
  expect(first).toMatchObject({ events: [], hasMore: true });
  expect(Math.max(...scanned)).toBe(auditLimits.readBytes);
  expect(scanned.reduce((sum, bytes) => sum + bytes)).toBe(auditLimits.pageBytes);
  const rest = await record.page({ ...query, cursor: first.end }, { of: 'acme' });
  expect(rest.hasMore).toBe(false);
  const all = await record.page({ ...query, types: [], cursor: first.end }, { of: 'acme' });
  expect(all.events).toHaveLength(2);
});

it('between two messages of a page the event loop has a turn', async () => {
  let turns = 0;
  let isOver = false;
  const turnOf = new Map<number, number>();
  const { record } = openRecord({ onBody: (sequence) => turnOf.set(sequence, turns) });
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await record.page(query, { of: 'acme' });
  isOver = true;
  expect(turnOf.size).toBe(auditLimits.pageBytes / auditLimits.batchBytes);
  expect(new Set(turnOf.values()).size).toBe(turnOf.size);
});

it('few readers are at the record at a time, and those of one tenant leave a place to another', async () => {
  const gate = Promise.withResolvers<void>();
  const { record, scanned } = openRecord({ gate: gate.promise });
  const acme = Array.from({ length: auditLimits.readsAtOnce + 1 }, () => record.page(query, { of: 'acme' }));
  await new Promise((resolve) => setImmediate(resolve));
  expect(scanned).toHaveLength(auditLimits.readsAtOnce - 1);
  const other = record.page({ ...query, tenant: 'other' }, { of: 'other' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(scanned).toHaveLength(auditLimits.readsAtOnce);
  gate.resolve();
  await Promise.all([...acme, other]);
});

it('a read ends when its caller leaves, as it waits and as it reads', async () => {
  const gate = Promise.withResolvers<void>();
  const { record, scanned } = openRecord({ gate: gate.promise });
  const leaves = new AbortController();
  const reads = Array.from({ length: auditLimits.readsAtOnce + 1 }, () =>
    record.page(query, { of: 'acme', signal: leaves.signal }),
  );
  const settled = Promise.allSettled(reads);
  await new Promise((resolve) => setImmediate(resolve));
  leaves.abort(new Error('left'));
  gate.resolve();
  for (const one of await settled) expect(one).toMatchObject({ status: 'rejected', reason: { message: 'left' } });
  expect(scanned).toHaveLength(auditLimits.readsAtOnce - 1);
});
