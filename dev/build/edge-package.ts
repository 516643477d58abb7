/**
 * Makes the packages for an edge host: the npm package `windlass-edge`, and one executable with Node inside for the
 * system and the processor of EDGE_NODE. Both hold the thread that turns pages into Markdown; RUNNER, the program of
 * `fs.*`, is put into the npm package and beside the executable.
 * usage: node dev/build/edge-package.ts [FOLDER] (default dist/edge), with RUNNER=FILE and EDGE_NODE=FILE in the environment
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { bundle, bundleWhole } from './bundle.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = resolve(process.argv[2] ?? join(root, 'dist/edge'));
// npm sets NODE to the Node that runs npm itself.
const { RUNNER: runner, EDGE_NODE: node = process.execPath } = process.env;
const worker = { 'markdown-worker': 'lib/tools/web/markdown-worker.ts' };
const { version, license, type, engines } = manifest;

rmSync(folder, { recursive: true, force: true });
await makePackage(join(folder, 'npm'));
await makeExecutable(folder);

async function makePackage(out: string): Promise<void> {
  const bin = join(out, 'bin');
  mkdirSync(bin, { recursive: true });
  await bundle({ root, programs: { 'windlass-edge': 'edge/main.ts', ...worker }, out: bin });
  chmodSync(join(bin, 'windlass-edge.js'), 0o755);
  placeRunner(bin);
  copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
  copyFileSync(join(root, 'docs/edge-daemon.md'), join(out, 'README.md'));
  copyFileSync(join(root, 'edge/packaging/windlass-edge.service'), join(out, 'windlass-edge.service'));
  const description = 'The daemon of a Windlass edge host';
  const facts = { name: 'windlass-edge', version, description, license, type, engines };
  const files = ['bin', 'windlass-edge.service'];
  const content = { ...facts, bin: { 'windlass-edge': 'bin/windlass-edge.js' }, files };
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(content, undefined, 2)}\n`);
}

/** Node's single executable application: the program becomes a section of a copy of Node. */
async function makeExecutable(out: string): Promise<void> {
  const parts = join(out, '.parts');
  await bundleWhole({ root, programs: { 'windlass-edge': 'edge/main.ts' }, out: join(parts, 'main') }, 'cjs');
  await bundleWhole({ root, programs: worker, out: join(parts, 'worker') }, 'esm');
  const config = {
    main: join(parts, 'main/windlass-edge.js'),
    output: join(parts, 'blob'),
    disableExperimentalSEAWarning: true,
    assets: { 'markdown-worker.js': join(parts, 'worker/markdown-worker.js') },
  };
  writeFileSync(join(parts, 'sea.json'), JSON.stringify(config));
  execFileSync(node, ['--experimental-sea-config', join(parts, 'sea.json')], { stdio: 'ignore' });
  const program = join(out, 'windlass-edge');
  copyFileSync(node, program);
  chmodSync(program, 0o755);
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
  const words = [program, 'NODE_SEA_BLOB', join(parts, 'blob'), '--sentinel-fuse', fuse];
  const inject = join(root, 'node_modules/postject/dist/cli.js');
  execFileSync(process.execPath, [inject, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
  rmSync(parts, { recursive: true, force: true });
  placeRunner(out);
}

/** Where the daemon looks for it. */
function placeRunner(beside: string): void {
  if (runner === undefined) return;
  copyFileSync(runner, join(beside, 'windlass-runner'));
  chmodSync(join(beside, 'windlass-runner'), 0o755);
}
