import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Names that several modules share on purpose. */
const shared: Readonly<Record<string, string>> = {
  CallOptions: 'client/ is a package of its own',
  Problem: 'client/ is a package of its own',
  Transport: 'client/ is a package of its own',
  TransportOptions: 'client/ is a package of its own',
  createTransport: 'client/ is a package of its own',
  Condition: 'the same object: of our kinds, and of any kind',
  ObjectMeta: 'the same object: of our kinds, and of any kind',
  Secret: 'an object of Kubernetes, and a value that nothing prints',
  JsonObject: 'the same type',
  Services: 'of one process each',
  createServices: 'of one process each',
  Informers: 'of one process each',
  openApiDocument: 'of one process each',
};

/** Modules of one form: each folder of routes has a `createReadRoute`, and each backend of the CLI the same parts. */
const isOfOneForm = (path: string): boolean => /\/routes\/|^cli\/backends\/(http|kubernetes)\//.test(path);

const pattern =
  /^export (?:(?:type|interface|(?:abstract )?class) (\w+)|(?:async )?function ((?:create|open|start)[A-Z]\w*))/gm;

function filesOf(): string[] {
  const listed = execFileSync('git', ['ls-files', '*.ts'], { cwd: root, encoding: 'utf8' }).split('\n');
  return listed.filter((path) => path !== '' && !/(^|\/)(generated|test|testing|examples)\/|\.test\.ts$/.test(path));
}

/** The modules of each exported type and factory. */
function modulesByName(): ReadonlyMap<string, ReadonlySet<string>> {
  const modules = new Map<string, Set<string>>();
  for (const path of filesOf().filter((file) => !isOfOneForm(file))) {
    for (const [, type, factory] of readFileSync(resolve(root, path), 'utf8').matchAll(pattern)) {
      const name = type ?? factory ?? '';
      modules.set(name, (modules.get(name) ?? new Set()).add(path));
    }
  }
  return modules;
}

it('an exported type or factory has its name alone', () => {
  const modules = modulesByName();
  expect(modules.size).toBeGreaterThan(1_000);
  const twice = [...modules].filter(([name, paths]) => paths.size > 1 && !(name in shared));
  expect(twice.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)).toEqual([]);
});

/** Functions that three modules or more export under one name, because they do the same for their own kind. */
const sameWork: Readonly<Record<string, string>> = {
  endFact: 'the domain event of the end of an object, of each kind that has one',
  statusWith: 'the next status of an object, of each kind that a pod works for',
  endedStatus: 'the status of an object that has ended, of the same kinds',
};

it('an exported function has its name with at most one other, unless they do the same', () => {
  const modules = new Map<string, Set<string>>();
  for (const path of filesOf().filter((file) => !isOfOneForm(file) && !/^(client|cli)\//.test(file))) {
    const declared = /^export (?:async )?(?:function|const) ([a-z]\w*)(?=[<(]| = (?:async )?[(<])/gm;
    for (const [, name = ''] of readFileSync(resolve(root, path), 'utf8').matchAll(declared)) {
      modules.set(name, (modules.get(name) ?? new Set()).add(path));
    }
  }
  const often = [...modules].filter(([name, paths]) => paths.size > 2 && !(name in sameWork));
  expect(often.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)).toEqual([]);
});

it('each name that is shared on purpose is still shared', () => {
  const modules = modulesByName();
  expect(Object.keys(shared).filter((name) => (modules.get(name)?.size ?? 0) < 2)).toEqual([]);
});
