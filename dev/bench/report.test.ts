import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDir } from '../../test/cluster/harness/project.ts';
import type { Bar, Program, Sample } from './program.ts';
import { programs } from './programs/all.ts';
import { type BenchEntry, entryOf, tableLine, tableLines, withTable } from './report.ts';

const program = (bar: Bar): Program => ({
  name: 'chain',
  title: 'Chain',
  unit: 's',
  bar,
  measure: () => Promise.reject(new Error('not measured in this test')),
});

const samples = (...pairs: [number, number?][]): Sample[] => pairs.map(([ours, baseline]) => ({ ours, baseline }));

describe('entryOf', () => {
  it('takes the median of the ratios of single runs, not the ratio of the medians', () => {
    const row = { program: program({ of: 'ratio', atMost: 0.45 }), samples: samples([4, 10], [6, 30], [9, 20]) };
    expect(entryOf(row, 'now')).toMatchObject({ ours: 6, baseline: 20, ratio: 0.4, met: true });
  });

  it.each([
    { bar: { of: 'ratio', atMost: 0.5 } as const, want: true },
    { bar: { of: 'ratio', atMost: 0.49 } as const, want: false },
    { bar: { of: 'ours', atLeast: 5 } as const, want: true },
    { bar: { of: 'ours', atLeast: 5.1 } as const, want: false },
  ])('a bar of $bar is met: $want', ({ bar, want }) => {
    expect(entryOf({ program: program(bar), samples: samples([5, 10]) }, 'now').met).toBe(want);
  });

  it('a ratio bar without a baseline is not met', () => {
    expect(entryOf({ program: program({ of: 'ratio', atMost: 1 }), samples: samples([1]) }, 'now')).toMatchObject({
      baseline: null,
      ratio: null,
      met: false,
    });
  });
});

describe('tableLine', () => {
  it('shows the spread of the ratios where there are any', () => {
    const row = { program: program({ of: 'ratio', atMost: 0.45 }), samples: samples([4, 10], [6, 30], [9, 20]) };
    expect(tableLine(row.program, entryOf(row, 'now'))).toBe(
      '| Chain | 6 s | 20 s | 0.4 | 0.2 to 0.45 | ratio ≤ 0.45 | yes |',
    );
  });
});

describe('the table of the page', () => {
  it('has a line for each program that make bench runs, in its order, with a stored run or without', async () => {
    const page = await readFile(join(projectDir, 'docs', 'benchmarks.md'), 'utf8');
    const entries = JSON.parse(await readFile(join(projectDir, 'docs', 'benchmarks.json'), 'utf8')) as BenchEntry[];
    const lines = tableLines(programs, entries);
    expect(lines).toHaveLength(programs.length);
    expect(page).toContain(`\n${lines.join('\n')}\n`);
  });

  it('says of a row without a stored run that it has none', () => {
    const [line] = tableLines([program({ of: 'ratio', atMost: 3 })], []);
    expect(line).toBe('| Chain | no stored run |  |  |  | ratio ≤ 3 |  |');
  });
});

describe('withTable', () => {
  it('replaces the text between the marks and nothing else', () => {
    const once = withTable('# Page\n\nBefore.\n', ['| a |']);
    const twice = withTable(`${once}\nAfter.\n`, ['| b |']);
    expect(twice).toContain('Before.');
    expect(twice).toContain('After.');
    expect(twice).toContain('| b |');
    expect(twice).not.toContain('| a |');
  });
});
