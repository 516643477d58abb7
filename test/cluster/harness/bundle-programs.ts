import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { programs } from '../../../dev/build/programs.ts';
import { buildDir, projectDir } from './project.ts';

const run = promisify(execFile);

/** Programs that tests start, with the threads of each (dev/build/programs.ts). */
const started = [
  'controllers',
  'controllers-keeper',
  'api',
  'manifest-worker',
  'markdown-worker',
  'windlass-edge',
  'windlass',
] as const satisfies readonly (keyof typeof programs)[];

/**
 * Bundles programs as the image has them, once for a run of the tests. From source the API needs four seconds of
 * processor time until it works, and the controllers one; from a bundle less than half. On a busy machine that is longer
 * than tests wait for a replacement.
 */
export async function setup(): Promise<() => Promise<void>> {
  await mkdir(buildDir, { recursive: true });
  const folder = await mkdtemp(join(buildDir, 'programs-'));
  await run(process.execPath, [join(projectDir, 'dev', 'build', 'main.ts'), folder, ...started]);
  process.env.WINDLASS_TEST_PROGRAMS = folder;
  return () => rm(folder, { recursive: true, force: true });
}
