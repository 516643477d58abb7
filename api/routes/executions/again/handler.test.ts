import { describe, expect, it } from 'vitest';
import { labels } from '../../../../crds/labels.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import { ownerKey } from '../../../../lib/catalogue/index.ts';
import { KubeError } from '../../../../lib/kube/index.ts';
import { type AgainDeps, createAgainRoutes } from './handler.ts';

const origin: WorkflowExecution = {
  apiVersion: 'windlass.dev/v1',
  kind: 'WorkflowExecution',
  metadata: { name: 'payroll-1', namespace: 'team', uid: 'e1' },
  spec: { workflow: 'w1' },
  status: {
    phase: 'completed',
    finished_at: '2026-01-02T03:04:05Z',
    workflow: { name: 'payroll', namespace: 'team', uid: 'w1', version: '1.0.0', revision: 'r1' },
    history: [{ state: 'end', visit: 1, outcome: 'success', entered_at: '2026-01-02T03:04:05Z' }],
  } as unknown as WorkflowExecution['status'],
};
const paths = ['rerun', 'retry'] as const;

/**
 * The caller that runs the execution again, and the only user of its workflow: a user, no user, or `gone` for a
 * revision that is gone.
 */
async function again(subject: string, owner: string | undefined, path: string, name?: string) {
  const made: string[] = [];
  const deps = {
    kube: {
      create: async (_: unknown, object: WorkflowExecution) => {
        made.push(object.metadata.name);
        return { ...object, metadata: { ...object.metadata, uid: 'e2' } };
      },
      get: async ({ kind }: { kind: string }) => {
        if (kind !== 'ControllerRevision') return origin;
        const facts = { reason: 'NotFound', message: 'gone' };
        if (owner === 'gone') throw new KubeError(404, facts, { verb: 'get', resource: 'x' });
        const marks = owner === undefined ? {} : { [labels.user]: ownerKey(owner) };
        return { metadata: { name: 'r1', namespace: 'team', labels: marks } };
      },
    },
    cluster: { executions: { find: async () => origin, remember: () => undefined } },
    newId: () => '0123456789abcdef',
    audit: { record: () => undefined },
  } as unknown as AgainDeps;
  const route = createAgainRoutes(deps).find(({ contract }) => contract.path.endsWith(path));
  const body = path === 'retry' ? { from: 'end', name } : { name };
  const request = { params: { execution_id: 'e1' }, body, caller: { subject, tenant: 'acme' } };
  const answer = await route?.handle(request as never).catch((error: Error) => error.message);
  return { answer, made };
}

describe.each(paths)('%s', (path) => {
  it("gives 404 for an execution of a colleague's private workflow, and creates nothing", async () => {
    expect(await again('bob', 'ada', path)).toEqual({ answer: 'Workflow not found', made: [] });
  });

  it.each<[string, string, string | undefined]>([
    ["of the caller's own workflow", 'ada', 'ada'],
    ['of a workflow of the tenant', 'bob', undefined],
    ['whose revision is gone, which fails once it begins', 'bob', 'gone'],
  ])('starts an execution %s', async (_title, subject, owner) => {
    const { answer, made } = await again(subject, owner, path);
    expect(answer).toMatchObject({ value: { execution_id: 'e2' } });
    expect(made).toEqual(['payroll-0123456789']);
  });

  it('takes no name of the form that the API gives', async () => {
    const name = 'stimulus-0b9f2c1e-1111-4222-8333-444455556666';
    expect(await again('ada', undefined, path, name)).toEqual({ answer: 'invalid', made: [] });
  });
});
