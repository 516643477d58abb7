import { bytesOf, largestHeapBytes, type MemoryProcess, memoryRows } from '../../lib/memory-budget/index.ts';
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
    '<!-- Generated from lib/memory-budget/table.ts by "npm run generate". Change the source there, not this file. -->',
    '# Memory',
    'Every pool, cache and queue that tenants can fill has a part of the heap of its process. All of them together leave a fifth of ' +
      'the heap free, beside what a process needs for itself. The heap is three quarters of the memory limit of the pod; ' +
      `of a heap over ${largestHeapBytes / mebibyte} MiB the parts are those of ${largestHeapBytes / mebibyte} MiB. ` +
      'Tenants share each pool; where it says nothing else, one has four fifths of it at most. MiB are those of the ' +
      'memory limits in the chart.',
    table(),
    'Bodies as they came are bytes beside the heap, in the quarter of the memory limit that the heap does not have. Threads that ' +
      'read manifests, API documents and pages have heaps of their own, two of each kind, which this table does not count.',
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
