import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import process from 'node:process';
import { withChartCopies } from '../build/chart-files.ts';
import { generatedFiles } from './files.ts';
import { protoBreaks } from './proto-breaks.ts';
import { protoFiles } from './proto-files.ts';

/**
 * Writes every generated file of the repository.
 * usage: npm run generate [-- --breaking]     --breaking: the .proto files may break clients of before
 */
const root = resolve(import.meta.dirname, '../..');
const breaks = process.argv.includes('--breaking') ? '' : protoBreaks(resolve(root, 'proto'));
if (breaks !== '') {
  process.stderr.write(
    `the .proto files break clients of before; add fields instead, or generate with -- --breaking:\n${breaks}`,
  );
  process.exit(1);
}
for (const [path, text] of [...withChartCopies(generatedFiles()), ...protoFiles()]) {
  const file = resolve(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
