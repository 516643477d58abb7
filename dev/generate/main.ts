import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { withChartCopies } from '../build/chart-files.ts';
import { generatedFiles } from './files.ts';
import { protoFiles } from './proto-files.ts';

/** Writes every generated file of the repository. */
const root = resolve(import.meta.dirname, '../..');
for (const [path, text] of [...withChartCopies(generatedFiles()), ...protoFiles()]) {
  const file = resolve(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
