import { expect, it } from 'vitest';
import { captureFinalizer, labels } from '../../crds/labels.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createCache } from '../../lib/informer/cache.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { anExecution, begin } from '../../test/builders/execution-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createTurnGate } from '../runtime/turn-gate.ts';
import { createBlocked } from './blocked.ts';
import { createBugs } from './bugs.ts';
import { createMadeChildren } from './made-children.ts';
import { createExecutionReconcile, type ExecutionDeps } from './reconcile.ts';

interface Seen {
  /** The reason of the execution's wait after one reconcile. */
  readonly waits: string[];
  /** Names of pods whose finalizers were taken away. */
  readonly released: string[];
  /** Names of pods that were stopped. */
  readonly stopped: string[];
  /** How often it was read in full. */
  readonly wholes: number;
}

/** Looks once at an execution whose workflow is not there, beside these pods of executions of its name. */
async function lookAt(
  execution: WorkflowExecution,
  pods: readonly Pod[] = [],
  successors: readonly WorkflowExecution[] = [],
): Promise<Seen> {
  let wholes = 0;
  const waits: string[] = [];
  const released: string[] = [];
  const stopped: string[] = [];
  const none = () => [];
  const originUid = ({ metadata: { name } }: WorkflowExecution) => (name === 'x' ? [] : [execution.metadata.uid ?? '']);
  const caches = {
    executions: createCache<WorkflowExecution, 'parentUid' | 'originUid' | 'root' | 'workflow'>({
      indexes: { parentUid: none, originUid, root: none, workflow: none },
    }),
    pods: createCache<Pod, 'ownerUid' | 'owner'>({
      indexes: { ownerUid: none, owner: () => ['WorkflowExecution default/x'] },
    }),
    volumes: createCache<Volume>(),
    agents: createCache<AgentExecution, 'parentUid'>({ indexes: { parentUid: none } }),
    toolCalls: createCache<ToolCall, 'parentUid'>({ indexes: { parentUid: none } }),
  };
  caches.executions.replaceAll([execution, ...successors], '5');
  caches.pods.replaceAll(pods, '5');
  const failure = { reason: 'WorkflowNotFound', message: 'why' } as const;
  const lookup = async () => ({ kind: 'absent', failure }) as const;
  const settings = { executionTtlSeconds: 3_600, archiveGraceSeconds: 60 };
  const deps: Partial<ExecutionDeps> = {
    kube: { jsonPatchStatus: async () => execution } as never,
    clock: createManualClock(begin),
    caches,
    wholes: {
      whole: async (one) => one,
      weight: () => 0,
      use: (one, task) => {
        wholes += 1;
        return task(one);
      },
    },
    observe: {
      caches,
      outcomeOf: () => undefined,
      rejectedPods: () => [],
      madeChildren: () => new Map(),
      linkedExecutions: createMadeChildren(),
      settings,
    },
    apply: {
      ...caches,
      kube: {
        jsonPatch: async (_: unknown, { name }: { name: string }) => ({ metadata: { name: released.push(name) } }),
        delete: async (_: unknown, { name }: { name: string }) => stopped.push(name) > 0,
      },
      onReleased: () => undefined,
    } as never,
    findWorkflow: { current: lookup, pinned: lookup },
    turns: createTurnGate(),
    bugs: createBugs(),
    isEnding: () => false,
    events: { record: () => undefined, flush: async () => undefined },
    onWaiting: (key, awaited) => void waits.push(`${key} ${awaited}`),
    blocked: createBlocked(),
    quota: { leave: () => undefined },
    unstored: createBlocked(),
    confirmed: { check: async () => undefined, forget: () => undefined },
    onFinished: () => undefined,
    onEnded: () => undefined,
  };
  await createExecutionReconcile(deps as ExecutionDeps)('default/x');
  return { waits, released, stopped, wholes };
}

it('an execution waits for its workflow until it has ended, and never after', async () => {
  expect((await lookAt(anExecution('x').build())).waits).toEqual(['default/x demo']);
  expect((await lookAt(anExecution('x').ended('failed', 0).build())).waits).toEqual([]);
});

it.each([
  { what: 'an earlier execution of the same name', owner: 'u-before', going: true, released: ['p'] },
  { what: 'an earlier one, while it is not in deletion', owner: 'u-before', going: false, released: [] },
  { what: 'the execution itself', owner: '00000000-0000-4000-8000-000000000001', going: true, released: [] },
])('lets go of a pod of $what: $released', async ({ owner, going, released }) => {
  const pod: Pod = {
    metadata: {
      name: 'p',
      namespace: 'default',
      uid: 'pu',
      resourceVersion: '4',
      finalizers: [captureFinalizer],
      labels: { [labels.execution]: 'x', [labels.executionUid]: owner },
      ...(going ? { deletionTimestamp: new Date(begin).toISOString() } : {}),
    },
    spec: { containers: [] },
  };
  expect((await lookAt(anExecution('x').build(), [pod])).released).toEqual(released);
});

it.each([
  { what: 'its own', owner: '00000000-0000-4000-8000-000000000001', isGone: true, stopped: ['p'] },
  { what: 'those of an earlier one of its name', owner: 'u-before', isGone: true, stopped: [] },
  { what: 'its own', owner: '00000000-0000-4000-8000-000000000001', isGone: false, stopped: [] },
])('stops $what pods once it is deleted ($isGone), though a finalizer keeps it: $stopped', async (given) => {
  const built = anExecution('x').build();
  const pod = {
    metadata: { name: 'p', namespace: 'default', uid: 'pu', labels: { [labels.executionUid]: given.owner } },
    spec: { containers: [] },
  } as unknown as Pod;
  if (given.isGone) built.metadata.deletionTimestamp = new Date(begin).toISOString();
  expect((await lookAt(built, [pod])).stopped).toEqual(given.stopped);
});

it.each([
  { what: 'a successor that its status does not name', known: [], wholes: 1 },
  { what: 'a successor that its status names', known: [{ name: 'y', uid: 'uy' }], wholes: 0 },
])('one that has ended is read in full before a write: with $what, $wholes times', async ({ known, wholes }) => {
  const ended = anExecution('x').ended('failed', 0).build();
  const built = anExecution('y').build();
  const successor = { ...built, metadata: { ...built.metadata, uid: 'uy' } };
  const status = { phase: 'failed' as const, ...ended.status, successors: known };
  expect((await lookAt({ ...ended, status }, [], [successor])).wholes).toBe(wholes);
});
