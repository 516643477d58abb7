import { describe, expect, it } from 'vitest';
import { readManifest } from './read-manifest.ts';

const manifest = `apiVersion: windlass.dev/v1
kind: Workflow
metadata: {name: demo, version: 1.0.0}
spec:
  initial_state: a
  states:
    a: {kind: System, command: finalize, transitions: []}
`;
const asJson = JSON.stringify({
  apiVersion: 'windlass.dev/v1',
  kind: 'Workflow',
  metadata: { name: 'demo', version: '1.0.0' },
  spec: { initial_state: 'a', states: { a: { kind: 'System', command: 'finalize', transitions: [] } } },
});

describe('one manifest', () => {
  it.each([
    ['YAML', manifest],
    ['JSON', asJson],
    ['YAML with its markers', `---\n${manifest}...\n`],
    ['YAML behind a comment', `# mine\n---\n${manifest}`],
  ])('WF-API-01 is read as %s', (_title, text) => {
    const { problems, workflow } = readManifest(text);
    expect(problems).toEqual([]);
    expect(workflow).toMatchObject({ metadata: { name: 'demo' }, spec: { version: '1.0.0' } });
  });

  it.each([
    ['nothing', '', 'holds no manifest'],
    ['only a comment', '# nothing', 'holds no manifest'],
    ['two of them', `${manifest}---\n${manifest}`, 'holds 2 documents'],
  ])('WF-API-01 is refused where there is %s', (_title, text, message) => {
    const { problems, workflow } = readManifest(text);
    expect(workflow).toBeUndefined();
    expect(problems).toMatchObject([{ path: '', severity: 'error' }]);
    expect(problems[0]?.message).toContain(message);
  });

  it.each([
    ['a map', '{b: 1}'],
    ['a list', '[b]'],
    ['a number', '7'],
    ['a boolean', 'true'],
    ['null', 'null'],
  ])('AMB-143 is refused where a template is %s', (_title, template) => {
    const text = manifest.replace('version: 1.0.0', `version: 1.0.0, output_template: {a: ${template}}`);
    const { problems, workflow } = readManifest(text);
    expect(workflow).toBeUndefined();
    expect(problems).toMatchObject([{ path: 'metadata.output_template.a', severity: 'error' }]);
    expect(problems[0]?.message).toMatch(/^must be a string, not /);
  });

  it.each([900, 1_300])('is refused where aliases make it deeper than can be written, by %i levels each', (levels) => {
    const lines = Array.from({ length: 6 }, (_, index) => {
      const inner = index === 0 ? '1' : `*a${index - 1}`;
      return `    a${index}: &a${index} ${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
    });
    const head = [
      'apiVersion: windlass.dev/v1',
      'kind: Workflow',
      'metadata: {name: a, version: 1.0.0}',
      'spec:',
      '  context:',
    ];
    const { problems } = readManifest([...head, ...lines].join('\n'));
    expect(problems.map(({ message }) => message)).toContain('is nested too deeply');
  });

  it('is refused where aliases make it larger than an object may be', () => {
    const context = `  context: {a: &a ${'x'.repeat(600_000)}, b: *a}\n`;
    const { problems, workflow } = readManifest(manifest + context);
    expect(workflow).toBeUndefined();
    expect(problems[0]?.message).toMatch(/^has 1200\d{3} bytes as JSON/);
  });
});
