import { describe, expect, it } from 'vitest';
import type { NodeRecord } from './node-record.ts';
import { openRecordsPage, pageStart, readOpenRecords } from './open-records.ts';
import { AppError } from '../errors.ts';

const recordOf = (index: number, tailBytes = 10): NodeRecord => ({
  node_id: `n${index}`,
  command_id: `c${index}`,
  outcome: 'ok',
  exit_code: 0,
  duration_ms: 1,
  stdout_tail: 'x'.repeat(tailBytes),
  stderr_tail: '',
});
const namesOf = (records: readonly NodeRecord[]) => records.map(({ node_id: id }) => id);
const size = (record: NodeRecord) => Buffer.byteLength(JSON.stringify(record));

describe('a page of outcomes in memory', () => {
  const records = [recordOf(10), recordOf(11), recordOf(12)];

  it.each([
    { from: 0, want: ['n10', 'n11', 'n12'] },
    { from: 9, want: ['n10', 'n11', 'n12'] },
    { from: 10, want: ['n10', 'n11', 'n12'] },
    { from: 11, want: ['n11', 'n12'] },
    { from: 13, want: [] },
  ])('EDGE-RES-29 from place $from on leaves out what is stored: $want', ({ from, want }) => {
    const page = openRecordsPage(records, 10, from);
    expect([namesOf(page.records), page.next]).toEqual([want, undefined]);
  });

  it.each([
    { over: 0, want: 2, next: undefined },
    { over: 1, want: 1, next: 1 },
  ])('has at most 400 KiB: with $over bytes more $want of two', ({ over, want, next }) => {
    const small = recordOf(1, 0);
    const first = recordOf(0, 400 * 1024 - size(recordOf(0, 0)) - size(small) + over);
    const page = openRecordsPage([first, small], 0, 0);
    expect([page.records.length, page.next]).toEqual([want, next]);
  });

  it('has a record that is larger than a page alone', () => {
    const page = openRecordsPage([recordOf(0, 500 * 1024), recordOf(1)], 0, 0);
    expect([page.records.length, page.next]).toEqual([1, 1]);
  });
});

describe('reading the outcomes in memory', () => {
  const ask = (answer: (body: Uint8Array) => unknown) =>
    readOpenRecords({ request: async (_address, body) => Buffer.from(JSON.stringify(answer(Buffer.from(body)))) }, 'r');

  it('is read page by page', async () => {
    const all = Array.from({ length: 300 }, (_, index) => recordOf(index, 4_096));
    expect(namesOf(await ask((body) => openRecordsPage(all, 0, pageStart(body))))).toEqual(namesOf(all));
  });

  it('ends where a process gives pages without end', async () => {
    expect(await ask(() => ({ records: [recordOf(1)], next: 0 }))).toHaveLength(32);
  });

  it.each([
    ['no process drives the run', new AppError('unavailable', 'no responders', { reason: 'NoResponders' })],
    ['the bus does not answer', new AppError('timeout', 'late')],
  ])('finds none where %s', async (_what, error) => {
    expect(await readOpenRecords({ request: () => Promise.reject(error) }, 'r')).toEqual([]);
  });
});
