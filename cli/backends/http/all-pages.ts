/** Rows of one page, and where the next one begins. */
interface Page<Row> {
  readonly rows: readonly Row[];
  /** Nothing on the last page. */
  readonly next: string | null | undefined;
}

/** The rows of all pages of a list. */
export async function allPages<Row>(read: (cursor: string | undefined) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    rows.push(...page.rows);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return rows;
}
