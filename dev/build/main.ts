/** Bundles programs of the image. usage: node dev/build/main.ts [FOLDER [PROGRAM...]] (default: all, into dist) */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { docsScript } from '../../lib/http/docs/docs-script.ts';
import { bundle } from './bundle.ts';
import { programs } from './programs.ts';

const root = resolve(import.meta.dirname, '../..');
const [folder = join(root, 'dist'), ...names] = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(programs, name));
if (unknown.length > 0)
  throw new Error(`no program ${unknown.join(', ')}: there are ${Object.keys(programs).join(', ')}`);
const wanted = Object.fromEntries(
  Object.entries(programs).filter(([name]) => names.length === 0 || names.includes(name)),
);
const missing = Object.values(wanted).filter((entry) => !existsSync(join(root, entry)));
if (missing.length > 0) throw new Error(`nothing to bundle at ${missing.join(', ')}`);

for (const file of await bundle({ root, programs: wanted, out: resolve(folder) })) {
  console.log(`${file.name} ${Math.ceil(file.bytes / 1024)} KiB`);
}
if ('api' in wanted || 'gateway' in wanted) {
  const copy = resolve(folder, docsScript.bundled);
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(join(root, 'node_modules', docsScript.source), copy);
  console.log(docsScript.bundled);
}
