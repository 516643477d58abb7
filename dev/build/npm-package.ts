/**
 * Makes the npm package: the command line as one bundle, and the client as plain modules with their types. It depends
 * on nothing, so that users of the client do not install the dependencies of the other processes.
 * usage: node dev/build/npm-package.ts [FOLDER] (default dist/npm; then: npm pack FOLDER)
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { bundle } from './bundle.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = resolve(process.argv[2] ?? join(root, 'dist/npm'));
const { name, version, description, license, type, engines } = manifest;

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await bundle({ root, programs: { windlass: 'cli/main.ts' }, out: join(folder, 'bin') });
// How the command calls itself follows from the name of its file.
copyFileSync(join(folder, 'bin/windlass.js'), join(folder, 'bin/kubectl-windlass.js'));
for (const program of ['windlass', 'kubectl-windlass']) chmodSync(join(folder, `bin/${program}.js`), 0o755);
execFileSync(
  process.execPath,
  [
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    join(import.meta.dirname, 'client.tsconfig.json'),
    '--outDir',
    join(folder, 'client'),
  ],
  { stdio: 'inherit' },
);
for (const file of ['LICENSE', 'README.md']) copyFileSync(join(root, file), join(folder, file));
writeFileSync(
  join(folder, 'package.json'),
  `${JSON.stringify(
    {
      name,
      version,
      description,
      license,
      type,
      engines,
      bin: { windlass: 'bin/windlass.js', 'kubectl-windlass': 'bin/kubectl-windlass.js' },
      exports: { './client': { types: './client/index.d.ts', default: './client/index.js' } },
      files: ['bin', 'client'],
    },
    undefined,
    2,
  )}\n`,
);
if (!readFileSync(join(folder, 'bin/windlass.js'), 'utf8').startsWith('#!/usr/bin/env node')) {
  throw new Error('the bundle of the command line has lost its first line');
}
