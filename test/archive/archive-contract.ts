import { expect, it } from 'vitest';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { ArchiveEntry, ArchiveStore } from '../../lib/archive/archive-store.ts';
import { agentOwnerOf } from '../../lib/archive/create-archive.ts';
import { agentRowOf, rowOf } from '../../lib/archive/row.ts';
import { anExecution, begin } from '../builders/execution-builder.ts';

const uidOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

interface EntryFields {
  readonly owner?: string;
  readonly name?: string;
  readonly body?: Uint8Array;
}

/** The record of an execution that ended so many seconds after `begin`. */
export function anEntry(
  second: number,
  { owner = 'tenant-a', name = `run-${second}`, body }: EntryFields,
): ArchiveEntry {
  const execution = anExecution(name).ended('completed', second).build();
  const uid = uidOf(second);
  const row = rowOf({ ...execution, metadata: { ...execution.metadata, uid } });
  const finishedAt = begin + second * 1_000;
  return { owner, uid, name, finishedAt, row, body: body ?? Buffer.from(`record ${second}`) };
}

const anAgentRun = (name: string): AgentExecution => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: { name },
  spec: { agent: 'reviewer' },
  status: { phase: 'completed', iterations: 2 },
});

const text = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString();

/** Every page of an owner's rows, by the names on them. */
export async function namesOf(store: ArchiveStore, owner: string, limit = 50): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const { rows, next } = await store.page(owner, { after, limit });
    pages.push(rows.map(({ metadata }) => metadata.name));
    after = next;
  } while (after !== undefined);
  return pages;
}

/** The contract of a store of records; `open` returns an empty one. */
export function describeArchive(open: () => Promise<ArchiveStore>): void {
  it('AMB-174 gives a record back by the uid and by the name of its execution, and nothing to another owner', async () => {
    const store = await open();
    const entry = anEntry(1, { name: 'build' });
    await store.write(entry);
    expect(text(await store.read('tenant-a', entry.uid))).toBe('record 1');
    expect(text(await store.read('tenant-a', 'build'))).toBe('record 1');
    expect(await store.read('tenant-b', entry.uid)).toBeUndefined();
    expect(await store.read('tenant-b', 'build')).toBeUndefined();
    expect(await namesOf(store, 'tenant-b')).toEqual([[]]);
    expect(await store.read('tenant-a', 'test')).toBeUndefined();
  });

  it('AMB-174 stores a record once, however often it is written', async () => {
    const store = await open();
    const entry = anEntry(1, {});
    await store.write(entry);
    await store.write(entry);
    expect(await namesOf(store, 'tenant-a')).toEqual([['run-1']]);
    expect(text(await store.read('tenant-a', 'run-1'))).toBe('record 1');
  });

  it('a name leads to the execution that had it last', async () => {
    const store = await open();
    await store.write(anEntry(1, { name: 'nightly' }));
    await store.write(anEntry(2, { name: 'nightly' }));
    expect(text(await store.read('tenant-a', 'nightly'))).toBe('record 2');
    expect(text(await store.read('tenant-a', uidOf(1)))).toBe('record 1');
    expect((await namesOf(store, 'tenant-a')).flat()).toEqual(['nightly', 'nightly']);
  });

  it.each([2, 3, 4])('lists the newest first, each once, %i a page', async (limit) => {
    const store = await open();
    for (let second = 1; second <= 7; second += 1) await store.write(anEntry(second, {}));
    const pages = await namesOf(store, 'tenant-a', limit);
    expect(pages.flat()).toEqual([7, 6, 5, 4, 3, 2, 1].map((second) => `run-${second}`));
    expect(Math.max(...pages.map((page) => page.length))).toBe(limit);
  });

  it('AMB-174 deletes the oldest of the one owner, and nothing of another', async () => {
    const store = await open();
    const body = Buffer.alloc(10_000, 'x');
    for (let second = 1; second <= 6; second += 1) await store.write(anEntry(second, { body }));
    await store.write(anEntry(1, { owner: 'tenant-b', body }));
    const before = (await store.usage()).get('tenant-a') ?? 0;
    expect(before).toBeGreaterThanOrEqual(60_000);
    const left = await store.trim('tenant-a', 35_000);
    expect(left).toBeLessThanOrEqual(35_000);
    expect((await namesOf(store, 'tenant-a')).flat()).toEqual(['run-6', 'run-5', 'run-4']);
    expect(await store.read('tenant-a', 'run-1')).toBeUndefined();
    expect(await store.read('tenant-a', uidOf(1))).toBeUndefined();
    expect((await namesOf(store, 'tenant-b')).flat()).toEqual(['run-1']);
    expect((await store.usage()).get('tenant-a')).toBe(left);
  });

  it('AMB-174 keeps records of agents apart from those of workflows of the same tenant, and counts both', async () => {
    const store = await open();
    const agents = agentOwnerOf('tenant-a');
    await store.write(anEntry(1, { name: 'nightly' }));
    await store.write({ ...anEntry(2, { name: 'nightly', owner: agents }), row: agentRowOf(anAgentRun('nightly')) });
    expect(text(await store.read('tenant-a', 'nightly'))).toBe('record 1');
    expect(text(await store.read(agents, 'nightly'))).toBe('record 2');
    expect((await store.page(agents, { after: undefined, limit: 5 })).rows).toMatchObject([
      { kind: 'AgentExecution', metadata: { name: 'nightly' }, status: { phase: 'completed', iterations: 2 } },
    ]);
    expect([...(await store.usage()).keys()].toSorted()).toEqual(['tenant-a', agents].toSorted());
  });

  it('holds a record of 5 MiB that cannot be compressed', async () => {
    const store = await open();
    const body = crypto.getRandomValues(new Uint8Array(65_536));
    const large = Buffer.concat(Array.from({ length: 80 }, () => body));
    await store.write(anEntry(1, { body: large }));
    const read = await store.read('tenant-a', 'run-1');
    expect(read !== undefined && large.equals(read)).toBe(true);
  });
}
