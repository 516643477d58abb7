import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { writeStatus } from '../../controllers/runtime/write-status.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { newId } from '../../lib/ids.ts';
import { createCache } from '../../lib/informer/cache.ts';
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  defineResource,
  type KubeClient,
  type KubeObject,
  metadataOf,
} from '../../lib/kube/index.ts';
import { anEnd, anUpdate, aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { World } from '../builders/world.ts';
import { connect } from './harness/cluster.ts';
import { makeTestNamespace, type TestNamespace } from './harness/test-namespace.ts';
import { waitForObject } from './harness/wait.ts';

/** Executions under another group, of which no controllers know. Their schema is that of the chart. */
const group = `answers-${newId().slice(0, 6)}.windlass.test`;
const name = `workflowexecutions.${group}`;
const kind = { group, version: 'v1', plural: 'workflowexecutions', kind: 'WorkflowExecution', namespaced: true };
const executions = defineResource<WorkflowExecution>(kind);
let kube: KubeClient;
let space: TestNamespace;

beforeAll(async () => {
  ({ kube } = await connect());
  space = await makeTestNamespace(kube, 'answers');
  const file = new URL('../../crds/generated/workflowexecutions.yaml', import.meta.url);
  const { spec } = parse(readFileSync(file, 'utf8')) as CustomResourceDefinition & { readonly spec: object };
  const names = { kind: 'WorkflowExecution', plural: 'workflowexecutions', singular: 'workflowexecution' };
  await kube.create(customResourceDefinitions, { metadata: { name }, spec: { ...spec, group, names } });
  await waitForObject(kube, { resource: customResourceDefinitions, name }, (crd) =>
    Boolean(crd.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')),
  );
});

afterAll(async () => {
  await kube.delete(customResourceDefinitions, { name });
  await space?.remove();
  await kube.close();
});

const execution = (called: string, values: WorkflowExecution['spec']['input']): WorkflowExecution => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'WorkflowExecution',
  metadata: { namespace: space.name, name: called },
  spec: { workflow: 'w', input: values },
});

/** Statuses of an execution with values of every kind, one after another, to its end. */
function statuses(): readonly object[] {
  const env = { whole: '{{json input}}', text: '{{input.text}}', nothing: '{{input.nope}}' };
  const workflow = aWorkflow('answers')
    .state('first', anUpdate(env, 'step'))
    .state('step', aScript('true', { next: 'again' }))
    .state('again', anUpdate({ copy: '{{input}}', seen: '{{step.output}}' }, 'end'))
    .state('end', anEnd())
    .build();
  const world = new World(workflow, { spec: { input } }).settle();
  for (const what of world.running()) world.end(what, { stdout: 'said\u0000\ud83d\ude00 "\\ud800"' });
  return world.settle().decisions.map(({ status }) => status);
}

const input = JSON.parse(
  '{"text":"ä😀\\u2028<&>","n":[0,-0,1e21,0.1,9007199254740993,null,true],"o":{"__proto__":{"a":1},"":null,"/~":{}}}',
) as NonNullable<WorkflowExecution['spec']['input']>;

it('a status that was written without its answer is held as the API server stores it, whatever the values', async () => {
  const metadata = { namespace: space.name, name: 'one' };
  const cache = createCache<WorkflowExecution>();
  let bare = 0;
  const counted: Pick<KubeClient, 'jsonPatchStatus'> = {
    jsonPatchStatus: async (resource, ref, patch) => {
      const answer = await kube.jsonPatchStatus(resource, ref, patch);
      bare += Number((answer as KubeObject).kind === 'PartialObjectMetadata');
      return answer;
    },
  };
  let held = await kube.create(executions, execution('one', input));
  const values = { phase: 'running', blackboard: { odd: { value: [{ a: null }, -0, 1e300, '\\ud800'] } } };
  const wanted = [...statuses(), values];
  let writes = 0;
  for (const status of wanted) {
    const before = held.metadata.resourceVersion;
    held = await writeStatus({ kube: counted, resource: executions, cache, sparesAnswer: true }, held, status);
    writes += Number(held.metadata.resourceVersion !== before);
    const { metadata: kept, ...rest } = held;
    const { metadata: stored, ...whole } = await kube.get(executions, metadata);
    expect(rest).toStrictEqual(whole);
    expect(kept.resourceVersion).toBe(stored.resourceVersion);
  }
  expect(writes).toBe(3);
  expect(bare).toBe(writes);
});

it('a text that the API server stores otherwise comes with a whole answer', async () => {
  const metadata = { namespace: space.name, name: 'two' };
  const made = await kube.create(executions, execution('two', {}));
  const cache = createCache<WorkflowExecution>();
  const port = { kube, resource: executions, cache, sparesAnswer: true };
  const held = await writeStatus(port, made, { phase: 'running', message: 'half \ud800' });
  expect(held.status?.message).toContain('half \ufffd');
  expect(held.status).toStrictEqual((await kube.get(executions, metadata)).status);
});

it('the watch begins each large event with its metadata, so that an own write is known without the rest', async () => {
  const { items: _, ...list } = await kube.list(metadataOf(executions), { namespace: space.name });
  const made = await kube.create(executions, execution('three', { text: 'x'.repeat(64 * 1024) }));
  const stop = new AbortController();
  const { resourceVersion } = list.metadata;
  const isKnown = (object: KubeObject): boolean =>
    object.metadata.resourceVersion === made.metadata.resourceVersion && object.metadata.name === 'three';
  for await (const event of kube.watch(executions, {
    namespace: space.name,
    resourceVersion,
    isKnown,
    signal: stop.signal,
  })) {
    expect(event).toEqual({ type: 'KNOWN', object: { metadata: made.metadata } });
    stop.abort();
  }
});
