import { expect, it } from 'vitest';
import type { Agent } from '../../crds/schema/agent.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { workflowIndexes } from '../../lib/workflow-lookup/index.ts';
import { createCache } from '../../lib/informer/index.ts';
import { type ControllerRevision, KubeError } from '../../lib/kube/index.ts';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { nested } from '../../test/support/nested.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createTurnGate } from '../runtime/turn-gate.ts';
import { workflowInformer } from './informers.ts';
import { workflowWakes } from './module.ts';
import { createWorkflowReconcile } from './reconcile.ts';

const named = (name: string, workflow: Workflow): Workflow => ({
  ...workflow,
  metadata: { name, namespace: 'default', uid: name, resourceVersion: '5' },
});
const small = (name: string): Workflow => named(name, aWorkflow(name).state('end', anEnd()).build());

/** Dependencies of a reconcile beside its workflows: nothing is stored, and nothing runs. */
function besideWorkflows() {
  const none = () => [];
  return {
    wholeRevision: async (revision: ControllerRevision) => revision,
    revisions: createCache<ControllerRevision, 'workflowUid' | 'workflowKey'>({
      indexes: { workflowUid: none, workflowKey: none },
    }),
    executions: createCache<WorkflowExecution, 'revision' | 'workflow'>({
      indexes: { revision: none, workflow: none },
    }),
    isEnding: () => false,
    turns: createTurnGate(),
    agents: createCache<Agent, 'namespace'>({ indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] } }),
  };
}

/** Counts turns of the event loop until it is stopped. */
function countTurns() {
  const counter = { turn: 0, isOver: false };
  const next = (): void => {
    counter.turn += 1;
    if (!counter.isOver) setImmediate(next);
  };
  setImmediate(next);
  return counter;
}

/** In which turns definitions were judged and wholes were read, when all of `checked` came at once. */
async function turnsOf(checked: readonly Workflow[], others: readonly Workflow[] = []) {
  const counter = countTurns();
  const [judged, read]: [number[], number[]] = [[], []];
  const workflows = createCache({ indexes: workflowIndexes });
  workflows.replaceAll([...checked, ...others], '5');
  const manual = createManualClock();
  const reconcile = createWorkflowReconcile({
    // The answers are of no matter here, only when the definitions were looked at.
    kube: { create: async () => ({}), get: async () => ({}), jsonPatchStatus: async () => ({}) } as never,
    clock: { ...manual, now: () => judged.push(counter.turn) },
    workflows,
    wholeWorkflow: async (workflow) => {
      read.push(counter.turn);
      return workflow;
    },
    ...besideWorkflows(),
  });
  await Promise.allSettled(checked.map(({ metadata }) => reconcile(`default/${metadata.name}`)));
  counter.isOver = true;
  return { judged, read };
}

it('each definition has a turn of the event loop of its own, however many come at once', async () => {
  const { judged } = await turnsOf(Array.from({ length: 20 }, (_, index) => small(`w${index}`)));
  expect(new Set(judged).size).toBeGreaterThanOrEqual(20);
});

it('each child that a definition names has a turn of its own', async () => {
  const parent = aWorkflow('parent');
  for (let index = 0; index < 10; index += 1) {
    const next = { target: index < 9 ? `s${index + 1}` : 'end' };
    parent.state(`s${index}`, { kind: 'Subworkflow', workflow_id: `c${index}`, transitions: [next] } as never);
  }
  const children = Array.from({ length: 10 }, (_, index) => small(`c${index}`));
  const { read } = await turnsOf([named('parent', parent.state('end', anEnd()).build())], children);
  expect(read).toHaveLength(11);
  expect(new Set(read).size).toBe(11);
});

/** A definition in a namespace whose first `refusals` creates are refused, judged after each of the pauses. */
async function judgedAfter(refusals: number, pausesMs: readonly number[]) {
  const clock = createManualClock();
  const reasons: unknown[] = [];
  let asked = 0;
  const message =
    'controllerrevisions.apps is forbidden: User "controllers" cannot create resource "controllerrevisions" in API group "apps" in the namespace "default"';
  const kube = {
    create: async (_resource: unknown, object: unknown) => {
      asked += 1;
      if (asked <= refusals) throw new KubeError(403, { message }, { verb: 'create', resource: 'x' });
      return object;
    },
    jsonPatchStatus: async (_resource: unknown, _ref: unknown, patch: unknown) => {
      reasons.push(/"reason":"([A-Za-z]+)"/.exec(JSON.stringify(patch))?.[1]);
      return small('w');
    },
    get: async () => ({}),
  } as never;
  const workflows = createCache({ indexes: workflowIndexes });
  workflows.replaceAll([small('w')], '5');
  const reconcile = createWorkflowReconcile({
    kube,
    clock,
    workflows,
    wholeWorkflow: async (workflow) => workflow,
    ...besideWorkflows(),
  });
  const ends: unknown[] = [];
  for (const pauseMs of pausesMs) {
    await clock.advance(pauseMs);
    const end = reconcile('default/w').then(
      () => 'done',
      (error: { reason: string; afterMs: number }) => [error.reason, error.afterMs],
    );
    ends.push(await end);
  }
  return { ends, reasons };
}

it('a namespace is no tenant once it has refused the rights twice, three seconds apart', async () => {
  const { ends, reasons } = await judgedAfter(9, [0, 2_999, 1]);
  expect(ends).toEqual([
    ['NotATenant', 3_000],
    ['NotATenant', 3_000],
    ['NotATenant', 30_000],
  ]);
  expect(reasons).toEqual(['NotATenant']);
});

it('a definition is stored where only a server that has just begun refused the rights', async () => {
  const { ends, reasons } = await judgedAfter(1, [0, 3_000]);
  expect(ends).toEqual([['NotATenant', 3_000], 'done']);
  expect(reasons).not.toContain('NotATenant');
});

const asking = named(
  'asking',
  aWorkflow('asking')
    .state('ask', { kind: 'Agent', agent: 'clrk', transitions: [{ target: 'call' }] })
    .state('call', {
      kind: 'Subworkflow',
      workflow_id: 'other',
      mode: 'fire_and_forget',
      transitions: [{ target: 'end' }],
    })
    .state('end', anEnd())
    .build(),
);

/** Warnings in the status of `asking`, where these others are there; the cache has it as `cached`. */
async function warningsOf(others: readonly (Agent | Workflow)[], cached = asking) {
  const beside = besideWorkflows();
  const workflows = createCache({ indexes: workflowIndexes });
  beside.agents.replaceAll(
    others.filter((each): each is Agent => each.kind === 'Agent'),
    '5',
  );
  workflows.replaceAll([cached, ...others.filter((each): each is Workflow => each.kind === 'Workflow')], '5');
  let warnings: readonly string[] = [];
  const reconcile = createWorkflowReconcile({
    kube: {
      create: async (_resource: unknown, object: object) => object,
      jsonPatchStatus: async (_resource: unknown, _ref: unknown, patch: readonly { value?: Workflow['status'] }[]) => {
        warnings = patch.flatMap(({ value }) => value?.warnings ?? []);
        return asking;
      },
    } as never,
    clock: createManualClock(),
    workflows,
    wholeWorkflow: async () => asking,
    ...beside,
  });
  await reconcile('default/asking');
  return warnings;
}

it('says in status.warnings which agents and workflows are not there, as long as they are not', async () => {
  const here = { namespace: 'default' };
  expect(await warningsOf([anAgent('clerk', {}, here), anAgent('clrk', {}, { namespace: 'elsewhere' })])).toEqual([
    expect.stringMatching(/^spec\.states\.ask\.agent: no agent clrk .*; did you mean clerk\?; this state fails/),
    expect.stringMatching(/^spec\.states\.call\.workflow_id: no workflow other /),
  ]);
  expect(await warningsOf([anAgent('clrk', {}, here), small('other')])).toEqual([]);
});

it('warns of no name in a large definition, which nothing wakes when the name appears', async () => {
  const { spec } = asking;
  expect(await warningsOf([], { ...asking, spec: { ...spec, states: {} } })).toEqual([]);
});

it('wakes the workflows of its namespace that name an agent or a workflow which has come or gone', async () => {
  const informer = workflowInformer.open({ kube: {}, clock: createManualClock(), logger: silentLogger } as never);
  informer.cache.remember(asking);
  const caches = { workflows: informer } as never;
  const agent = anAgent('clrk', {}, { namespace: 'default' });
  const change = (before: unknown, after: unknown) => ({ key: 'default/x', own: true, before, after }) as never;
  expect(workflowWakes.agents?.(change(undefined, agent), caches)).toEqual(['default/asking']);
  expect(workflowWakes.agents?.(change(agent, undefined), caches)).toEqual(['default/asking']);
  expect(workflowWakes.agents?.(change(agent, agent), caches)).toEqual([]);
  expect(workflowWakes.agents?.(change(undefined, anAgent('clrk')), caches)).toEqual([]);
  expect(workflowWakes.workflows?.(change(undefined, small('other')), caches)).toEqual(['default/asking']);
  expect(workflowWakes.workflows?.(change(undefined, small('clrk')), caches)).toEqual([]);
});

it('a definition that is nested too deep to be hashed is refused, and its status names the field', async () => {
  const { metadata, spec, ...rest } = small('w');
  const workflows = createCache({ indexes: workflowIndexes });
  workflows.replaceAll([{ ...rest, metadata, spec: { ...spec, context: { deep: nested(9_000) } } }], '5');
  let status: Workflow['status'];
  const reconcile = createWorkflowReconcile({
    kube: {
      jsonPatchStatus: async (_resource: unknown, _ref: unknown, patch: readonly { value?: Workflow['status'] }[]) => {
        status = patch.at(-1)?.value;
        return small('w');
      },
    } as never,
    clock: createManualClock(),
    workflows,
    wholeWorkflow: async (workflow) => workflow,
    ...besideWorkflows(),
  });
  await reconcile('default/w');
  const message = 'spec.context.deep: is nested deeper than 64 levels';
  expect(status?.conditions).toMatchObject([{ status: 'False', reason: 'InvalidDefinition', message }]);
});
