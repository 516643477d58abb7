/** Bundles the programs of the image. usage: node dev/build/main.ts [FOLDER] (default dist) */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundle } from './bundle.ts';
import { programs } from './programs.ts';

const root = resolve(import.meta.dirname, '../..');
const missing = Object.values(programs).filter((entry) => !existsSync(join(root, entry)));
if (missing.length > 0) throw new Error(`nothing to bundle at ${missing.join(', ')}`);

for (const file of await bundle({ root, programs, out: resolve(process.argv[2] ?? join(root, 'dist')) })) {
  console.log(`${file.name} ${Math.ceil(file.bytes / 1024)} KiB`);
}
