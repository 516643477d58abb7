import { padText, printable, textWidth } from './text-width.ts';

/** One column: its heading and what it shows of a row. `wide` columns appear with `-o wide` only. */
export interface Column<T> {
  readonly heading: string;
  readonly cell: (row: T) => string | number | undefined;
  readonly wide?: boolean;
}

/**
 * Lines of a table in the manner of kubectl: headings in capitals, columns three blanks apart, `<none>` for what is
 * absent, no blanks at the end of a line.
 */
export function tableLines<T>(columns: readonly Column<T>[], rows: readonly T[], wide = false): string[] {
  const shown = columns.filter((column) => wide || column.wide !== true);
  const cells = [
    shown.map((column) => column.heading),
    ...rows.map((row) => shown.map((column) => cellText(column.cell(row)))),
  ];
  const widths = shown.map((_, index) => Math.max(...cells.map((line) => textWidth(line[index] ?? ''))));
  return cells.map((line) =>
    line
      .map((cell, index) => padText(cell, widths[index] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}

function cellText(value: string | number | undefined): string {
  if (value === undefined || value === '') return '<none>';
  return printable(String(value));
}
