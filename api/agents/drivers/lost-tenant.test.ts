import { expect, it, vi } from 'vitest';
import { annotations } from '../../../crds/labels.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import type { Tool, ToolAnswer } from '../../../lib/tools/tool.ts';
import { executionOf, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';

const replicas = useReplicas({ areConcurrent: true });

const payTool = (run: () => Promise<ToolAnswer>): Tool => ({
  name: 'pay',
  description: 'pays',
  input_schema: { type: 'object' },
  skip_judge: true,
  idempotent: false,
  fleet_capable: false,
  run: { kind: 'api', run },
});

it.concurrent.each([
  ['has lost its label', undefined],
  ['is that of another tenant', 'globex'],
])(
  'a conversation whose namespace %s waits, and continues once it is back',
  async (_why, other) => {
    const uid = other ?? 'unlabelled';
    const shared = new SharedExecutions();
    const run = vi.fn<() => Promise<ToolAnswer>>(async () => ({ content: '42', isError: false }));
    const asked: string[] = [];
    let isStuck = true;
    const ask = async ({ messages, tenant: by }: ModelRequest): Promise<ModelReply> => {
      asked.push(by);
      const isPaid = messages.some(({ role }) => role === 'tool');
      if (isPaid && isStuck) return new Promise(() => undefined);
      return isPaid ? replyOf('paid') : replyOf('', [['pay', {}]]);
    };
    let tenant: string | undefined = 'acme';
    const tenantOf = vi.fn<() => string | undefined>(() => tenant);
    const options = { shared, ask, tools: [payTool(run)], tenants: { tenantOf } };
    const first = replicas.startFast({ ...options, leaving: { repeatableMs: 50, callsMs: 1_000 } });
    shared.put(executionOf(uid));
    await vi.waitFor(() => expect(asked).toHaveLength(2), { timeout: 20_000 });
    expect(shared.objects.get(uid)?.metadata.annotations?.[annotations.conversation]).toMatch(/^acme\/\d+$/);
    await first.stop();
    isStuck = false;
    tenant = other;
    tenantOf.mockClear();
    replicas.startFast(options);
    await vi.waitFor(() => expect(tenantOf.mock.calls.length).toBeGreaterThan(1), { timeout: 20_000 });
    expect([asked, shared.outcomes]).toEqual([['acme', 'acme'], []]);
    tenant = 'acme';
    await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000 });
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'paid' });
    expect([run.mock.calls.length, asked]).toEqual([1, ['acme', 'acme', 'acme']]);
  },
  60_000,
);

it.concurrent('an execution of a namespace that is no tenant yet begins once it is', { timeout: 60_000 }, async () => {
  const shared = new SharedExecutions();
  const ask = vi.fn<(request: ModelRequest) => Promise<ModelReply>>(async () => replyOf('done'));
  let tenant: string | undefined;
  const tenantOf = vi.fn<() => string | undefined>(() => tenant);
  replicas.startFast({ shared, ask, tenants: { tenantOf } });
  shared.put(executionOf('early'));
  await vi.waitFor(() => expect(tenantOf.mock.calls.length).toBeGreaterThan(1), { timeout: 20_000 });
  expect([ask.mock.calls, shared.outcomes]).toEqual([[], []]);
  tenant = 'late';
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000 });
  expect(ask.mock.calls.map(([request]) => request.tenant)).toEqual(['late']);
});
