import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { sharedReasons } from '../../lib/errors.ts';

const root = resolve(import.meta.dirname, '../..');
const folders = ['api', 'cli', 'controllers', 'edge', 'gateway', 'lib', 'relay'];
const listed = execFileSync('git', ['ls-files', ...folders.map((folder) => `${folder}/*.ts`)], {
  cwd: root,
  encoding: 'utf8',
});
const paths = listed.split('\n').filter((path) => path !== '' && !/\.test\.ts$|\/generated\//.test(path));
const texts = new Map(paths.map((path) => [path, readFileSync(resolve(root, path), 'utf8')]));

it.each(sharedReasons)('a file throws the reason %s that another one reads', (reason) => {
  const withoutReaders = [...texts]
    .filter(([path]) => path !== 'lib/errors.ts')
    .map(([path, text]) => [path, text.replaceAll(/hasReason\([^)]*\)/g, '')] as const);
  expect(withoutReaders.filter(([, text]) => text.includes(`'${reason}'`)).map(([path]) => path)).not.toEqual([]);
});

it('no file compares the reason of an error with a text of its own', () => {
  expect(texts.size).toBeGreaterThan(1_000);
  const compares = /instanceof AppError\)? (&&|\|\|) \(?[\w.]+\.reason [!=]== '/;
  expect([...texts].filter(([, text]) => compares.test(text)).map(([path]) => path)).toEqual([]);
});
