import { describe, expect, it } from 'vitest';
import { countCalls } from '../../test/support/count-calls.ts';
import { type ReadWorkflow, readWorkflows } from './read-workflows.ts';
import { manifestBytes } from './yaml-document.ts';

const manifest = `apiVersion: windlass.dev/v1
kind: Workflow
metadata:
  name: small
  version: 1.0.0
spec:
  initial_state: a
  states:
    a:
      kind: System
      command: finalize
      transitions: []
`;
const resource = `apiVersion: windlass.dev/v1
kind: Workflow
metadata:
  name: small
  namespace: team
spec:
  version: 1.0.0
  initial_state: a
  states: {a: {kind: System, command: finalize, transitions: []}}
`;
const manyNotes = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`note-${index}`, '']));
const ourNotes = { 'windlass.dev/force': 'true', 'kubectl.kubernetes.io/last-applied-configuration': '' };
const first = (text: string): ReadWorkflow => {
  const [read] = readWorkflows(text);
  if (read === undefined) throw new Error('the text holds no document');
  return read;
};
const problemsOf = (text: string): string[] =>
  first(text).problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);

describe('both forms are read', () => {
  it('WF-MAN-01 a manifest', () => {
    expect(first(manifest)).toMatchObject({ form: 'manifest', problems: [], workflow: { spec: { version: '1.0.0' } } });
  });

  it('AMB-060 a custom resource', () => {
    const { form, problems, workflow } = first(resource);
    expect([form, problems, workflow?.metadata.namespace]).toEqual(['resource', [], 'team']);
  });

  it('JSON is read as well', () => {
    const { workflow } = first(resource);
    expect(first(JSON.stringify(workflow)).workflow).toEqual(workflow);
  });

  it('several documents, empty ones left out', () => {
    expect(readWorkflows(`---\n${manifest}---\n---\n# nothing\n---\n${resource}`).map(({ form }) => form)).toEqual([
      'manifest',
      'resource',
    ]);
    expect(readWorkflows('')).toEqual([]);
  });
});

describe('problems have path, line and column', () => {
  const cases: Record<string, { text: string; want: unknown[] }> = {
    'WF-MAN-16 of a manifest': {
      text: manifest.replace('initial_state: a', 'initial_state: b'),
      want: ["7:3 spec.initial_state: 'b' is not a key of states"],
    },
    'AMB-060 a mistyped state': {
      text: manifest.replace('initial_state: a', 'initial_state: A'),
      want: ["7:3 spec.initial_state: 'A' is not a key of states; did you mean a?"],
    },
    'WF-MAN-05 under metadata, where the manifest has it': {
      text: manifest.replace('version: 1.0.0', 'version: one'),
      want: ['5:3 metadata.version: must be a semantic version, as 1.0.0'],
    },
    'AMB-058 a missing field at the part that should hold it': {
      text: manifest.replace('  version: 1.0.0\n', ''),
      want: ['3:1 metadata.version: is required in the manifest form; in the custom resource form it is spec.version'],
    },
    'WF-MAN-04 a name in upper case': {
      text: manifest.replace('name: small', 'name: Small'),
      want: ['4:3 metadata.name: must have up to 63 lower-case letters, digits or dashes, no dash first'],
    },
    'WF-MAN-15 a scope': {
      text: manifest.replace('version: 1.0.0', 'version: 1.0.0\n  scope: global'),
      want: ['6:3 metadata.scope: unknown field'],
    },
    'WF-MAN-02 another apiVersion': {
      text: manifest.replace('dev/v1', 'dev/v2'),
      want: ['1:1 apiVersion: must be windlass.dev/v1'],
    },
    'WF-MAN-03 another kind': {
      text: manifest.replace('kind: Workflow', 'kind: Job'),
      want: ['2:1 kind: must be Workflow'],
    },
    'WF-STATE-01 of a state in flow style': {
      text: resource.replace('kind: System', 'kind: system'),
      want: [
        '9:16 spec.states.a.kind: must be one of Agent, System, Human, ParallelAgents, ContainerRun, ParallelContainerRun, Subworkflow; did you mean System?',
      ],
    },
    'WF-MAN-16 a target beside another mistake of its state': {
      text: resource.replace('transitions: []', 'transitions: [{ condition: on_sucess, target: aa }, { target: a }]'),
      want: [
        expect.stringMatching(/^9:\d+ spec\.states\.a\.transitions\[0\]\.condition: .*; did you mean on_success\?$/),
        expect.stringMatching(/^9:\d+ spec\.states\.a\.transitions\[0\]\.target: 'aa' is not a key of states/),
      ],
    },
    'AMB-178 a label of the custom resource that Kubernetes refuses': {
      text: resource.replace('namespace: team', 'labels: {team: "a b"}'),
      want: ['5:12 metadata.labels.team: must be empty or up to 63 letters, digits, -, _ or .'],
    },
    'AMB-178 more annotations of the custom resource than the API server takes': {
      text: resource.replace('namespace: team', `annotations: ${JSON.stringify({ ...manyNotes(201), ...ourNotes })}`),
      want: ['5:3 metadata.annotations: must have at most 200 entries beside those of Windlass, not 201'],
    },
    'WF-MAN-08 an annotation with a number': {
      text: manifest.replace('version: 1.0.0', 'version: 1.0.0\n  annotations: {a: 1}'),
      want: ['6:17 metadata.annotations.a: must be a string, not the number 1'],
    },
    'AMB-060 a version in both places': {
      text: manifest.replace('initial_state: a', 'version: 1.0.0\n  initial_state: a'),
      want: ['7:3 spec.version: unknown field; in the manifest form it is metadata.version'],
    },
    'AMB-060 an unknown field of the custom resource': {
      text: resource.replace('namespace: team', 'scope: team'),
      want: ['5:3 metadata.scope: unknown field'],
    },
    'a template': {
      text: manifest.replace('command: finalize', 'command: "{{#if a}}"'),
      want: [
        expect.stringContaining('9:5 spec.states.a: is terminal and can fail'),
        '11:7 spec.states.a.command: unexpected end of the template; is a block not closed? (line 1, column 10 of the template)',
      ],
    },
  };
  it.each(Object.entries(cases))('%s', (_name, { text, want }) => {
    expect(problemsOf(text)).toEqual(want);
    expect(first(text).workflow).toBeUndefined();
  });

  it.each([199, 200])('AMB-178 %i annotations of the custom resource and those of Windlass are taken', (count) => {
    const annotations = JSON.stringify({ ...manyNotes(count), ...ourNotes });
    expect(problemsOf(resource.replace('namespace: team', `annotations: ${annotations}`))).toEqual([]);
  });

  it('a warning keeps no workflow back', () => {
    const { problems, workflow } = first(`${manifest}    b: {kind: System, command: finalize, transitions: []}\n`);
    expect(problems.map(({ severity, line, rule }) => [severity, line, rule])).toEqual([
      ['warning', 13, 'unreachable_state'],
    ]);
    expect(workflow).toBeDefined();
  });
});

describe('what YAML can do and a definition must not', () => {
  const bomb = [
    'a: &a [x, x, x, x, x, x, x, x, x, x]',
    'b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]',
    'c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]',
    'd: [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]',
  ];
  const cases: Record<string, { text: string; line: number; says: string }> = {
    'a duplicate key': { text: 'a: 1\nb: 2\na: 3', line: 3, says: "the key 'a' is a duplicate" },
    'a number and a text that are one key': { text: '1: a\n"1": b', line: 2, says: "the key '1' is a duplicate" },
    'a tag': { text: 'a: 1\nb: !!js/function x', line: 2, says: 'tags are not allowed' },
    'binary data': { text: 'a: !!binary aGk=', line: 1, says: 'tags are not allowed' },
    'a list as a key': { text: '? [a]\n: b', line: 1, says: 'a key must be a plain value' },
    'a number that is none': { text: 'a:\n  b: .nan', line: 2, says: 'JSON cannot hold this number' },
    'a number too large to be exact': { text: 'a: 9007199254740993', line: 1, says: 'JSON cannot hold this number' },
    'a merge key': { text: 'a: &a {b: 1}\nc: {<<: *a}', line: 2, says: 'no merge keys' },
    'a bomb of aliases': { text: bomb.join('\n'), line: 1, says: 'alias' },
    'WF-API-01 an alias of its own container': {
      text: 'a: 1\nb: &b\n  c: [*b]',
      line: 3,
      says: 'an alias must not name',
    },
    'WF-API-01 an alias of the whole text': { text: '&a\nb: *a', line: 2, says: 'an alias must not name' },
    'WF-API-01 lists in lists without end': { text: '['.repeat(30_000), line: 1, says: 'is nested too deeply' },
    'a syntax error': { text: 'a: [1, 2\nb: 3', line: 2, says: '' },
    'a tab': { text: 'a:\n\tb: 1', line: 2, says: '' },
  };
  it.each(Object.entries(cases))('%s is refused at its place', (_name, { text, line, says }) => {
    const { problems, workflow } = first(text);
    expect(workflow).toBeUndefined();
    expect(problems[0]?.line).toBe(line);
    expect(problems[0]?.message).toContain(says);
  });

  it('an alias is a copy, and no is a word', () => {
    const text = manifest.replace('spec:', 'spec:\n  context: {a: &a {answer: no}, b: *a}');
    expect(first(text).workflow?.spec.context).toEqual({ a: { answer: 'no' }, b: { answer: 'no' } });
  });

  it('an alias of an earlier part may be in a part of the same name', () => {
    const text = manifest.replace('spec:', 'spec:\n  context: {a: &a {b: &a 1, c: *a}}');
    expect(first(text).workflow?.spec.context).toEqual({ a: { b: 1, c: 1 } });
  });

  it('a key __proto__ changes no prototype', () => {
    const text = manifest.replace('spec:', 'spec:\n  context: {__proto__: {polluted: true}}');
    expect(problemsOf(text)).toEqual(['7:13 spec.context.__proto__: the key is reserved']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each([
    [manifestBytes - 1, 0],
    [manifestBytes, 0],
    [manifestBytes + 1, 1],
  ])('a text of %i bytes has %i problems', (bytes, count) => {
    const text = `${manifest}#${'x'.repeat(bytes - manifest.length - 1)}`;
    expect(first(text).problems).toHaveLength(count);
  });

  it.each<[string, (size: number) => string]>([
    ['keys', (size) => `{${Array.from({ length: 11 * size }, (_, index) => `k${index}: v`).join(', ')}}`],
    ['items', (size) => `[${'1,'.repeat(40 * size)}]`],
    ['syntax errors', (size) => '! '.repeat(45 * size)],
    ['opening brackets', (size) => '['.repeat(90 * size)],
    ['duplicate keys', (size) => 'a: 1\n'.repeat(12 * size)],
  ])('a text that is nothing but %s is refused with work that grows with its length', async (_title, textOf) => {
    const calls = (size: number): Promise<number> =>
      countCalls(() => expect(first(textOf(size)).problems.length).toBeGreaterThan(0));
    // Comparing every key with every other took minutes.
    expect((await calls(200)) / (await calls(50))).toBeLessThan(6);
  });

  it('a text with more parts than any workflow has is refused before it is taken apart', () => {
    const [document, ...others] = readWorkflows('- a\n'.repeat(100_000));
    expect(others).toEqual([]);
    expect(document?.problems).toMatchObject([{ path: '', rule: 'too_large' }]);
  });

  it.each(['just text', '[1, 2]', 'null', '42', '{}', 'metadata: 1\nspec: []'])('%s is no workflow', (text) => {
    for (const { workflow, problems } of readWorkflows(text)) {
      expect(workflow).toBeUndefined();
      expect(problems.length).toBeGreaterThan(0);
    }
  });
});

describe('plain words that kubectl reads as booleans', () => {
  const text = (version: string) => `apiVersion: windlass.dev/v1
kind: Workflow
metadata: { name: demo${version === '' ? ', version: 1.0.0' : ''} }
spec:
${version}  initial_state: a
  context: { n: 1, "y": 2, list: [one, Off, "no", nO], isOn: true }
  states:
    a: { kind: System, command: finalize, transitions: [] }
`;
  const warnings = (source: string) =>
    readWorkflows(source).flatMap(({ problems }) =>
      problems.map(({ line, column, path, message, severity }) => `${severity} ${line}:${column} ${path}: ${message}`),
    );

  it('have a warning in a custom resource, as a value and as a name', () => {
    const why = (word: string): string =>
      `kubectl reads the plain word ${word} as a boolean; write "${word}" in quotes`;
    expect(warnings(text('  version: 1.0.0\n'))).toEqual([
      `warning 7:14 spec.context.n: ${why('n')}`,
      `warning 7:40 spec.context.list[1]: ${why('Off')}`,
    ]);
  });

  it('are texts in the manifest form, which kubectl does not take', () => {
    expect(warnings(text(''))).toEqual([]);
  });
});
