import { heapBytes } from '../heap-bytes.ts';

/** Bytes of heap of the values that one page reads: a page of the largest ones has a dozen of them. */
export const pageBytes = 8 * 1024 * 1024;

interface ReadPage<Row, Read> {
  readonly items: readonly Read[];
  /** The last row that the page has; undefined where it has all. */
  readonly cutAfter: Row | undefined;
}

/** Reads the rows of a page one after another. The page ends early where they take much; it has at least one. */
export async function readPage<Row, Read>(
  rows: readonly Row[],
  read: (row: Row) => Promise<Read | undefined>,
): Promise<ReadPage<Row, Read>> {
  const items: Read[] = [];
  let left = pageBytes;
  for (const [index, row] of rows.entries()) {
    const item = await read(row);
    if (item === undefined) continue;
    items.push(item);
    left -= heapBytes(item, pageBytes);
    if (left <= 0 && index < rows.length - 1) return { items, cutAfter: row };
  }
  return { items, cutAfter: undefined };
}
