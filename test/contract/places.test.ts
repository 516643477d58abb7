import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { modules } from '../../controllers/modules.ts';
import { kinds } from '../../crds/kinds.ts';
import * as resources from '../../lib/kinds.ts';
import { cachedTable } from '../../lib/memory-budget/index.ts';
import { defaultQuota } from '../../lib/tenant/tenant-manifests.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const page = read('docs/architecture.md');

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}

/** The roles, without the labels that the template includes; each by the name of the template of its name. */
const roles = parseAllDocuments(
  read('charts/windlass/templates/cluster/roles.yaml')
    .replaceAll(/\{\{ include "([^"]+)" \. \}\}/g, '$1')
    .replaceAll(/^.*\{\{-.*$/gm, ''),
).map((document) => document.toJS() as Role);

/** Verbs that a role has on a resource. */
function verbsOf(name: string, resource: string): readonly string[] {
  const role = roles.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === name);
  return (role?.rules ?? []).filter((rule) => rule.resources.includes(resource)).flatMap(({ verbs }) => verbs);
}

const reading = ['get', 'list', 'watch'];
const writing = [...reading, 'create', 'update', 'patch', 'delete'];
/** Rights of operators, where they are other than all. */
const operatorsMay: Readonly<Record<string, readonly string[]>> = {
  EdgeHost: reading,
  EdgeGroup: reading,
  FleetRun: reading,
  ToolCall: [...reading, 'delete'],
};

const watched = new Set(modules.flatMap(({ informers }) => Object.values(informers).map(({ kind }) => kind)));
/** Each module writes the status of its own kind. */
const reconciled = new Set(modules.map(({ kind }) => kind));

function lacking(role: string, resource: string, wanted: readonly string[]): string[] {
  const verbs = verbsOf(role, resource);
  return wanted.filter((verb) => !verbs.includes(verb)).map((verb) => `${role}: ${verb} ${resource}`);
}

type Kind = (typeof kinds)[number];

function rightsWithout({ kind, plural }: Kind): string[] {
  const wanted = operatorsMay[kind] ?? writing;
  const tooMuch = verbsOf('windlass.operator', plural).filter((verb) => !wanted.includes(verb));
  return [
    ...(watched.has(kind) ? lacking('windlass.controllers', plural, reading) : []),
    ...(reconciled.has(kind) ? lacking('windlass.controllers', `${plural}/status`, ['patch']) : []),
    ...lacking('windlass.viewer', plural, reading),
    ...lacking('windlass.operator', plural, wanted),
    ...tooMuch.map((verb) => `windlass.operator: ${verb} ${plural} is too much`),
  ];
}

function placesWithout({ kind, plural }: Kind): string[] {
  const quota = `count/${plural}.windlass.dev`;
  const places: Readonly<Record<string, boolean>> = {
    'lib/kinds.ts': Object.values(resources).some((resource) => resource.kind === kind && resource.plural === plural),
    'defaultQuota of lib/tenant/tenant-manifests.ts': Object.hasOwn(defaultQuota, quota),
    'docs/concepts.md': read('docs/concepts.md').includes(`| \`${kind}\` |`),
    'docs/gitops.md': read('docs/gitops.md').includes(`\`${kind}\``),
    'the quota of docs/operating.md': read('docs/operating.md').includes(`\n${quota}: `),
    'lib/memory-budget/cached.ts': !watched.has(kind) || Object.hasOwn(cachedTable, kind),
  };
  return Object.keys(places).filter((place) => places[place] !== true);
}

/** docs/architecture.md names these places of a new kind. */
it.each(kinds.map((definition) => [definition.kind, definition] as const))(
  'the kind %s has each of its places',
  (_kind, definition) => {
    expect([...placesWithout(definition), ...rightsWithout(definition)]).toEqual([]);
  },
);

it('each list of reasons has a section of the reference', () => {
  const lists = [...read('crds/conditions.ts').matchAll(/^export const (\w+Reasons) =/gm)].map(([, name]) => name);
  expect(lists.length).toBeGreaterThan(10);
  expect(lists.filter((name) => !read('dev/generate/reference-pages.ts').includes(`reasonTable(${name})`))).toEqual([]);
});

it('a module reconciles a kind that it watches', () => {
  expect([...reconciled].filter((kind) => !watched.has(kind))).toEqual([]);
});

describe('the page of the architecture', () => {
  it.each(readdirSync(join(root, 'lib/tools/catalogue')).filter((file) => file.endsWith('-tools.ts')))(
    'says which tools have their rows in %s',
    (file) => {
      const said = page.split('\n').find((line) => line.startsWith('| ') && line.endsWith(` | \`${file}\` |`)) ?? '';
      const names = [...said.matchAll(/`((?:\w+\.)+\*|svc\.\w+)`/g)].map(([, name = '']) => name);
      const isSaid = (tool: string) =>
        names.some((name) => (name.endsWith('*') ? tool.startsWith(name.slice(0, -1)) : tool === name));
      const tools = [...read(`lib/tools/catalogue/${file}`).matchAll(/^    name: '([^']+)',$/gm)].map(
        ([, name = '']) => name,
      );
      expect(tools.length).toBeGreaterThan(5);
      expect(tools.filter((tool) => !isSaid(tool))).toEqual([]);
    },
  );

  it('names each folder of lib/, and none beside them', () => {
    const start = page.indexOf('## Folders of `lib/`');
    const table = page.slice(start, page.indexOf('\n## ', start + 1));
    const rows = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Noun'));
    const named = rows.flatMap((row) => [...row.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name));
    const folders = readdirSync(join(root, 'lib'), { withFileTypes: true }).filter((entry) => entry.isDirectory());

    expect(new Set(named)).toEqual(new Set(folders.map(({ name }) => name)));
  });
});
