import { describe, expect, it } from 'vitest';
import { annotations } from '../../crds/labels.ts';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { toAgent, toAgentManifest } from './convert-agent.ts';
import { readAgents, readOneAgent } from './read-agents.ts';
import { writeYaml } from './write-yaml.ts';

const manifest = {
  apiVersion: 'windlass.dev/v1',
  kind: 'Agent',
  metadata: { name: 'reviewer', version: '1.2.0', description: 'Reviews.', labels: { team: 'web' } },
  spec: {
    runtime: { language: 'python', version: '3.12', model: 'smart' },
    task: { instruction: 'Review {{input}}.' },
    tools: ['fs.read', { name: 'cmd.run', config: { subcommand_allowlist: { ls: [] } } }],
    execution: { tool_validation: true, max_iterations: 3 },
    security: { filesystem: { read: ['/data'] } },
  },
};
type Part = Readonly<Record<string, unknown>>;
const changed = (part: Part): string => writeYaml({ ...manifest, ...part });
const withMetadata = (part: Part): string => changed({ metadata: { ...manifest.metadata, ...part } });
const withSpec = (part: Part): string => changed({ spec: { ...manifest.spec, ...part } });
const errorsOf = (text: string): string[] =>
  readOneAgent(text)
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ path }) => path);

describe('the manifest of an agent', () => {
  it('AGENT-07 AGENT-08 AGENT-09 AGENT-10 AGENT-15 AGENT-16 becomes the object, short forms written out', () => {
    expect(readOneAgent(writeYaml(manifest))).toMatchObject({
      form: 'manifest',
      problems: [],
      agent: {
        metadata: { name: 'reviewer', labels: { team: 'web' } },
        spec: {
          version: '1.2.0',
          description: 'Reviews.',
          runtime: manifest.spec.runtime,
          tools: [{ name: 'fs.read' }, { name: 'cmd.run', config: { subcommand_allowlist: { ls: [] } } }],
          execution: { tool_validation: { enabled: true }, max_iterations: 3 },
        },
      },
    });
  });

  it.each([
    [199, []],
    [200, []],
    [201, ['metadata.annotations']],
  ])('takes %i annotations with the problems %j', (count, problems) => {
    const annotations = Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, '']));
    expect(errorsOf(withMetadata({ annotations }))).toEqual(problems);
    expect(errorsOf(withMetadata({ labels: annotations }))).toEqual(problems.map(() => 'metadata.labels'));
  });

  it.each([true, false])('AGENT-16 may say of the judge of tool calls %s alone', (enabled) => {
    const { agent } = readOneAgent(withSpec({ execution: { tool_validation: enabled } }));
    expect(agent?.spec.execution).toEqual({ tool_validation: { enabled } });
  });

  it('comes back from the object', () => {
    const { agent } = readOneAgent(writeYaml(manifest));
    const again = agent && toAgentManifest(agent);
    expect(again).toMatchObject({ metadata: manifest.metadata });
    expect(again && toAgent(again)).toEqual(agent);
  });

  it('AGENT-13 may leave the model out', () => {
    expect(errorsOf(withSpec({ runtime: {} }))).toEqual([]);
    const text = withSpec({ runtime: undefined });
    expect(errorsOf(text)).toEqual([]);
    expect(readOneAgent(text).agent?.spec).not.toHaveProperty('runtime');
  });

  it.each([
    ['AGENT-07', changed({ apiVersion: 'windlass.dev/v2' }), 'apiVersion'],
    ['AGENT-08', changed({ kind: 'Workflow' }), 'kind'],
    ['AGENT-09', withMetadata({ name: 'A b' }), 'metadata.name'],
    ['AGENT-09', withMetadata({ name: undefined }), 'metadata.name'],
    ['AMB-016', withMetadata({ name: '0b9f2c1e-1111-4222-8333-444455556661' }), 'metadata.name'],
    ['AGENT-10', withMetadata({ version: '1' }), 'metadata.version'],
    ['AGENT-10', withMetadata({ version: undefined }), 'metadata.version'],
    ['AGENT-14', withSpec({ task: {} }), 'spec.task.instruction'],
    ['AGENT-15', withSpec({ tools: [7] }), 'spec.tools[0]'],
    ['AGENT-15', withSpec({ tools: ['a', 'a'] }), 'spec.tools[1].name'],
    ['AGENT-16', withSpec({ execution: { tool_validation: 'yes' } }), 'spec.execution.tool_validation'],
    ['unknown field', withSpec({ tool: [] }), 'spec.tool'],
    ['unknown field', changed({ extra: 1 }), 'extra'],
    ['unknown field', withMetadata({ scope: 'tenant' }), 'metadata.scope'],
    ['misplaced field', withSpec({ version: '1.0.0' }), 'spec.version'],
    ['labels', withMetadata({ labels: ['a'] }), 'metadata.labels'],
    [
      'reserved',
      withMetadata({ annotations: { [annotations.name]: 'x' } }),
      `metadata.annotations["${annotations.name}"]`,
    ],
    ['no map', '[]', ''],
    ['two documents', `${writeYaml(manifest)}---\n${writeYaml(manifest)}`, ''],
    ['nothing', '', ''],
  ])('%s is refused at its field: %#', (_id, text, path) => {
    expect(errorsOf(text)).toContain(path);
    expect(readOneAgent(text).agent).toBeUndefined();
  });

  it('has names of 62 and 63 letters, and none of 64', () => {
    const [shorter, longest, longer] = [62, 63, 64].map((length) => withMetadata({ name: 'a'.repeat(length) }));
    expect([shorter, longest, longer].map((text = '') => errorsOf(text))).toEqual([[], [], ['metadata.name']]);
  });

  it('says line and column of a mistake', () => {
    const text =
      'apiVersion: windlass.dev/v1\nkind: Agent\nmetadata: {name: a, version: 1.0.0}\nspec:\n  runtime: {}\n  task: {instruction: ""}\n';
    expect(readOneAgent(text).problems).toMatchObject([{ path: 'spec.task.instruction', line: 6 }]);
  });
});

describe('short forms of an agent', () => {
  const short = { tools: ['fs.read', { name: 'fs.write' }], execution: { tool_validation: false } };
  const warningsOf = (text: string) => readOneAgent(text).problems.map(({ path, message }) => `${path}: ${message}`);

  it('are written out of a custom resource, with a warning that kubectl refuses them', () => {
    const { metadata, ...rest } = manifest;
    const spec = { ...rest.spec, ...short, version: metadata.version };
    const text = writeYaml({ ...rest, metadata: { name: metadata.name }, spec });
    expect(readOneAgent(text).agent?.spec.tools).toEqual([{ name: 'fs.read' }, { name: 'fs.write' }]);
    const refused = 'is a short form, which kubectl refuses in a custom resource; write';
    expect(warningsOf(text).toSorted()).toEqual([
      `spec.execution.tool_validation: ${refused} { enabled: false }`,
      `spec.tools[0]: ${refused} { name: fs.read }`,
    ]);
  });

  it('belong to the manifest form', () => {
    expect(warningsOf(withSpec(short))).toEqual([]);
  });
});

describe('an agent as kubectl shows it', () => {
  const object = { ...anAgent(), status: { revision: 'r' } };

  it('is read without what the cluster wrote beside it', () => {
    const { form, agent, problems } = readOneAgent(writeYaml(object));
    expect([form, problems.map(({ path, severity }) => `${severity} ${path}`)]).toEqual([
      'resource',
      ['warning metadata.namespace'],
    ]);
    expect(agent).toEqual({
      apiVersion: object.apiVersion,
      kind: 'Agent',
      metadata: { name: 'reviewer' },
      spec: object.spec,
    });
  });

  it('is refused with a version in its metadata', () => {
    const { metadata, ...rest } = anAgent();
    const both = { ...rest, metadata: { ...metadata, version: '1.0.0' } };
    expect(errorsOf(writeYaml(both))).toContain('metadata.version');
  });
});

it('a text may hold several agents', () => {
  const text = `${writeYaml(manifest)}---\n${withMetadata({ name: 'other' })}`;
  expect(readAgents(text).map(({ agent }) => agent?.metadata.name)).toEqual(['reviewer', 'other']);
});
