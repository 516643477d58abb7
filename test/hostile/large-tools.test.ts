import { describe, expect, it } from 'vitest';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import type { GatewayTool } from '../../gateway/tools/tool-source.ts';
import { listTools } from '../../gateway/mcp/list-tools.ts';
import { createSchemaReader, schemaReads } from '../../gateway/tools/schema-reader.ts';
import { createToolRegistry } from '../../gateway/tools/tool-registry.ts';
import { withSchema } from '../../gateway/tools/whole-schema.ts';
import { createWorkflowSource, type WorkflowSourceDeps } from '../../gateway/tools/workflow-source.ts';
import { partlyKept } from '../../lib/api-spec/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { heapBytes } from '../../lib/heap-bytes.ts';
import { readPage } from '../../lib/http/read-page.ts';
import { createWholeObjects } from '../../lib/informer/index.ts';
import { registeredSchemaBytes } from '../../lib/json-schema/large-schema.ts';
import { sealSession } from '../support/seal-session.ts';

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
    objects: { byIndex: () => slims },
    former: { has: () => false, isCurrent: true },
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
    for (const { input_schema: schema } of items) expect(schema).toEqual(largeSchema);
  });

  it('leaves out a tool that is gone', async () => {
    const last = [...source.list('acme')].at(-1);
    workflows.pop();
    expect(last && (await withSchema(last))).toBeUndefined();
  });
});

describe('lists of 80 large tools, which caches have no room for in full', () => {
  /** 20 KB of JSON, 150 KB of heap. */
  const schema = {
    type: 'object' as const,
    default: Array.from({ length: 1_400 }, (_, at) => ({ [`key${at}`]: 0 })),
  };
  const session = sealSession('a');

  /** The tools of one tenant, as the gateway has them, and the requests for them. */
  function world() {
    const stored = new Map(Array.from({ length: 80 }, (_, at) => [`w${at}`, aWorkflow(`w${at}`, schema)]));
    const requests = { made: 0, underWay: 0, most: 0 };
    const kube = {
      async get(_: unknown, { name }: { readonly name: string }) {
        requests.made += 1;
        requests.underWay += 1;
        requests.most = Math.max(requests.most, requests.underWay);
        await systemClock.sleep(1);
        requests.underWay -= 1;
        return stored.get(name);
      },
    };
    const wholes = createWholeObjects({ ...partlyKept.ToolWorkflow, kube: kube as never, clock: systemClock });
    const slims = [...stored.values()].map((workflow) => wholes.slim(workflow));
    const source = createWorkflowSource({
      clock: systemClock,
      tenancy: { visibleTo: () => ['a'] },
      objects: { byIndex: () => slims },
      former: { has: () => false, isCurrent: true },
      whole: async (workflow: ToolWorkflow) => wholes.read(workflow),
    } as unknown as WorkflowSourceDeps);
    const deps = { registry: createToolRegistry([source]), securityOf: () => ({}) };
    const listed = async (): Promise<number> => {
      let tools = 0;
      let cursor: string | undefined;
      do {
        const page = await listTools(deps, session, cursor);
        tools += page.tools.length;
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return tools;
    };
    return { requests, listed };
  }

  it('ask for each once, however often and by how many they are listed', async () => {
    const { requests, listed } = world();
    expect(await listed()).toBe(80);
    const first = requests.made;
    expect(first).toBeLessThanOrEqual(80);
    expect(await Promise.all(Array.from({ length: 3 }, listed))).toEqual([80, 80, 80]);
    expect(requests.made).toBe(first);
  });

  it('that begin at the same time share their requests', async () => {
    const { requests, listed } = world();
    await Promise.all(Array.from({ length: 3 }, listed));
    expect(requests.made).toBeLessThanOrEqual(80);
  });

  it('ask for a version anew, and for few at one time', async () => {
    const schemas = createSchemaReader(systemClock);
    const reads = { made: 0, underWay: 0, most: 0 };
    const read = async () => {
      reads.made += 1;
      reads.underWay += 1;
      reads.most = Math.max(reads.most, reads.underWay);
      await systemClock.sleep(1);
      reads.underWay -= 1;
      return schema;
    };
    const of = (name: string, resourceVersion = '1') => {
      const { metadata, ...rest } = aWorkflow(name);
      return { ...rest, metadata: { ...metadata, resourceVersion } };
    };
    const all = Array.from({ length: 50 }, async (_, at) => schemas.schemaOf(of(`w${at}`), read));
    expect((await Promise.all(all)).every((found) => found?.['type'] === 'object')).toBe(true);
    expect(reads.most).toBeLessThanOrEqual(schemaReads.size);
    await schemas.schemaOf(of('w0'), read);
    expect(reads.made).toBe(50);
    await schemas.schemaOf(of('w0', '2'), read);
    expect(reads.made).toBe(51);
    await expect(schemas.schemaOf(of('gone'), async () => undefined)).resolves.toBeUndefined();
    await expect(schemas.schemaOf(of('away'), () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await schemas.schemaOf(of('away'), read)).toEqual(schema);
  });
});
