import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** design §2: what every step pays for; design §12: what it may be with `agent` and `fs`, in packages of one job each. */
const linesBelow = { '*.go': 1_000, '{agent,fsop}/*.go': 2_000 } as const;

it.each(Object.entries(linesBelow))(
  'the files %s of the runner stay below %i lines, their tests apart',
  (glob, below) => {
    const folder = join(import.meta.dirname, '../../runner');
    const files = globSync(glob, { cwd: folder }).filter((name) => !name.endsWith('_test.go'));
    const lines = files.map((name) => readFileSync(join(folder, name), 'utf8').split('\n').length - 1);
    expect(files.length).toBeGreaterThan(0);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThan(below);
  },
);
