import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's root folder. */
export const projectDir = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Where tests leave logs and other files; not under version control. */
export const buildDir = join(projectDir, '.build', 'test');
