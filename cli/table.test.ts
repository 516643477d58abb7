import { describe, expect, it } from 'vitest';
import { type Column, tableLines } from './table.ts';

interface Row {
  readonly name: string;
  readonly age?: number;
}

const columns: Column<Row>[] = [
  { heading: 'NAME', cell: (row) => row.name },
  { heading: 'AGE', cell: (row) => row.age },
  { heading: 'UID', cell: () => 'u', wide: true },
];

describe('a table', () => {
  it('lines columns up, shows what is absent, and ends no line with blanks', () => {
    expect(tableLines(columns, [{ name: 'a', age: 10 }, { name: '日本語' }])).toEqual([
      'NAME     AGE',
      'a        10',
      '日本語   <none>',
    ]);
  });

  it('shows wide columns only when asked', () => {
    expect(tableLines(columns, [{ name: 'a', age: 1 }], true)).toEqual(['NAME   AGE   UID', 'a      1     u']);
  });

  it('a value of others cannot move the cursor', () => {
    expect(tableLines(columns, [{ name: '\u001b[31m', age: 0 }])[1]).toBe('�[31m   0');
  });
});
