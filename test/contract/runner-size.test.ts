import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** design §2. */
const linesBelow = 1_000;

it('the runner stays below a thousand lines, its tests apart', () => {
  const folder = join(import.meta.dirname, '../../runner');
  const files = readdirSync(folder).filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'));
  const lines = files.map((name) => readFileSync(join(folder, name), 'utf8').split('\n').length - 1);
  expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThan(linesBelow);
});
