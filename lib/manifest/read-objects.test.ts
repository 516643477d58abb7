import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kinds } from '../../crds/kinds.ts';
import { readObjects } from './read-objects.ts';

const found = (text: string): string[] =>
  readObjects(text).flatMap(({ problems }) =>
    problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`),
  );

const head = (kind: string, name = 'demo'): string =>
  `apiVersion: windlass.dev/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;

const openApi = (operation: string): string =>
  JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Orders', version: '1' },
    servers: [{ url: 'https://orders.example' }],
    paths: { '/orders': { get: { operationId: operation, responses: {} } } },
  });

const step = (template: string): string =>
  `  - { name: one, operation_id: list, body_template: '${template}', on_error: Continue }\n`;
const chain = (template: string, more = ''): string =>
  `${head('ToolWorkflow')}spec:\n  description: d\n  api_spec: orders\n${more}` +
  `  input_schema: { type: object }\n  steps:\n${step(template)}`;
const command = (argument: string, more = ''): string =>
  `${head('CliTool')}spec:\n  description: d\n  image: busybox:1.37\n${more}` +
  `  command: [echo, '${argument}']\n  input_schema: { type: object, properties: { word: { type: string } } }\n`;

describe('objects of any kind in a text', () => {
  it('the examples have no problem', () => {
    const folder = join(import.meta.dirname, '../../examples');
    const files = globSync('**/*.yaml', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'));
    const objects = files.flatMap((text) => readObjects(text)).filter(({ isForeign }) => isForeign === undefined);
    const errors = objects.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error'));
    expect(errors).toEqual([]);
    const kindsOfExamples = ['Agent', 'ApiSpec', 'GitBinding', 'SecurityContext', 'StimulusRouter', 'Workflow'];
    expect([...new Set(objects.map(({ kind }) => kind))]).toEqual(expect.arrayContaining(kindsOfExamples));
  });

  it.each(kinds.map(({ kind }) => kind))('a %s with an unknown field is refused at the field', (kind) => {
    expect(found(`${head(kind)}spec:\n  nonsense: 1\n`)).toContainEqual(
      expect.stringMatching(/^5:3 spec\.nonsense: unknown field/),
    );
  });

  it.each<[string, string, string[]]>([
    ['a group without hosts', `${head('EdgeGroup')}spec: { name: web, selector: { os: 5 } }\n`, ['spec.selector.os']],
    ['a document that cannot be read', `${head('ApiSpec')}spec:\n  document: '{}'\n`, ['spec.document.openapi']],
    [
      'a header of the connection',
      `${head('ApiSpec')}spec:\n  document: '${openApi('list')}'\n  credentials: { kind: static_header, header: Host, secret: { name: orders } }\n`,
      ['spec.credentials.header'],
    ],
    ['a body template', chain('{{#if}}'), ['spec.steps[0].body_template']],
    ['a name of a built-in tool', chain('{}', '  name: fs.read\n'), ['spec.name']],
    ['a template of a command', command('{{#each}}'), ['spec.command[1]']],
    ['a name of a built-in CLI tool', command('x', '  name: svc.x\n'), ['spec.name']],
    [
      'a name with capitals',
      head('StimulusRouter', 'Main').concat('spec: { routes: { push: w } }\n'),
      ['metadata.name'],
    ],
    [
      'a label',
      `${head('EdgeGroup').replace(' }', ', labels: { a: "b c" } }')}spec: { name: w }\n`,
      ['metadata.labels.a'],
    ],
  ])('%s is refused with its place', (_title, text, paths) => {
    const places = readObjects(text).flatMap(({ problems }) => problems.map(({ path }) => path));
    expect(places.map((path) => paths.find((one) => path.startsWith(one)))).toEqual(paths);
  });

  it.each<[string, string]>([
    ['an API spec', `${head('ApiSpec')}spec:\n  document: '${openApi('list')}'\n`],
    ['a tool workflow', chain('{}')],
    ['a CLI tool', command('{{input.word}}')],
    ['a router with points in its name', head('StimulusRouter', 'main.git').concat('spec: { routes: { push: w } }\n')],
  ])('%s that is right has no problem', (_title, text) => {
    expect(found(text)).toEqual([]);
  });

  it('an API spec without an operation that a step can name has a warning at its document', () => {
    const text = `${head('ApiSpec')}spec:\n  document: '{"openapi":"3.1.0","info":{"title":"None","version":"1"},"paths":{}}'\n`;
    const [problem] = readObjects(text).flatMap(({ problems }) => problems);
    expect(problem).toMatchObject({ path: 'spec.document', severity: 'warning', rule: 'no_operation' });
  });

  it.each([
    [58, 0],
    [59, 0],
    [60, 1],
  ])('a binding may have a name of 59 characters: %i', (length, problems) => {
    const name = 'a'.repeat(length);
    expect(found(`${head('GitBinding', name)}spec: { repo_url: "https://git.example/a.git" }\n`)).toHaveLength(
      problems,
    );
  });

  it('a kind that is mistyped, or missing, is named', () => {
    expect(found(`${head('Edgegroup')}spec: {}\n`)).toEqual([
      '2:1 kind: is no kind of windlass.dev; did you mean EdgeGroup?',
    ]);
    expect(found('apiVersion: windlass.dev/v1\n')).toEqual(['1:1 kind: is required']);
  });

  it.each([
    ['another kind', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\n'],
    ['a kind of that name of another group', 'apiVersion: argoproj.io/v1alpha1\nkind: Workflow\n'],
    ['values of a chart', 'replicas: 2\n'],
    ['a list', '[1, 2]\n'],
  ])('%s is not looked at', (_title, text) => {
    expect(readObjects(text)).toMatchObject([{ isForeign: true, problems: [] }]);
  });

  it('a kind of ours without an API version has that as its problem', () => {
    expect(found('kind: EdgeGroup\nmetadata: { name: w }\nspec: { name: w, selector: {} }\n')).toEqual([
      '1:1 apiVersion: must be windlass.dev/v1',
    ]);
  });

  it('words that kubectl reads as booleans get a warning', () => {
    const text = `${head('EdgeGroup')}spec: { name: no, pinned_members: [a] }\n`;
    expect(readObjects(text)[0]?.problems).toMatchObject([{ rule: 'plain_word', severity: 'warning' }]);
  });
});
