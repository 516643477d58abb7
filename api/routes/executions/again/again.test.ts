import { describe, expect, it } from 'vitest';
import { labels } from '../../../../crds/labels.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import { ownerKey } from '../../../../lib/workflow-lookup/index.ts';
import { KubeError } from '../../../../lib/kube/index.ts';
import { anEnd, aWorkflow } from '../../../../test/builders/workflow-builder.ts';
import { type AgainDeps, createAgainRoutes } from './index.ts';

const origin: WorkflowExecution = {
  apiVersion: 'windlass.dev/v1',
  kind: 'WorkflowExecution',
  metadata: { name: 'payroll-1', namespace: 'team', uid: 'e1' },
  spec: { workflow: 'w1', input: { month: 'May' }, intent: 'pay', blackboard: { owner: 'ada' } },
  status: {
    phase: 'completed',
    finished_at: '2026-01-02T03:04:05Z',
    workflow: { name: 'payroll', namespace: 'team', uid: 'w1', version: '1.0.0', revision: 'r1' },
    history: [{ state: 'end', visit: 1, outcome: 'success', entered_at: '2026-01-02T03:04:05Z' }],
  } as unknown as WorkflowExecution['status'],
};
const payroll = (() => {
  const input_schema = { type: 'object', properties: { month: { type: 'string' } } };
  const built = aWorkflow('payroll').with({ input_schema }).state('end', anEnd()).build();
  return { ...built, metadata: { ...built.metadata, namespace: 'team', uid: 'w1', generation: 1 } };
})();
const workflows = { locate: async () => payroll, whole: async () => payroll };
const paths = ['rerun', 'retry'] as const;

interface Asked {
  readonly name?: string;
  readonly input?: unknown;
}

/**
 * The caller that runs the execution again, and the only user of its workflow: a user, no user, or `gone` for a
 * revision that is gone.
 */
async function again(subject: string, owner: string | undefined, path: string, { name, input }: Asked = {}) {
  const made: WorkflowExecution[] = [];
  const deps = {
    kube: {
      create: async (_: unknown, object: WorkflowExecution) => {
        made.push(object);
        return { ...object, metadata: { ...object.metadata, uid: 'e2' } };
      },
      get: async ({ kind }: { kind: string }) => {
        if (kind === 'Workflow') return payroll;
        if (kind !== 'ControllerRevision') return origin;
        const facts = { reason: 'NotFound', message: 'gone' };
        if (owner === 'gone') throw new KubeError(404, facts, { verb: 'get', resource: 'x' });
        const marks = owner === undefined ? {} : { [labels.user]: ownerKey(owner) };
        return { metadata: { name: 'r1', namespace: 'team', labels: marks } };
      },
    },
    cluster: { executions: { find: async () => origin, remember: () => undefined }, workflows },
    newId: () => '0123456789abcdef',
    audit: { record: () => undefined },
  } as unknown as AgainDeps;
  const route = createAgainRoutes(deps).find(({ contract }) => contract.path.endsWith(path));
  const body = path === 'retry' ? { from: 'end', name } : { name, input };
  const request = { params: { execution_id: 'e1' }, body, caller: { subject, tenant: 'acme' } };
  const answer = await route?.handle(request as never).catch((error: Error) => error.message);
  return { answer, made: made.map(({ metadata }) => metadata.name), spec: made[0]?.spec };
}

describe.each(paths)('%s', (path) => {
  it("gives 404 for an execution of a colleague's private workflow, and creates nothing", async () => {
    expect(await again('bob', 'ada', path)).toMatchObject({ answer: 'Workflow not found', made: [] });
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
    expect(await again('ada', undefined, path, { name })).toMatchObject({ answer: 'invalid', made: [] });
  });
});

describe('a rerun with another input', () => {
  it('starts the same version with the intent and pairs of the execution, and names no origin', async () => {
    const { spec } = await again('ada', undefined, 'rerun', { input: { month: 'June' } });
    expect(spec).toEqual({
      workflow: 'w1',
      version: '1.0.0',
      input: { month: 'June' },
      intent: 'pay',
      blackboard: { owner: 'ada' },
    });
  });

  it('without one has the input and the origin of the execution', async () => {
    const { spec } = await again('ada', undefined, 'rerun');
    expect(spec).toMatchObject({ input: { month: 'May' }, origin: { name: 'payroll-1', uid: 'e1' } });
  });

  it('that the version does not take is refused with the failing path', async () => {
    const refused = await again('ada', undefined, 'rerun', { input: { month: 6 } });
    expect(refused).toMatchObject({ answer: 'input.month must be string, not number', made: [] });
  });

  it("gives 404 for an execution of a colleague's private workflow, and creates nothing", async () => {
    const refused = await again('bob', 'ada', 'rerun', { input: { month: 'June' } });
    expect(refused).toMatchObject({ answer: 'Workflow not found', made: [] });
  });
});
