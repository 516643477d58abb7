import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const tops = ['api/routes', 'gateway/routes'];
const files = execFileSync('git', ['ls-files', ...tops], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));
const folders = [...new Set(files.map((path) => dirname(path)))].filter((folder) => !tops.includes(folder));

const filesWith = (pattern: RegExp): string[] =>
  files.filter((path) => pattern.test(readFileSync(resolve(root, path), 'utf8')));

/** The nearest folder, from that of the file up, that has a contract. */
const contractFolder = (path: string): string | undefined => {
  for (let folder = dirname(path); !tops.includes(folder); folder = dirname(folder))
    if (files.includes(`${folder}/contract.ts`)) return folder;
  return undefined;
};

it('each folder of routes has an index.ts, which makes its routes', () => {
  expect(folders.filter((folder) => !files.includes(`${folder}/index.ts`))).toEqual([]);
});

it('contracts are in files contract.ts alone, and contracts.ts lists those of a listener', () => {
  expect(filesWith(/\bdefineContract\(/).filter((path) => basename(path) !== 'contract.ts')).toEqual([]);
  const lists = files.filter((path) => path.endsWith('contracts.ts'));
  expect(lists).toEqual(tops.map((top) => `${top}/contracts.ts`));
});

it('each route is made in the folder of its contract, or below it', () => {
  expect(filesWith(/\bdefineRoute</).filter((path) => contractFolder(path) === undefined)).toEqual([]);
});

it('an operation has a file that its verb names, where it is not in index.ts', () => {
  expect(files.filter((path) => /^(handlers?|routes)\.ts$/.test(basename(path)))).toEqual([]);
});
