import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { ConversationRecord } from '../conversation/record.ts';
import { AppError } from '../errors.ts';
import { type EntryReader, readAgentRecord, type StoredEntry, writeAgentRecord } from './agent-record.ts';
import { archiveLimits } from './limits.ts';

const rest = async (): Promise<void> => undefined;
const at = '2026-01-02T00:00:00.000Z';

const ended: AgentExecution = {
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: { name: 'run', namespace: 'tenant-a', uid: 'u' },
  spec: { agent: 'reviewer', input: 'read "this"\n', result: { phase: 'completed', output: 'é'.repeat(9), at } },
  status: { phase: 'completed', finished_at: at },
};
const asked = (call: number): ConversationRecord => ({ at, kind: 'model_asked', iteration: 1, call });
const said = (output: string): ConversationRecord => ({
  at,
  kind: 'iteration_completed',
  iteration: 1,
  output,
  accepted: true,
});

/** A log of these entries, two to a page, with gaps between their places. */
function logOf(...records: readonly ConversationRecord[]): EntryReader {
  const entries: StoredEntry[] = records.map((record, index) => ({
    sequence: (index + 1) * 3,
    body: Buffer.from(JSON.stringify(record)),
  }));
  return async (after) => entries.filter(({ sequence }) => sequence > after).slice(0, 2);
}

const recordOf = async (...records: readonly ConversationRecord[]) =>
  readAgentRecord(await writeAgentRecord(ended, logOf(...records), rest));

const asRead = ({ sequence, body }: StoredEntry) => ({
  sequence,
  record: JSON.parse(Buffer.from(body).toString()) as unknown,
});

// A line is the entry with its place: `[3,` before it and `]` behind it.
const around = 4;

describe('AMB-174 the record of an execution of an agent', () => {
  it('is the object as it ended, and its conversation with the places of the entries', async () => {
    const entries = [asked(1), said('line\nbreak "and" ]é'), asked(2)];
    const { execution, entriesBehind, leftOut } = await recordOf(...entries);
    expect(execution).toEqual(ended);
    expect(entriesBehind(0).map(asRead)).toEqual(
      entries.map((record, index) => ({ sequence: (index + 1) * 3, record })),
    );
    expect(leftOut).toBe(0);
  });

  it.each<[after: number, want: number[]]>([
    [2, [3, 6, 9]],
    [3, [6, 9]],
    [4, [6, 9]],
    [8, [9]],
    [9, []],
  ])('continues behind place %i', async (after, want) => {
    const { entriesBehind } = await recordOf(asked(1), asked(2), asked(3));
    expect(entriesBehind(after).map(({ sequence }) => sequence)).toEqual(want);
  });

  it.each([-1, 0, 1])('has pages of entries, the last of which is empty: %i more than one page', async (more) => {
    const count = archiveLimits.entriesOfPage + more;
    const { entriesBehind } = await recordOf(...Array.from({ length: count }, (_, index) => asked(index)));
    const page = entriesBehind(0);
    expect(page).toHaveLength(Math.min(count, archiveLimits.entriesOfPage));
    const rest = entriesBehind(page.at(-1)?.sequence ?? 0);
    expect(rest).toHaveLength(Math.max(0, more));
    expect(entriesBehind(count * 3)).toEqual([]);
  });

  it.each([
    [-1, 2],
    [0, 2],
    [1, 1],
  ])('has pages of so many bytes, the first entry excepted: %i bytes more', async (more, want) => {
    const half = archiveLimits.bytesOfPage / 2 - JSON.stringify(said('')).length - around;
    const first = said('x'.repeat(half));
    const { entriesBehind } = await recordOf(first, said('x'.repeat(half + more)), said('x'.repeat(3 * half)));
    expect(entriesBehind(0)).toHaveLength(want);
    expect(entriesBehind(6)).toHaveLength(1);
  });

  it('has small pages for a reader that may keep them for long', async () => {
    const long = said('x'.repeat(archiveLimits.bytesOfSmallPage / 2 - 300));
    const { entriesBehind } = await recordOf(long, long, long);
    expect(entriesBehind(0)).toHaveLength(3);
    const page = entriesBehind(0, true);
    expect(page).toHaveLength(2);
    expect(entriesBehind(page.at(-1)?.sequence ?? 0, true)).toHaveLength(1);
  });

  it.each([0, 1, 2_998, 5_999, 6_000])('looks at few of 2,000 entries for the page behind place %i', async (after) => {
    const entries = Array.from({ length: 2_000 }, (_, index) => asked(index));
    const { entriesBehind } = await recordOf(...entries);
    const reads = vi.spyOn(Buffer.prototype, 'toString');
    const page = entriesBehind(after);
    const looks = reads.mock.calls.filter(([encoding]) => encoding === 'latin1').length;
    reads.mockRestore();
    expect(page.map(({ sequence }) => sequence)).toEqual(
      entries
        .map((_, index) => (index + 1) * 3)
        .filter((sequence) => sequence > after)
        .slice(0, archiveLimits.entriesOfPage),
    );
    expect(looks - page.length).toBeLessThanOrEqual(Math.ceil(Math.log2(2_000 * 100)));
  });

  it('has no entry where nothing was said', async () => {
    const { entriesBehind } = await recordOf();
    expect(entriesBehind(0)).toEqual([]);
  });

  it.each([
    [-1, 0],
    [0, 0],
    [1, 1],
  ])('holds 10 MiB of conversation and counts what it leaves out: %i bytes more', async (more, want) => {
    const second = asked(2);
    const empty = JSON.stringify(said('')).length + JSON.stringify(second).length + 2 * around;
    const first = said('a'.repeat(archiveLimits.valuesBytes - empty + more));
    const { entriesBehind, leftOut } = await recordOf(first, second);
    expect(leftOut).toBe(want);
    const sequences = [0, 3].flatMap((after) => entriesBehind(after).map(({ sequence }) => sequence));
    expect(sequences).toEqual([3, 6].slice(0, 2 - want));
  });

  it('leaves out everything behind the first entry that does not fit, so that there is no gap', async () => {
    const { entriesBehind, leftOut } = await recordOf(asked(1), said('a'.repeat(archiveLimits.valuesBytes)), asked(2));
    expect(leftOut).toBe(2);
    expect(entriesBehind(0)).toHaveLength(1);
  });

  it('is not written where the log cannot be read', async () => {
    const away = async (): Promise<never> => Promise.reject(new AppError('unavailable', 'no answer'));
    await expect(writeAgentRecord(ended, away, rest)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('can be read with zcat and jq: each line is JSON', async () => {
    const lines = gunzipSync(await writeAgentRecord(ended, logOf(asked(1)), rest))
      .toString()
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { format: 'windlass.dev/agent-execution-record/1', execution: { kind: 'AgentExecution' } },
      [3, { kind: 'model_asked' }],
    ]);
  });

  it.each([
    ['no gzip', Buffer.from('text')],
    ['the record of a workflow', gzipSync('{"format":"windlass.dev/execution-record/1"}\n')],
    ['more than any record has', gzipSync(Buffer.alloc(archiveLimits.recordBytes + 1))],
  ])('is refused where it is none: %s', async (_title, body) => {
    await expect(readAgentRecord(body)).rejects.toMatchObject({ reason: 'ArchiveRecordBroken' });
  });
});
