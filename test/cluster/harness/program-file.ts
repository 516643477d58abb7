import { join } from 'node:path';
import { programs } from '../../../dev/build/programs.ts';
import { projectDir } from './project.ts';

/**
 * Path of a program of the project, as bundled for this run of the tests (bundle-programs.ts); its source where there is
 * no such run, as in a benchmark.
 */
export function programFile(name: keyof typeof programs): string {
  const folder = process.env.WINDLASS_TEST_PROGRAMS;
  return folder === undefined ? join(projectDir, programs[name]) : join(folder, `${name}.js`);
}
