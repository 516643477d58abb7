import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withChartCopies } from './chart-files.ts';

const project = resolve(import.meta.dirname, '../..');

describe('the copies of generated files in the chart', () => {
  it('are added to what is generated, by kind of file', () => {
    const files = new Map([
      ['crds/generated/a.yaml', 'A'],
      ['crds/generated/admission/b.yaml', 'B'],
      ['crds/generated/c.json', 'C'],
      ['docs/reference/d.md', 'D'],
    ]);
    expect([...withChartCopies(files)]).toEqual([
      ...files,
      ['charts/windlass/generated/crds/a.yaml', 'A'],
      ['charts/windlass/generated/admission/b.yaml', 'B'],
    ]);
  });

  it('are the ones in the repository, and no other', () => {
    const folder = join(project, 'crds/generated');
    const source = new Map(
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.yaml'))
        .map((path) => [`crds/generated/${path}`, readFileSync(join(folder, path), 'utf8')]),
    );
    const want = [...withChartCopies(source)].filter(([path]) => !source.has(path));
    const copied = join(project, 'charts/windlass/generated');
    const have = readdirSync(copied, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.yaml'))
      .map((path) => [`charts/windlass/generated/${path}`, readFileSync(join(copied, path), 'utf8')]);
    expect(Object.fromEntries(have)).toEqual(Object.fromEntries(want));
  });
});
