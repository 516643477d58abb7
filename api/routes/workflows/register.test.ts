import { expect, it } from 'vitest';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { AuditEntry } from '../../../lib/bus/index.ts';
import { createCache } from '../../../lib/informer/index.ts';
import type { KubeObject } from '../../../lib/kube/index.ts';
import { readingOf } from '../../../lib/manifest/reading.ts';
import { workflowIndexes } from '../../../lib/workflow-lookup/index.ts';
import { anAgent } from '../../../test/builders/agent-builder.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { manifestExample } from './examples.ts';
import { createRegisterRoute, type Writer } from './register.ts';

const built = aWorkflow('hello').state('end', anEnd()).build();
const time = '2026-01-01T00:00:01Z';
const later = '2026-01-01T00:00:09Z';
const stored: Workflow & KubeObject = {
  ...built,
  metadata: {
    ...built.metadata,
    namespace: 'team',
    uid: 'w1',
    generation: 2,
    creationTimestamp: '2026-01-01T00:00:00Z',
    managedFields: [{ time }, { subresource: 'status', time: later }],
  },
};
interface Asked {
  readonly body?: string;
  readonly scopes?: readonly string[];
}

interface There {
  readonly agents?: readonly Agent[];
  readonly workflows?: readonly Workflow[];
  /** Registered at another replica a moment ago: the server has it, and no cache. */
  readonly late?: Agent;
}

function clusterOf({ agents = [], workflows = [], late }: There) {
  const informers = {
    agents: { cache: createCache<Agent, 'namespace'>({ indexes: { namespace: () => ['team'] } }) },
    workflows: { cache: createCache<Workflow, keyof typeof workflowIndexes>({ indexes: workflowIndexes }) },
  };
  informers.agents.cache.replaceAll(agents, '1');
  informers.workflows.cache.replaceAll(workflows, '1');
  const locate = async (_tenant: string, name: string) => {
    if (late?.metadata.name === name) informers.agents.cache.remember(late);
  };
  const away = async () => Promise.reject(new Error('the server is away'));
  return { tenants: { namespaceOf: () => 'team' }, informers, agents: { locate }, workflows: { locate: away } };
}

async function registered(kind: 'created' | 'updated' | 'unchanged', object = stored, asked: Asked = {}) {
  const { body = manifestExample, scopes = [] } = asked;
  const recorded: AuditEntry[] = [];
  const write: Writer = async () => ({ kind, object });
  const deps = {
    cluster: clusterOf({}),
    audit: { record: (entry: AuditEntry) => void recorded.push(entry) },
    write,
    manifests: { read: async (text: string) => readingOf(text), close: async () => undefined },
  };
  const caller = { subject: 'ada', tenant: 'acme', scopes };
  await createRegisterRoute(deps as never).handle({
    body,
    query: { scope: 'tenant', force: false },
    caller,
  } as never);
  return recorded[0];
}

it('the repetition of a registration whose answer was lost is audited as the same act', async () => {
  const first = await registered('updated');
  const again = await registered('unchanged', { ...stored, status: {} as never });
  expect(first).toMatchObject({ type: 'WorkflowRegistered', subject: 'w1', doneAt: undefined });
  expect(again).toEqual({ ...first, doneAt: time });
});

it('another content, or other annotations, are another act', async () => {
  const acts = [
    stored,
    { ...stored, metadata: { ...stored.metadata, generation: 3 } },
    { ...stored, metadata: { ...stored.metadata, annotations: { a: 'b' } } },
  ].map(async (object) => (await registered('updated', object))?.act);
  expect(new Set(await Promise.all(acts)).size).toBe(3);
});

const calling = (tool: string): string => `apiVersion: windlass.dev/v1
kind: Workflow
metadata: { name: restart, version: 1.0.0 }
spec:
  initial_state: call
  states:
    call: { kind: System, command: call_tool, env: { tool: ${tool} }, transitions: [] }
`;

it.each<[tool: string, scopes: readonly string[], isTaken: boolean]>([
  ['svc.edge.fleet.invoke', [], false],
  ['svc.edge.fleet.list', ['svc.edge.fleet.read'], false],
  ['svc.edge.fleet.invoke', ['svc.edge.fleet.manage'], true],
  ['svc.tools.list', [], true],
])(
  'ADR 0096 EDGE-AUTH-07 a workflow that calls %s, by a caller with the scopes %j: %s',
  async (tool, scopes, isTaken) => {
    const code = (error: { readonly code: string }): string => error.code;
    const answer = await registered('created', stored, { body: calling(tool), scopes }).then(
      (entry) => entry?.type,
      code,
    );
    expect(answer).toBe(isTaken ? 'WorkflowRegistered' : 'forbidden');
  },
);

const naming = `apiVersion: windlass.dev/v1
kind: Workflow
metadata: { name: hello, version: 1.0.0 }
spec:
  initial_state: ask
  states:
    ask: { kind: Agent, agent: clrk, transitions: [{ target: judge }] }
    judge:
      kind: ParallelAgents
      agents: [{ agent: clerk }, { agent: judge }]
      consensus: { strategy: majority, threshold: 0.5 }
      transitions: [{ target: child }]
    child: { kind: Subworkflow, workflow_id: biuld, mode: fire_and_forget, transitions: [{ target: end }] }
    end: { kind: System, command: finalize, transitions: [] }
`;

/** Paths and messages of the warnings that the answer has. */
async function warningsOf(there: There) {
  const deps = {
    cluster: clusterOf(there),
    audit: { record: () => undefined },
    write: async () => ({ kind: 'created', object: stored }),
    manifests: { read: async (text: string) => readingOf(text), close: async () => undefined },
  };
  const caller = { subject: 'ada', tenant: 'acme', scopes: [] };
  const query = { scope: 'tenant', force: false };
  const reply = await createRegisterRoute(deps as never).handle({ body: naming, query, caller } as never);
  const { warnings = [] } = (reply as { value: { warnings?: { path: string; message: string }[] } }).value;
  return warnings.map(({ path, message }) => `${path}: ${message}`);
}

it('warns of each agent and workflow that a state names and that is not there, with the name that is meant', async () => {
  const here = { namespace: 'team' };
  const build = { ...built, metadata: { ...built.metadata, ...here, name: 'build', uid: 'b1', resourceVersion: '1' } };
  const end = 'is here or in the global namespace';
  const fails = 'this state fails until it is registered';
  const clerk = anAgent('clerk', {}, here);
  expect(await warningsOf({ agents: [clerk], workflows: [build] })).toEqual([
    `spec.states.ask.agent: no agent clrk ${end}; did you mean clerk?; ${fails}`,
    `spec.states.judge.agents[1].agent: no agent judge ${end}; ${fails}`,
    `spec.states.child.workflow_id: no workflow biuld ${end}; did you mean build?; ${fails}`,
  ]);
  const late = anAgent('judge', {}, { ...here, resourceVersion: '2' });
  expect(await warningsOf({ agents: [clerk, anAgent('clrk', {}, here)], workflows: [build], late })).toHaveLength(1);
});
