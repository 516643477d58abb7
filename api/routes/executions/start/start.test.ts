import { describe, expect, it } from 'vitest';
import { annotations } from '../../../../crds/labels.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { AuditEntry } from '../../../../lib/bus/index.ts';
import { canonicalHash } from '../../../../lib/definition/canonical.ts';
import { KubeError } from '../../../../lib/kube/index.ts';
import { anEnd, aWorkflow } from '../../../../test/builders/workflow-builder.ts';
import { createStartRoute, type StartDeps } from './index.ts';

const workflow = (() => {
  const built = aWorkflow('hello').state('end', anEnd()).build();
  return { ...built, metadata: { ...built.metadata, namespace: 'team', uid: 'w1', generation: 1 } };
})();
const body = { workflow: 'hello', input: { secret: 'hush' } };
const refused = (status: number, reason: string) =>
  new KubeError(status, { reason, message: `x "y" ${reason}` }, { verb: 'create', resource: 'x' });

/** The object under the name of the start, and the server's answer to a create. */
interface Server {
  readonly existing?: WorkflowExecution;
  readonly create?: KubeError;
}

async function start({ existing, create }: Server, headers: object, more: object = {}) {
  const recorded: AuditEntry[] = [];
  const deps = {
    kube: {
      create: async (_: unknown, object: WorkflowExecution) => {
        if (create !== undefined) throw create;
        return { ...object, metadata: { ...object.metadata, uid: 'e1' } };
      },
      get: async ({ kind }: { kind: string }) => {
        if (kind === 'Workflow') return workflow;
        if (existing === undefined) throw refused(404, 'NotFound');
        return existing;
      },
    },
    cluster: {
      tenants: { namespaceOf: () => 'team' },
      workflows: { locate: async () => workflow, whole: async () => workflow },
      executions: { remember: () => undefined },
      lineages: { marksFor: () => ({}) },
    },
    newId: () => '0123456789abcdef',
    audit: { record: (entry: AuditEntry) => void recorded.push(entry) },
  } as unknown as StartDeps;
  const request = { body: { ...body, ...more }, headers, caller: { subject: 'ada', tenant: 'acme' } };
  const answer = await createStartRoute(deps)
    .handle(request as never)
    .catch((error: Error) => error.message);
  return { answer, recorded };
}

const existing = (request: string, by = 'ada'): WorkflowExecution => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'WorkflowExecution',
  metadata: {
    name: 'start-1',
    namespace: 'team',
    uid: 'e1',
    labels: { 'windlass.dev/workflow-uid': 'w1' },
    annotations: { [annotations.request]: request, [annotations.startedBy]: by },
  },
  spec: { workflow: 'hello' },
});
const same = existing(canonicalHash(body));
const another = existing('another');
const key = { 'idempotency-key': 'k' };
const audited = {
  type: 'ExecutionStarted',
  by: { subject: 'ada', tenant: 'acme' },
  subject: 'e1',
  act: 'start',
  data: { workflow: 'hello', workflow_id: 'w1' },
};

it('answers 409 for a workflow that is being deleted, whatever finalizer keeps it, and makes nothing', async () => {
  const { metadata } = workflow as { metadata: { deletionTimestamp?: string } };
  metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  const { answer, recorded } = await start({}, {});
  delete metadata.deletionTimestamp;
  expect([answer, recorded]).toEqual([expect.stringMatching(/^workflow hello is being deleted/), []]);
});

describe('the audit trail of starts', () => {
  it.each<[string, Server, object]>([
    ['that was created', {}, {}],
    ['that was created under a key', {}, key],
    [
      'that stood there already, whose creator may have ended before telling',
      { existing: same, create: refused(409, 'AlreadyExists') },
      key,
    ],
    ['whose creation was not answered', { existing: same, create: refused(504, 'Timeout') }, key],
  ])('tells of an execution %s, always as one event', async (_title, server, headers) => {
    const { answer, recorded } = await start(server, headers);
    expect(answer).toMatchObject({ value: { execution_id: 'e1' } });
    expect(recorded).toEqual([audited]);
  });

  it.each<[string, WorkflowExecution]>([
    ['an execution that a colleague made in advance', existing(canonicalHash(body), 'mallory')],
    ['an execution without a recorded starter', { ...same, metadata: { ...same.metadata, annotations: {} } }],
  ])('tells nothing of %s, and the caller is not answered with it', async (_title, stranger) => {
    for (const create of [refused(409, 'AlreadyExists'), refused(504, 'Timeout')]) {
      const { answer, recorded } = await start({ existing: stranger, create }, key);
      expect(answer).toContain('that this caller did not start is in the way');
      expect(recorded).toEqual([]);
    }
  });

  it.each<[string, Server]>([
    ['another start under the key', { existing: another, create: refused(409, 'AlreadyExists') }],
    ['another start under the key, though the answer was lost', { existing: another, create: refused(504, 'Timeout') }],
  ])('tells nothing of %s', async (_title, server) => {
    const { answer, recorded } = await start(server, key);
    expect(answer).toContain('this Idempotency-Key was used for another request');
    expect(recorded).toEqual([]);
  });
});

describe('a name that the API itself would give', () => {
  const hex = '0123456789abcdef';
  it.each([
    `start-${hex}${hex}`,
    'stimulus-0b9f2c1e-1111-4222-8333-444455556666',
    '0b9f2c1e-1111-4222-8333-444455556666',
  ])('is refused from a caller: %s', async (name) => {
    const { answer, recorded } = await start({}, {}, { name });
    expect([answer, recorded]).toEqual(['invalid', []]);
  });

  it.each([`start-${hex}`, `start-${hex}${hex}0`, 'stimulus-1', `restart-${hex}${hex}`])(
    'is not one that merely begins alike: %s',
    async (name) => {
      expect((await start({}, {}, { name })).answer).toMatchObject({ value: { execution_id: 'e1' } });
    },
  );
});
