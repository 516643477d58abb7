import { describe, expect, it } from 'vitest';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import type { GatewayTool } from '../../gateway/tools/tool-source.ts';
import { readPage, withSchema } from '../../gateway/tools/whole-schema.ts';
import { createWorkflowSource, type WorkflowSourceDeps } from '../../gateway/tools/workflow-source.ts';
import { partlyKept } from '../../lib/api-spec/index.ts';
import { heapBytes } from '../../lib/heap-bytes.ts';
import { registeredSchemaBytes } from '../../lib/json-schema/large-schema.ts';

const apiVersion = 'windlass.dev/v1';
const wide = 'ā';
const enough = 1e9;

/** A schema of almost 512 KiB of heap, the most that is taken. */
const largeSchema = {
  type: 'object' as const,
  default: Array.from({ length: 3_800 }, (_, at) => ({ [`key${at}`]: 0 })),
};

const aWorkflow = (name: string, input_schema: object = largeSchema): ToolWorkflow =>
  ({
    apiVersion,
    kind: 'ToolWorkflow',
    metadata: { name, namespace: 'a', uid: name, resourceVersion: '1' },
    spec: {
      description: 'd',
      input_schema,
      api_spec: 's',
      steps: Array.from({ length: 64 }, (_, at) => ({
        name: `s${at}`.padEnd(63, 'x'),
        operation_id: `${at}${wide.repeat(250)}`,
        body_template: '{}',
        on_error: 'AbortWorkflow',
      })),
    },
  }) as ToolWorkflow;

const aTool = (name: string, more: object = {}): CliTool =>
  ({
    apiVersion,
    kind: 'CliTool',
    metadata: { name, namespace: 'a', uid: name, resourceVersion: '1' },
    spec: { description: 'd', input_schema: { type: 'object' }, image: 'busybox', command: ['true'], ...more },
  }) as CliTool;

describe('the attacker may fill the quota of one namespace', () => {
  it('with 1,000 ToolWorkflows of the largest schema and 64 steps, of which a cache keeps less than 2 MB', () => {
    const workflow = aWorkflow('w');
    expect(heapBytes(workflow.spec.input_schema, enough)).toBeGreaterThan(registeredSchemaBytes * 0.9);
    expect(heapBytes(workflow.spec.input_schema, enough)).toBeLessThan(registeredSchemaBytes);
    const slim = partlyKept.ToolWorkflow.slim(workflow);
    const { steps, ...rest } = slim.spec;
    // One object takes the place of all steps.
    expect(new Set(steps).size).toBe(1);
    expect(steps).toHaveLength(64);
    expect(heapBytes({ ...slim, spec: rest }, enough)).toBeLessThan(2_000);
    expect(partlyKept.ToolWorkflow.isWhole(slim)).toBe(false);
    expect(partlyKept.ToolWorkflow.isWhole(workflow)).toBe(true);
  });

  it.each<[string, object]>([
    ['files', { files: Array.from({ length: 8 }, (_, at) => ({ path: `f${at}`, content: wide.repeat(65_536) })) }],
    ['variables', { env: { A: wide.repeat(65_536) } }],
    ['a stdin', { stdin: 'x'.repeat(65_536) }],
    ['a command', { command: Array.from({ length: 100 }, () => 'x'.repeat(10_000)) }],
    ['a folder', { workdir: '/x'.repeat(10_000) }],
    ['a schema', { input_schema: largeSchema }],
  ])('with 200 CliTools of large %s, of which a cache keeps less than 400 KB', (_, fields) => {
    const tool = aTool('t', fields);
    const slim = partlyKept.CliTool.slim(tool);
    expect(heapBytes(slim, enough)).toBeLessThan(2_000);
    expect([partlyKept.CliTool.isWhole(slim), partlyKept.CliTool.isWhole(tool)]).toEqual([false, true]);
  });

  it('and small tools stay in caches, so that nothing is read for them', () => {
    expect(partlyKept.CliTool.slim(aTool('t')).spec).toEqual(aTool('t').spec);
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect(partlyKept.ToolWorkflow.slim(aWorkflow('w', schema)).spec.input_schema).toEqual(schema);
  });
});

describe('a list of large tools', () => {
  const workflows = Array.from({ length: 40 }, (_, at) => aWorkflow(`w${at}`));
  const read: string[] = [];
  const source = createWorkflowSource({
    tenancy: { visibleTo: () => ['a'] },
    workflows: { byIndex: () => slims },
    former: { has: () => false },
    whole: async ({ metadata: { name } }: ToolWorkflow) => {
      read.push(name);
      return workflows.find(({ metadata }) => metadata.name === name);
    },
  } as unknown as WorkflowSourceDeps);
  const slims = workflows.map(partlyKept.ToolWorkflow.slim);

  it('reads the schemas of its page alone, and ends the page early', async () => {
    read.length = 0;
    const tools = [...source.list('acme')];
    expect(tools).toHaveLength(40);
    expect(read).toEqual([]);
    const { items, cutAfter } = await readPage<GatewayTool, GatewayTool>(tools, withSchema);
    expect(items.length).toBeGreaterThan(10);
    expect(items.length).toBeLessThan(20);
    expect(read).toHaveLength(items.length);
    expect(cutAfter?.name).toBe(items.at(-1)?.name);
    expect(items.every(({ input_schema: schema }) => schema === largeSchema)).toBe(true);
  });

  it('leaves out a tool that is gone', async () => {
    const [first] = source.list('acme');
    workflows.shift();
    expect(first && (await withSchema(first))).toBeUndefined();
  });
});
