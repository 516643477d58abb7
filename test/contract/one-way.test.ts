import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const folders = ['api', 'cli', 'controllers', 'edge', 'gateway', 'lib', 'relay'];
const texts = execFileSync('git', ['ls-files', ...folders], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path.endsWith('.ts') && !/(^|\/)generated\/|\.test\.ts$/.test(path))
  .map((path) => ({ path, code: withoutComments(readFileSync(resolve(root, path), 'utf8')) }));

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

const filesWith = (pattern: RegExp): string[] =>
  texts.flatMap(({ path, code }) => (pattern.test(code) ? [path] : [])).toSorted();

it.each([
  ['ids come from lib/ids.ts', /\brandomUUID\b/, ['lib/ids.ts']],
  ['time limits come from the clock, and are let go with the work', /\bAbortSignal\.timeout\b/, []],
])('%s', (_, pattern, want) => {
  expect(filesWith(pattern)).toEqual(want);
});
