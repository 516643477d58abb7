import { describe, expect, it } from 'vitest';
import { captureFinalizer, labels } from '../../crds/labels.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createCache } from '../../lib/informer/cache.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { slotMetadata } from '../../lib/pod-slot.ts';
import { LargeValue } from '../../lib/template/large-value.ts';
import { after, anExecution, begin } from '../../test/builders/execution-builder.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { volumeName } from './engine/names.ts';
import { observe, observeVolumes, wholeChild } from './observe.ts';
import { createMadeChildren } from './made-children.ts';

const parent = anExecution('parent').build();
const { uid = '', namespace = '' } = parent.metadata;

function facts(pods: readonly Pod[], executions: readonly WorkflowExecution[], agents: readonly AgentExecution[] = []) {
  const caches = {
    pods: createCache<Pod, 'ownerUid' | 'owner'>({
      indexes: {
        ownerUid: ({ metadata }) => [metadata.labels?.[labels.executionUid] ?? ''],
        owner: () => [],
      },
    }),
    executions: createCache<WorkflowExecution, 'parentUid' | 'originUid' | 'root' | 'workflow'>({
      indexes: {
        parentUid: ({ spec }) => [spec.parent?.uid ?? ''],
        originUid: ({ spec }) => [spec.origin?.uid ?? ''],
        workflow: () => [],
        root: () => [],
      },
    }),
    volumes: createCache<Volume>(),
    agents: createCache<AgentExecution, 'parentUid'>({
      indexes: { parentUid: ({ spec }) => [spec.parent?.uid ?? ''] },
    }),
    toolCalls: createCache<ToolCall, 'parentUid'>({ indexes: { parentUid: ({ spec }) => [spec.parent.uid] } }),
  };
  caches.pods.replaceAll(pods, '1');
  caches.executions.replaceAll(executions, '1');
  caches.agents.replaceAll(agents, '1');
  const settings = { executionTtlSeconds: 60, archiveGraceSeconds: 60 };
  const madeChildren = () => new Map();
  const linkedExecutions = createMadeChildren();
  const deps = { caches, outcomeOf: () => undefined, rejectedPods: () => [], madeChildren, linkedExecutions, settings };
  return observe(deps, parent, begin);
}

const aPod = (metadata: object = {}): Pod => ({
  metadata: {
    name: 'pod-1',
    namespace,
    uid: 'p1',
    finalizers: [captureFinalizer],
    annotations: slotMetadata({ state: 's', visit: 1, attempt: 1 }).annotations,
    labels: { [labels.executionUid]: uid, ...slotMetadata({ state: 's', visit: 1, attempt: 1 }).labels },
    ...metadata,
  },
  spec: { containers: [] },
});

function aChild(status: Partial<WorkflowExecution['status']> = {}, metadata: object = {}): WorkflowExecution {
  const spec = { parent: { name: 'parent', uid, state: 's', visit: 1, depth: 1 } };
  const built = anExecution('child')
    .with(spec)
    .status(status ?? {})
    .build();
  return { ...built, metadata: { ...built.metadata, uid: 'c1', ...metadata } };
}

const owner = { apiVersion: 'windlass.dev/v1', kind: 'WorkflowExecution', name: 'parent', uid };

describe('the pods of an execution', () => {
  it('are those beside it that carry its uid', () => {
    expect(facts([aPod()], []).pods).toMatchObject([{ name: 'pod-1', slot: { state: 's', visit: 1 } }]);
  });

  it('are never those of another namespace, whatever their labels claim', () => {
    expect(facts([aPod({ namespace: 'other' })], []).pods).toEqual([]);
  });

  it('are steps alone', () => {
    expect(facts([aPod({ labels: { [labels.executionUid]: uid }, annotations: {} })], []).pods).toEqual([]);
  });
});

describe('the children of an execution', () => {
  it('are never those of another namespace, whatever their parent claims to be', () => {
    expect(facts([], [aChild({}, { namespace: 'other' })]).children).toEqual([]);
  });

  it.each([
    { made: 'by a blocking state', ownerReferences: [owner], owned: true },
    { made: 'to be forgotten', ownerReferences: undefined, owned: false },
    { made: 'to be forgotten, and owned by something else', ownerReferences: [{ ...owner, uid: 'x' }], owned: false },
  ])('go with it where they were made $made: $owned', ({ ownerReferences, owned }) => {
    expect(facts([], [aChild({}, { ownerReferences })]).children).toMatchObject([{ owned }]);
  });

  it.each([
    { phase: 'running', deleted: false, want: 'running' },
    { phase: 'running', deleted: true, want: 'cancelled' },
    { phase: 'completed', deleted: true, want: 'completed' },
    { phase: 'failed', deleted: true, want: 'failed' },
  ] as const)('that are $phase and deleted ($deleted) count as $want', ({ phase, deleted, want }) => {
    const deletion = deleted ? { deletionTimestamp: new Date(begin).toISOString() } : {};
    expect(facts([], [aChild({ phase }, deletion)]).children).toMatchObject([{ phase: want }]);
  });

  it('that run it again are its successors, the oldest first, and of its own namespace', () => {
    const run = (name: string, second: number, place = namespace): WorkflowExecution => {
      const built = anExecution(name)
        .with({ origin: { name: 'parent', uid } })
        .build();
      const metadata = { uid: name, namespace: place, creationTimestamp: after(second) };
      return { ...built, metadata: { ...built.metadata, ...metadata } };
    };
    expect(facts([], [run('b', 2), run('a', 1), run('c', 3, 'other')]).successors).toEqual([
      { name: 'a', uid: 'a' },
      { name: 'b', uid: 'b' },
    ]);
  });

  it.each([19, 20, 21, 60])('that run it again are %i, of which its status names the newest 20', (count) => {
    const runs = Array.from({ length: count }, (_, index) => {
      const name = `run-${index}`;
      const built = anExecution(name)
        .with({ origin: { name: 'parent', uid } })
        .build();
      // As an index gives them: in no order of time.
      const creationTimestamp = after((index * 7) % count);
      return { ...built, metadata: { ...built.metadata, uid: name, namespace, creationTimestamp } };
    });
    const byTime = runs.toSorted((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1));
    const newest = byTime.slice(-20).map(({ metadata: { name } }) => ({ name, uid: name }));
    expect(facts([], runs).successors).toEqual(newest);
  });

  it('AMB-169 that completed with a failed last state have failed', () => {
    const status = { phase: 'completed', reason: 'LastStateFailed', message: 'terminal state a failed' } as const;
    expect(facts([], [aChild(status)]).children).toMatchObject([{ failure: { reason: 'LastStateFailed' } }]);
    expect(facts([], [aChild({ phase: 'completed', reason: 'Completed' })]).children[0]).not.toHaveProperty('failure');
  });

  it.each([
    { name: 'the final output', status: { final_output: { a: 1 } }, want: { a: 1 } },
    {
      name: "the last state's output",
      status: { state: 'z', blackboard: { z: { value: { output: 'o', status: 'success' } } } },
      want: 'o',
    },
    {
      name: 'the whole entry where it names no output',
      status: { state: 'z', blackboard: { z: { value: 7 } } },
      want: 7,
    },
    { name: 'nothing before the first state', status: {}, want: null },
  ])('AMB-086 have as result $name', ({ status, want }) => {
    expect(wholeChild(aChild(status)).result).toEqual(want);
  });

  it('AMB-086 have a final output from the store as a value of their own uid', () => {
    const ref = { path: '', ref: 'abc', bytes: 9, encoding: 'json' } as const;
    const child = wholeChild(aChild({ final_output_ref: ref }));
    expect(child.result).toEqual(new LargeValue('json/c1/abc/9', 9));
  });
});

describe('AMB-190 a volume whose claim', () => {
  it.each([
    { reason: 'ClaimPending', isRefused: false },
    { reason: 'ClaimRefused', isRefused: true },
  ])('says $reason is one that is refused: $isRefused', ({ reason, isRefused }) => {
    const volume: Volume = {
      apiVersion: 'windlass.dev/v1',
      kind: 'Volume',
      metadata: { name: volumeName(parent, 'workspace'), namespace, labels: { [labels.executionUid]: uid } },
      spec: { storage_class: 'ephemeral' },
      status: {
        phase: 'pending',
        conditions: [{ type: 'Ready', status: 'False', reason, message: 'why', lastTransitionTime: after(0) }],
      },
    };
    const volumes = createCache<Volume>();
    volumes.replaceAll([volume], '1');
    const { spec } = aWorkflow('w')
      .state('a', anEnd())
      .with({ storage: { workspace: {} } })
      .build();
    const definition = { name: 'w', namespace, uid: 'w', version: '1.0.0', revision: 'r', spec };
    const { workspace } = observeVolumes({ volumes }, parent, definition);
    expect(workspace).toMatchObject({ phase: 'pending', message: 'why', isRefused });
  });
});
