import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createArchiveRoom } from '../../lib/archive/room.ts';
import { createNatsArchive } from '../../lib/archive/nats-archive.ts';
import { readRecord, writeRecord } from '../../lib/archive/record.ts';
import type { ArchiveStore } from '../../lib/archive/archive-store.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createBlob } from '../../lib/output-store/blob.ts';
import { createTurnGate } from '../../controllers/runtime/turn-gate.ts';
import { anEntry, namesOf } from '../archive/archive-contract.ts';
import { anExecution } from '../builders/execution-builder.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';

/** The attacker has a tenant of their own and may finish any number of executions there, with outputs of any size. */
describe('AMB-174 a tenant that fills the archive', () => {
  let server: TestBus;
  let bus: EventBus;
  let store: ArchiveStore;

  beforeAll(async () => {
    server = await startTestBus();
    bus = server.connect();
    while (bus.problem() !== undefined) await systemClock.sleep(10);
    store = createNatsArchive(bus, 86_400_000);
  });
  afterAll(() => server?.stop());

  it('loses its own oldest records, and none of another tenant', async () => {
    const room = createArchiveRoom(store, 400_000);
    const small = Buffer.alloc(10_000, 's');
    for (let second = 1; second <= 5; second += 1) {
      const entry = anEntry(second, { owner: 'victim', body: small });
      await store.write(entry);
      await room.took(entry);
    }
    for (let second = 1; second <= 60; second += 1) {
      const entry = anEntry(second, { owner: 'attacker', body: Buffer.alloc(20_000, 'a') });
      await store.write(entry);
      await room.took(entry);
    }
    expect((await namesOf(store, 'victim')).flat()).toHaveLength(5);
    const left = (await namesOf(store, 'attacker')).flat();
    expect(left[0]).toBe('run-60');
    expect(left.length).toBeLessThan(20);
    const used = [...(await store.usage()).values()].reduce((sum, bytes) => sum + bytes, 0);
    expect(used).toBeLessThanOrEqual(420_000);
  });

  it('keeps no turn of the loop for long with 10 MiB of values that want many escapes', async () => {
    const texts = Array.from({ length: 10 }, (_, index) => Buffer.alloc(1_048_576, index + 1));
    const blobs = new Map(texts.map((data) => [createBlob(data).ref, data]));
    const parts = [...blobs].map(([ref, { byteLength: bytes }]) => ({
      path: '',
      ref,
      bytes,
      encoding: 'text' as const,
    }));
    const execution = anExecution()
      .ended('completed', 1)
      .status({ blackboard: Object.fromEntries(parts.map((part, index) => [`v${index}`, { refs: [part] }])) })
      .build();
    const turns = createTurnGate();
    let longest = 0;
    let begun = process.threadCpuUsage();
    let watching = true;
    const watch = (): void => {
      const { user, system } = process.threadCpuUsage(begun);
      longest = Math.max(longest, (user + system) / 1_000);
      begun = process.threadCpuUsage();
      if (watching) setImmediate(watch);
    };
    setImmediate(watch);
    const read = async ({ ref }: { readonly ref: string }) => blobs.get(ref) ?? Buffer.alloc(0);
    const body = await writeRecord(execution, read, () => turns.enter('attacker'));
    watching = false;
    expect(longest).toBeLessThan(100);
    expect((await readRecord(body)).leftOut).toEqual([]);
  });
});
