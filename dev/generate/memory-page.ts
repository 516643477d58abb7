import {
  bytesOf,
  cachedRows,
  largestHeapBytes,
  type MemoryProcess,
  memoryRows,
  quotaMebibytes,
} from '../../lib/memory-budget/index.ts';
import { cell } from './field-table.ts';

const mebibyte = 1_048_576;

/** Processes with the MiB of heap that the chart's memory limit leaves them (`test/contract/memory-budget.test.ts`). */
const heaps: readonly (readonly [MemoryProcess, number])[] = [
  ['api', 576],
  ['gateway', 576],
  ['controllers', 768],
  ['relay', 768],
];

/** The page of `docs/reference` with the shares of the heap that pools, caches and queues have. */
export function memoryPage(): string {
  const parts = [
    '<!-- Generated from lib/memory-budget by "npm run generate". Change the source there, not this file. -->',
    '# Memory',
    'Every pool, cache and queue that tenants can fill has a part of the heap of its process. All of them together leave a fifth of ' +
      'the heap free, beside what a process needs for itself. The heap is three quarters of the memory limit of the pod; ' +
      `of a heap over ${largestHeapBytes / mebibyte} MiB the parts are those of ${largestHeapBytes / mebibyte} MiB. ` +
      'Tenants share each pool; where it says nothing else, one has four fifths of it at most. MiB are those of the ' +
      'memory limits in the chart.',
    table(),
    'Bodies as they came are bytes beside the heap, in the quarter of the memory limit that the heap does not have. Threads that ' +
      'read manifests, API documents and pages have heaps of their own, two of each kind, which this table does not count.',
    '## Objects',
    'Each process keeps all objects of the kinds that it works with, whole or in part. No pool bounds them, but the quota of each ' +
      'tenant does. The table has the most that the objects of one tenant at its default quota take. Each is as large as its kind permits, ' +
      'with text of which one character takes two bytes. N such tenants take N times as much. Ordinary objects take far less. Where ' +
      'you expect more, give the process a larger memory limit: four thirds of what you add to its heap. Pods and the parts of ' +
      'hosts that relays keep are not counted.',
    cachedObjects(),
  ];
  return `${parts.join('\n\n')}\n`;
}

const table = (): string =>
  [
    `| Holds | Part of the heap | ${heaps.map(([process]) => process).join(' | ')} |`,
    `|---|---|${heaps.map(() => '---').join('|')}|`,
    ...memoryRows.map((row) => {
      const sizes = heaps.map(([process, heap]) => sizeIn(row, process, heap));
      return `| ${cell(row.holds)} | ${Number((row.share * 100).toFixed(1))} % | ${sizes.join(' | ')} |`;
    }),
  ].join('\n');

function sizeIn({ name, pools }: (typeof memoryRows)[number], process: MemoryProcess, heap: number): string {
  const count = pools[process] ?? 0;
  if (count === 0) return '';
  const size = `${(bytesOf(name, heap * mebibyte) / mebibyte).toFixed(1)} MiB`;
  return count === 1 ? size : `${count} × ${size}`;
}

const cachedObjects = (): string =>
  [
    `| Kind | Objects | ${heaps.map(([process]) => process).join(' | ')} |`,
    `|---|---|${heaps.map(() => '---').join('|')}|`,
    ...cachedRows.map((row) => {
      const sizes = heaps.map(([process]) => objectsIn(row, process));
      return `| ${row.kind} | ${row.count.toLocaleString('en')} | ${sizes.join(' | ')} |`;
    }),
    `| all | | ${heaps.map(([process]) => mebibytes(quotaMebibytes(cachedRows, process))).join(' | ')} |`,
  ].join('\n');

function objectsIn(row: (typeof cachedRows)[number], process: MemoryProcess): string {
  const each = row.kibibytes[process];
  return each === undefined ? '' : `${each} KiB each, ${mebibytes(quotaMebibytes([row], process))}`;
}

const mebibytes = (size: number): string => (size === 0 ? '' : `${Math.ceil(size)} MiB`);
