import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { buildDir, projectDir } from '../../test/cluster/harness/project.ts';

/**
 * Bundles programs as the image has them; answers their folder. Without names it bundles all of them, since they share
 * chunks.
 */
export async function bundle(purpose: string, ...programs: readonly string[]): Promise<string> {
  const folder = join(buildDir, `bench-${purpose}`);
  await promisify(execFile)(process.execPath, [join(projectDir, 'dev/build/main.ts'), folder, ...programs]);
  return folder;
}
