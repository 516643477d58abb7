import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readWorkflows } from '../../lib/manifest/index.ts';

const folder = join(import.meta.dirname, '../../examples');
const files = globSync('**/*.yaml', { cwd: folder }).filter((file) =>
  /^kind: Workflow$/m.test(readFileSync(join(folder, file), 'utf8')),
);

describe('the examples', () => {
  it.each(files)('AMB-169 AMB-193 %s has neither problems nor warnings, as validate --strict asks', (file) => {
    const read = readWorkflows(readFileSync(join(folder, file), 'utf8'));
    expect(read.flatMap(({ problems }) => problems.map(({ path, message }) => `${path}: ${message}`))).toEqual([]);
  });

  it('are more than ten', () => expect(files.length).toBeGreaterThan(10));
});
