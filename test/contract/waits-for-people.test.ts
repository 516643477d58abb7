import { expect, it } from 'vitest';
import { createSignalRoute, type SignalDeps } from '../../api/routes/executions/signal/index.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { WorkflowExecution, WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';
import { slimExecution } from '../../lib/execution/slim-execution.ts';
import { createCache } from '../../lib/informer/cache.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { anExecution, begin } from '../builders/execution-builder.ts';
import { anEnd, aQuestion, aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { applied, type JsonPatch } from '../support/json-patch.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createTurnGate } from '../../controllers/runtime/turn-gate.ts';
import { createBlocked } from '../../controllers/execution/blocked.ts';
import { createBugs } from '../../controllers/execution/bugs.ts';
import { createConfirmed } from '../../controllers/execution/confirmed.ts';
import { createMadeChildren } from '../../controllers/execution/made-children.ts';
import { createExecutionReconcile, type ExecutionDeps } from '../../controllers/execution/reconcile.ts';

const workflow = aWorkflow('demo')
  .state('ask', aQuestion('Ship?', { yes: 'build', no: 'stop' }))
  .state('build', aScript('true'))
  .state('stop', anEnd())
  .build();
const definition = {
  name: 'demo',
  namespace: 'default',
  uid: 'w',
  version: workflow.spec.version,
  revision: 'demo-r1',
  spec: workflow.spec,
};

/** The API server as far as one execution meets it. */
class Server {
  execution: WorkflowExecution = anExecution('x').build();
  /** Writes of statuses, and names of what was made. */
  writes = 0;
  readonly made: string[] = [];
  readonly clock = createManualClock(begin);

  readonly kube = {
    get: async () => this.execution,
    list: async () => ({ items: [], metadata: {} }),
    jsonPatchStatus: async (_: unknown, __: unknown, patch: JsonPatch) => {
      this.writes += 1;
      return this.#store(applied(this.execution, patch));
    },
    mergePatch: async (_: unknown, __: unknown, { spec }: { spec: Partial<WorkflowExecutionSpec> }) =>
      this.#store({ ...this.execution, spec: { ...this.execution.spec, ...spec } }),
    create: async (resource: { plural: string }, object: Pod) => {
      this.made.push(resource.plural);
      return { ...object, metadata: { ...object.metadata, uid: 'made', resourceVersion: '1' } };
    },
  };

  #store(execution: WorkflowExecution): WorkflowExecution {
    const resourceVersion = String(Number(this.execution.metadata.resourceVersion) + 1);
    this.execution = { ...execution, metadata: { ...execution.metadata, resourceVersion } };
    return this.execution;
  }

  /** The answer of a user over HTTP. */
  async answer(response: string): Promise<void> {
    const deps = {
      kube: this.kube,
      clock: this.clock,
      gate: async () => undefined,
      cluster: { executions: { find: async () => this.execution } },
      audit: { record: () => undefined },
    } as unknown as SignalDeps;
    const caller = { subject: 'ada', tenant: 'acme' };
    await createSignalRoute(deps).handle({ params: { execution_id: 'x' }, body: { response }, caller } as never);
  }
}

/** A replica of the controllers that has just begun: its cache is all that it knows. */
function startedReplica(server: Server): () => Promise<unknown> {
  const none = () => [];
  const caches = {
    executions: createCache<WorkflowExecution, 'parentUid' | 'originUid' | 'root' | 'workflow'>({
      indexes: { parentUid: none, originUid: none, root: none, workflow: none },
    }),
    pods: createCache<Pod, 'ownerUid' | 'owner'>({ indexes: { ownerUid: none, owner: none } }),
    volumes: createCache<Volume>(),
    agents: createCache<AgentExecution, 'parentUid'>({ indexes: { parentUid: none } }),
    toolCalls: createCache<ToolCall, 'parentUid'>({ indexes: { parentUid: none } }),
  };
  caches.executions.replaceAll([slimExecution(server.execution)], server.execution.metadata.resourceVersion ?? '');
  const { kube, clock } = server;
  const found = async () => ({ kind: 'found', definition }) as const;
  const deps: Partial<ExecutionDeps> = {
    kube: kube as never,
    clock,
    caches,
    wholes: { whole: async () => server.execution, weight: () => 0, use: async (_, task) => task(server.execution) },
    observe: {
      caches,
      outcomeOf: () => undefined,
      rejectedPods: none,
      madeChildren: () => new Map(),
      linkedExecutions: createMadeChildren(),
      settings: { executionTtlSeconds: 3_600, archiveGraceSeconds: 60 },
    },
    apply: {
      ...caches,
      kube,
      podSettings: { runnerImage: 'runner', defaultResources: {} },
      quota: { create: (_: unknown, make: () => unknown) => make() },
    } as never,
    findWorkflow: { current: found, pinned: found },
    endRoutes: () => undefined,
    turns: createTurnGate(),
    bugs: createBugs(),
    isEnding: () => false,
    events: { record: () => undefined, flush: async () => undefined },
    onWaiting: () => undefined,
    onStateEnded: () => undefined,
    blocked: createBlocked(),
    quota: { leave: () => undefined },
    unstored: createBlocked(),
    confirmed: createConfirmed({ kube: kube as never, cache: caches.executions }),
    onOutcome: () => undefined,
    onFinished: () => undefined,
    onEnded: () => undefined,
  };
  const reconcile = createExecutionReconcile(deps as ExecutionDeps);
  return () => reconcile('default/x');
}

it('WF-HUMAN-04 an execution that asks holds no pod, is left alone by each replica that begins, and goes on by the answer', async () => {
  const server = new Server();
  const first = startedReplica(server);
  await first();
  expect(server.execution.status).toMatchObject({ phase: 'waiting', current: { state: 'ask', prompt: 'Ship?' } });
  const { status } = server.execution;
  const { writes } = server;
  for (let replica = 0; replica < 3; replica += 1) {
    await server.clock.advance(86_400_000);
    // Nothing to do, and nothing to come back for.
    expect(await startedReplica(server)()).toBeUndefined();
  }
  expect([server.execution.status, server.writes, server.made]).toEqual([status, writes, []]);
  await server.answer('yes');
  expect(server.made).toEqual([]);
  await startedReplica(server)();
  expect(server.execution.status).toMatchObject({ phase: 'running', current: { state: 'build' } });
  expect(server.made).toEqual(['pods']);
});
