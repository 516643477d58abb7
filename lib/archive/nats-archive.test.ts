import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, describe, expect, it } from 'vitest';
import { anEntry, describeArchive, namesOf } from '../../test/archive/archive-contract.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { systemClock } from '../clock.ts';
import type { ArchiveStore } from './archive-store.ts';
import { createNatsArchive } from './nats-archive.ts';

/** Buckets are named by owners: a server of its own for each store keeps the tests apart. */
describe('the archive in the object store of NATS', () => {
  const started: TestBus[] = [];
  async function open(ttlMs = 86_400_000): Promise<{ store: ArchiveStore; bus: TestBus }> {
    const bus = await startTestBus();
    started.push(bus);
    const connection = bus.connect();
    while (connection.problem() !== undefined) await systemClock.sleep(10);
    return { store: createNatsArchive(connection, ttlMs), bus };
  }
  afterAll(async () => {
    await Promise.all(started.map((bus) => bus.stop()));
  });

  describeArchive(async () => (await open()).store);

  it('AMB-174 drops records that are older than it keeps', async () => {
    const { store } = await open(1_500);
    await store.write(anEntry(1, {}));
    expect((await namesOf(store, 'tenant-a')).flat()).toEqual(['run-1']);
    await systemClock.sleep(2_500);
    expect((await namesOf(store, 'tenant-a')).flat()).toEqual([]);
    expect(await store.read('tenant-a', 'run-1')).toBeUndefined();
  });

  it('AMB-174 refuses while the server is away, says why, and takes the record once it is back', async () => {
    const { store, bus } = await open();
    await store.write(anEntry(1, {}));
    await bus.server.kill();
    await expect(store.write(anEntry(2, {}))).rejects.toMatchObject({ code: 'unavailable' });
    expect(store.problem()).toBeDefined();
    await bus.server.start();
    while (store.problem() !== undefined) await systemClock.sleep(50);
    await store.write(anEntry(2, {}));
    expect((await namesOf(store, 'tenant-a')).flat()).toEqual(['run-2', 'run-1']);
  });

  it('AMB-174 takes records of one execution, and of one name, that are written at once', async () => {
    const { store } = await open();
    const again = anEntry(1, { name: 'again' });
    await store.write(again);
    for (let round = 0; round < 4; round += 1) {
      const others = [2, 3].map((second) => anEntry(10 * round + second, { name: 'again' }));
      const writes = [again, again, ...others].map((entry) => store.write(entry));
      const readings = Promise.all(Array.from({ length: 5 }, () => store.read('tenant-a', 'again')));
      expect(await Promise.allSettled(writes)).toEqual(writes.map(() => ({ status: 'fulfilled', value: undefined })));
      // Between two records of the name there is one of them at any time.
      expect((await readings).filter((record) => record === undefined)).toEqual([]);
    }
  });

  it('AMB-174 keeps no pieces of a record that another writer of the same record overtook', async () => {
    const { store, bus } = await open();
    const body = Buffer.alloc(300_000, 'x');
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 3 }, () => store.write(anEntry(1, { body }))));
    }
    expect(await store.read('tenant-a', 'run-1')).toEqual(body);
    // Pieces of one write have one subject.
    expect(await piecesIn(bus, async (manager, stream) => (await stored(manager, stream)).length)).toBe(1);
  });

  it('AMB-174 makes room by pieces that a dead writer has left before it deletes a record', async () => {
    const ttlMs = 60_000;
    const { store, bus } = await open(ttlMs);
    await store.write(anEntry(1, {}));
    for (const nuid of ['dead-1', 'dead-2', 'dead-3']) await leavePieces(bus, nuid);
    await systemClock.sleep(ttlMs / 20 + 200);
    await store.write(anEntry(2, {}));
    expect(await store.trim('tenant-a', 100_000)).toBeLessThan(100_000);
    expect((await namesOf(store, 'tenant-a')).flat()).toEqual(['run-2', 'run-1']);
    expect(await piecesIn(bus, stored)).toHaveLength(2);
  });

  it('AMB-174 leaves the pieces of a writer that may be under way', async () => {
    const { store, bus } = await open();
    await store.write(anEntry(1, {}));
    await leavePieces(bus, 'young');
    await store.trim('tenant-a', 100_000);
    expect(await piecesIn(bus, stored)).toEqual([expect.stringMatching(/young$/)]);
    expect((await namesOf(store, 'tenant-a')).flat()).toEqual([]);
  });

  it('AMB-174 reads a record that is written again meanwhile', async () => {
    const { store } = await open();
    const body = Buffer.alloc(300_000, 'x');
    await store.write(anEntry(1, { body }));
    let isWriting = true;
    const reads = [1, 2].map(async () => {
      while (isWriting) expect((await store.read('tenant-a', 'run-1'))?.byteLength).toBe(body.length);
    });
    for (let round = 0; round < 10; round += 1) await store.write(anEntry(1, { body }));
    isWriting = false;
    await Promise.all(reads);
  });

  it('AMB-174 says which record has lost its pieces, rather than wait for them', { timeout: 20_000 }, async () => {
    const { store, bus } = await open();
    await store.write(anEntry(1, {}));
    await piecesIn(bus, (manager, stream) => manager.streams.purge(stream, { filter: pieces }));
    const { uid } = anEntry(1, {});
    await expect(store.read('tenant-a', 'run-1')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`pieces of the object ${uid} are gone`),
    });
    await store.write(anEntry(1, {}));
    expect(await store.read('tenant-a', 'run-1')).toEqual(Buffer.from('record 1'));
  });

  it('lists a thousand records in pages, however many names were used again', async () => {
    const { store } = await open();
    for (let second = 1; second <= 1_000; second += 1) {
      await store.write(anEntry(second, second % 2 === 0 ? { name: 'again' } : {}));
    }
    const pages = await namesOf(store, 'tenant-a', 200);
    expect(pages.flat()).toHaveLength(1_000);
    expect(pages.flat().slice(0, 3)).toEqual(['again', 'run-999', 'again']);
    expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(200);
  });
});

/** Subjects of pieces, in whichever bucket. */
const pieces = '$O.*.C.>';

/** Looks at the stream behind the only bucket. */
async function piecesIn<T>(
  bus: TestBus,
  look: (manager: JetStreamManager, stream: string, connection: NatsConnection) => Promise<T>,
): Promise<T> {
  const connection = await connect({ servers: bus.server.url });
  try {
    const manager = await jetstreamManager(connection);
    const [stream = ''] = (await manager.streams.names().next()).filter((name) => name.startsWith('OBJ_'));
    return await look(manager, stream, connection);
  } finally {
    await connection.close();
  }
}

/** Pieces of an object that its writer did not bring to an end. */
const leavePieces = (bus: TestBus, nuid: string): Promise<void> =>
  piecesIn(bus, async (manager, stream, connection) => {
    const [subject = ''] = (await manager.streams.info(stream)).config.subjects;
    const piece = Buffer.alloc(100_000, 'x');
    for (let sent = 0; sent < 3; sent += 1)
      await connection.request(subject.replace('>', nuid), piece, { timeout: 20_000 });
  });

const stored = async (manager: JetStreamManager, stream: string): Promise<readonly string[]> =>
  Object.keys((await manager.streams.info(stream, { subjects_filter: pieces })).state.subjects ?? {});
