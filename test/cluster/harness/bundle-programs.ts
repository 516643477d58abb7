import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildDir, projectDir } from './project.ts';

const run = promisify(execFile);

/**
 * Bundles the controllers as the image has them, once for a run of the tests. From source a process needs more than a
 * second of processor time until it works, which on a busy machine is longer than tests wait for a replacement.
 */
export async function setup(): Promise<() => Promise<void>> {
  await mkdir(buildDir, { recursive: true });
  const folder = await mkdtemp(join(buildDir, 'programs-'));
  await run(process.execPath, [
    join(projectDir, 'dev', 'build', 'main.ts'),
    folder,
    'controllers',
    'controllers-keeper',
  ]);
  process.env.WINDLASS_TEST_PROGRAMS = folder;
  return () => rm(folder, { recursive: true, force: true });
}
