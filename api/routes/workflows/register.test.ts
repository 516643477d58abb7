import { expect, it } from 'vitest';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { AuditEntry } from '../../../lib/bus/index.ts';
import type { KubeObject } from '../../../lib/kube/index.ts';
import { readingOf } from '../../../lib/manifest/reading.ts';
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

async function registered(kind: 'created' | 'updated' | 'unchanged', object = stored, asked: Asked = {}) {
  const { body = manifestExample, scopes = [] } = asked;
  const recorded: AuditEntry[] = [];
  const write: Writer = async () => ({ kind, object });
  const deps = {
    cluster: { tenants: { namespaceOf: () => 'team' } },
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
