import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');

/** A folder, and the beginnings of paths that it may import beside itself. A part of the folder may import more. */
interface Row {
  readonly folder: string;
  readonly allowed: readonly string[];
  readonly part?: { readonly folder: string; readonly allowed: readonly string[] };
}

/** Each folder may read the version of Windlass. */
const version = 'package.json';

const foldersIn = (text: string): string[] =>
  [...text.matchAll(/`([\w/-]+(?:\/|\.ts))`/g)].map(([, folder = '']) => folder);

/** A cell such as `crds/`; `lib/edge/` also `proto/`. */
function rowOf(folder: string, cell: string): Row {
  const [base = '', more] = cell.split(';');
  const [part = '', ...also] = foldersIn(more ?? '');
  if (more === undefined) return { folder, allowed: foldersIn(base) };
  const name = part.startsWith(folder) ? part : folder + part;
  return { folder, allowed: foldersIn(base), part: { folder: name, allowed: also } };
}

const rows = [...read('CONTRIBUTING.md').matchAll(/^\| `([\w-]+\/)` \|.*\| ([^|]+) \|$/gm)]
  .filter(([, , cell = '']) => /nothing of ours|`/.test(cell))
  .map(([, folder = '', cell = '']) => rowOf(folder, cell));

const listed = (...paths: string[]): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...paths], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));

const imported = (path: string): string[] =>
  [...read(path).matchAll(/\bfrom '(\.[^']+)'|\bimport\('(\.[^']+)'\)/g)].map(([, from, dynamic]) =>
    relative(root, resolve(root, dirname(path), from ?? dynamic ?? '')),
  );

describe('the table of folders in CONTRIBUTING.md', () => {
  it('has a row with imports for each folder of TypeScript but those that may import everything', () => {
    const folders = new Set(listed().flatMap((path) => (path.includes('/') ? [`${path.split('/')[0]}/`] : [])));
    const free = ['dev/', 'test/', 'examples/', '.ci/'];
    expect([...folders].filter((folder) => !free.includes(folder)).toSorted()).toEqual(
      rows.map(({ folder }) => folder).toSorted(),
    );
  });

  it.each(rows)('holds for $folder', ({ folder, allowed, part }) => {
    const files = listed(folder);
    const wrong = files.flatMap((path) => {
      const more = part !== undefined && path.startsWith(part.folder) ? part.allowed : [];
      const may = [folder, ...allowed, ...more, version];
      return imported(path)
        .filter((target) => !may.some((beginning) => target.startsWith(beginning)))
        .map((target) => `${path} imports ${target}`);
    });
    expect(files.length).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  });
});

it('the linter knows the folder of each kind, so that no kind imports more of another than its informers', () => {
  const kinds = imported('controllers/modules.ts').map((path) => dirname(path).split('/')[1]);
  const folders = [...new Set(kinds)].filter((folder) => !['step-pods', 'runtime'].includes(folder ?? ''));
  expect(folders.length).toBeGreaterThan(8);
  expect(folders.filter((folder) => !read('.oxlintrc.json').includes(`"../${folder}/**",`))).toEqual([]);
});

describe.each(['controllers/fleet-run/', 'controllers/agent-execution/'])('the table of folders of %s', (kind) => {
  const [, after = ''] = read('docs/architecture.md').split(`### Folders of \`${kind}\``);
  const [section = ''] = after.split(/^#/m);
  const table = [...section.matchAll(/^\| `([\w-]+\/)` \|[^|]*\| ([^|]+) \|$/gm)].map(([, folder = '', cell = '']) => ({
    folder,
    allowed: foldersIn(cell),
  }));
  const foldersOf = (path: string): readonly string[] => /^([\w-]+\/)/.exec(path.slice(kind.length))?.slice(1) ?? [];

  it('has each of them', () => {
    const folders = new Set(listed(kind).flatMap(foldersOf));
    expect(table.map(({ folder }) => folder).toSorted()).toEqual([...folders].toSorted());
    expect(folders.size).toBeGreaterThanOrEqual(3);
  });

  it.each(table)('holds for $folder', ({ folder, allowed }) => {
    const wrong = listed(kind + folder).flatMap((path) =>
      imported(path)
        .filter((target) => target.startsWith(kind))
        .filter((target) => foldersOf(target).some((other) => other !== folder && !allowed.includes(other)))
        .map((target) => `${path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });
});
