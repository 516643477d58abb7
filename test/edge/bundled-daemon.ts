import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { bundle } from '../../dev/build/bundle.ts';
import { programs } from '../../dev/build/programs.ts';

/**
 * The daemon as it ships: bundled once for a test file, because its start takes a sixth of the processor time that its
 * source takes. Call outside tests; gives its command to tests.
 */
export function bundledDaemon(): () => readonly [node: string, main: string] {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'edge-bundle-'));
    const wanted = { 'windlass-edge': programs['windlass-edge'], 'markdown-worker': programs['markdown-worker'] };
    await bundle({ root: resolve(import.meta.dirname, '../..'), programs: wanted, out: folder });
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return () => [process.execPath, join(folder, 'windlass-edge.js')];
}
