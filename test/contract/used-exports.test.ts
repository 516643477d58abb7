import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const files = execFileSync('git', ['ls-files', '*.ts'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
const texts = new Map(files.map((path) => [path, readFileSync(resolve(root, path), 'utf8')]));

/**
 * crds/ and client/ are read by users of the packages. Vitest calls the setup of the cluster tests, and the generator of
 * messages holds the text of a module.
 */
const isJudged = (path: string): boolean =>
  !/(^|\/)generated\/|\.test\.ts$|^(client|crds|examples)\//.test(path) &&
  !['test/cluster/harness/bundle-programs.ts', 'dev/generate/proto-files.ts'].includes(path);

const namesIn = (list: string): string[] =>
  list.split(',').flatMap((each) => /^(?:type )?(\w+)/.exec(each.trim())?.[1] ?? []);

/** The names that other modules take from each module; `*`: all of them. */
function takenNames(): ReadonlyMap<string, ReadonlySet<string>> {
  const taken = new Map<string, Set<string>>();
  const take = (from: string, target: string, names: readonly string[]): void => {
    const path = join(dirname(from), target);
    taken.set(path, new Set([...(taken.get(path) ?? []), ...names]));
  };
  for (const [path, text] of texts) {
    for (const [, list, target = ''] of text.matchAll(
      /\b(?:import|export) (?:type )?(?:\{([^}]*)\}|\*[^']*?) from '(\.[^']+)'/g,
    )) {
      take(path, target, list === undefined ? ['*'] : namesIn(list));
    }
    for (const [, target = ''] of text.matchAll(/\bimport\(\s*'(\.[^']+)'/g)) take(path, target, ['*']);
  }
  return taken;
}

const declared = /^export (?:abstract )?(?:async )?(?:type|interface|class|function\*?|const) (\w+)/gm;
const handedOn = /^export (?:type )?\{([^}]*)\} from/gm;

const exportsOf = (text: string): string[] => [
  ...[...text.matchAll(declared)].map(([, name = '']) => name),
  ...[...text.matchAll(handedOn)].flatMap(([, list = '']) => namesIn(list)),
];

it('another module takes each export', () => {
  const taken = takenNames();
  const unused = [...texts]
    .filter(([path]) => isJudged(path))
    .flatMap(([path, text]) => {
      const names = taken.get(path);
      if (names?.has('*')) return [];
      return exportsOf(text)
        .filter((name) => names?.has(name) !== true)
        .map((name) => `${path}: ${name}`);
    });
  expect(taken.size).toBeGreaterThan(1_000);
  expect(unused).toEqual([]);
});
