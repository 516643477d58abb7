import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const filesMax = 45;
const helpersMax = 9;

/** A row of a walk in docs/architecture.md. `word`: what a file that is not imported has in common with row `from`. */
interface Row {
  readonly number: number;
  readonly text: string;
  readonly path: string;
  readonly from: number | undefined;
  readonly word: string | undefined;
}

const pattern = /^\| (\d+) \| \[([^\]]+)\]\(\.\.\/([^)]+)\) \| (?:-|(\d+)(?: `([^`]+)`)?) \| \S.* \|$/gm;

function walkOf(page: string): readonly Row[] {
  return [...page.matchAll(pattern)].map(([, number = '', text = '', path = '', from, word]) => ({
    number: Number(number),
    text,
    path,
    from: from === undefined ? undefined : Number(from),
    word,
  }));
}

const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');

/** The files that a module names in imports and in exports from elsewhere, as paths from the root. */
const named = (path: string): string[] =>
  [...read(path).matchAll(/\bfrom '(\.[^']+)'/g)].map(([, target = '']) =>
    relative(root, resolve(root, dirname(path), target)),
  );

/** Imports of a module: directly, or through the `index.ts` of a folder. */
const imports = (path: string): ReadonlySet<string> =>
  new Set(named(path).flatMap((file) => (file.endsWith('/index.ts') ? [file, ...named(file)] : [file])));

const isReached = (before: string, path: string, word: string | undefined): boolean =>
  word === undefined ? imports(before).has(path) : read(before).includes(word) && read(path).includes(word);

/** Each `index.ts` through which alone a row reaches the next: a reader opens it as well. */
function passedIndexes(rows: readonly Row[]): readonly string[] {
  const found = rows.flatMap(({ path, from, word }) => {
    const before = rows[(from ?? 0) - 1]?.path;
    if (before === undefined || word !== undefined || named(before).includes(path)) return [];
    return named(before).filter((file) => file.endsWith('/index.ts') && named(file).includes(path));
  });
  return [...new Set(found)].filter((file) => !rows.some(({ path }) => path === file));
}

const page = read('docs/architecture.md');
/** The part of the page under a heading. */
const section = (heading: string): string => page.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';

/** Rows of the walk itself, and those of its helpers behind it, which have the same form. */
function walkAndHelpers(heading: string): readonly [rows: readonly Row[], helpers: readonly Row[]] {
  const [walk = '', helpers = ''] = section(heading).split(/^### Helpers .*$/m);
  return [walkOf(walk), walkOf(helpers)];
}

const walks: readonly [heading: string, passed: readonly (readonly [what: string, path: string])[]][] = [
  [
    'One ContainerRun, from manifest to `final_output`',
    [
      ['a manifest', 'crds/schema/workflow.ts'],
      ['the one place that changes a status', 'controllers/execution/engine/reduce.ts'],
      ['the first process of a step', 'runner/main.go'],
      ['the final output', 'controllers/execution/engine/finish.ts'],
    ],
  ],
  [
    'One signed call, from the envelope to the audit',
    [
      ['the proof of the envelope', 'lib/envelope/prove-envelope.ts'],
      ['the order of a call', 'gateway/lane/invoke.ts'],
      ['the chain of the audit', 'lib/audit-chain/tenant-chain.ts'],
      ['the request to the upstream', 'lib/upstream/create-upstream.ts'],
    ],
  ],
  [
    'One conversation of an agent, from its execution to the outcome',
    [
      ['the reconcile of the execution', 'controllers/agent-execution/reconcile.ts'],
      ['the loop of the conversation', 'api/agents/conversation/conversation.ts'],
      ['the pure decision', 'lib/conversation/next.ts'],
      ['the process in the pod', 'runner/agent/run.go'],
      ['the outcome', 'api/agents/drivers/outcome.ts'],
    ],
  ],
  [
    'One command over a fleet, from the request to its outcome',
    [
      ['the plan of a run', 'lib/fleet/plan.ts'],
      ['the relay', 'relay/orders.ts'],
      ['the journal of the host', 'edge/journal/journal.ts'],
      ['the status of the run', 'controllers/fleet-run/status.ts'],
    ],
  ],
];

describe.each(walks)('the walk of docs/architecture.md: %s', (heading, passed) => {
  const [main, helpers] = walkAndHelpers(heading);
  const rows = [...main, ...helpers];

  it('is numbered from 1 on, has each file once, and is short enough to be read', () => {
    expect(main.length).toBeGreaterThan(20);
    expect(main.length + passedIndexes(rows).length).toBeLessThanOrEqual(filesMax);
    expect(helpers.length).toBeLessThanOrEqual(helpersMax);
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
    expect(new Set(rows.map(({ path }) => path)).size).toBe(rows.length);
  });

  it.each(rows)('row $number: $path exists, and the link says its path', ({ text, path }) => {
    expect(text).toBe(path);
    expect(existsSync(resolve(root, path))).toBe(true);
  });

  it('begins with the first row alone', () => {
    expect(rows.filter(({ from }) => from === undefined).map(({ number }) => number)).toEqual([1]);
  });

  it.each(rows.slice(1))('row $number: $path is reached from row $from', ({ number, path, from = 0, word }) => {
    expect(from).toBeLessThan(number);
    expect(isReached(rows[from - 1]?.path ?? '', path, word)).toBe(true);
  });

  it.each(passed)('passes %s', (_name, path) => {
    expect(rows.map((row) => row.path)).toContain(path);
  });
});

it('one ContainerRun: no file of the engine or of step pods that four rows import is left out', () => {
  const [main, helpers] = walkAndHelpers('One ContainerRun').map((part) => part.map(({ path }) => path));
  const importers = new Map<string, number>();
  for (const file of (main ?? []).flatMap((path) => [...new Set(named(path))])) {
    importers.set(file, (importers.get(file) ?? 0) + 1);
  }
  const met = [...importers].filter(
    ([file, rowsOf]) => rowsOf >= 4 && /^controllers\/(execution|step-pods)\//.test(file),
  );
  expect(met.length).toBeGreaterThanOrEqual(5);
  expect(met.map(([file]) => file).filter((file) => ![main, helpers].flat().includes(file))).toEqual([]);
});

describe('the tables of folders', () => {
  const kinds = named('controllers/modules.ts').flatMap(
    (path) => /^(?:  kind:|const kind =) '(\w+)'/m.exec(read(path))?.[1] ?? [],
  );

  it('docs/architecture.md has the folder of each kind that the controllers reconcile', () => {
    const cells = page.split('\n').flatMap((line) => /^\| `controllers\/[^`]+` \| ([^|]+) \|/.exec(line)?.[1] ?? []);
    const listed = cells.flatMap((cell) => cell.trim().split(', '));
    expect(kinds.length).toBeGreaterThanOrEqual(11);
    expect(kinds.filter((kind) => !listed.includes(kind))).toEqual([]);
  });

  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const ours = folders.map(({ name }) => name).filter((name) => existsSync(resolve(root, name, 'main.ts')));

  it.each([...ours, 'lib', 'crds', 'runner', 'proto', 'test'])('CONTRIBUTING.md has the folder %s', (name) => {
    expect(read('CONTRIBUTING.md')).toMatch(new RegExp(`^\\| \`${name}/\``, 'm'));
  });
});
