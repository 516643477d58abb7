import { describe, expect, it } from 'vitest';
import type { AgentExecution, AgentSignal } from '../../../crds/schema/agent-execution.ts';
import { slimAgentExecution } from '../../../lib/agent/slim-agent-execution.ts';
import type { AuditEntry } from '../../../lib/bus/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { createHumanApprovalRoutes } from './index.ts';

const clock = createManualClock();
const time = (seconds: number): string => new Date(clock.now() + seconds * 1_000).toISOString();
const id = '6c0a3c52-8a52-5a8e-9c0e-6d7d6a0c9f11';
const longArguments = JSON.stringify({ command: 'x'.repeat(2_000) });
const ask = { id, tool: 'cmd.run', arguments: longArguments, asked_at: time(-60), until: time(540) };

const asking = (spec: Partial<AgentExecution['spec']> = {}): AgentExecution => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: {
    name: 'run',
    namespace: 'tenant-acme',
    uid: '00000000-0000-4000-8000-00000000000a',
    resourceVersion: '7',
  },
  spec: { agent: 'keeper', ask, ...spec },
  status: { phase: 'waiting' },
});

/** A server that has one execution, of tenant acme, and a cache that has it without its texts. */
function world(execution: AgentExecution, isCached = true) {
  let stored: AgentExecution | undefined = execution;
  const audited: AuditEntry[] = [];
  const refused = (status: number, reason: string) => new KubeError(status, { reason }, { verb: 'x', resource: 'y' });
  const find = (tenant: string, wanted: string) =>
    tenant === 'acme' && wanted === id ? slimAgentExecution(execution) : undefined;
  const routes = createHumanApprovalRoutes({
    clock,
    gate: async () => undefined,
    outputs: undefined,
    kube: {
      async get() {
        if (stored === undefined) throw refused(404, 'NotFound');
        return stored;
      },
      async mergePatch(_resource: unknown, _ref: unknown, patch: AgentExecution) {
        if (patch.metadata.resourceVersion !== stored?.metadata.resourceVersion) throw refused(409, 'Conflict');
        const metadata = {
          ...stored?.metadata,
          name: 'run',
          resourceVersion: `${Number(stored?.metadata.resourceVersion) + 1}`,
        };
        stored = { ...execution, metadata, spec: { ...execution.spec, ...stored?.spec, ...patch.spec } };
        return stored;
      },
    },
    audit: { record: (entry: AuditEntry) => void audited.push(entry) },
    cluster: {
      executions: { asking: async () => undefined, listAsking: () => [] },
      agentAsks: {
        known: (tenant: string, wanted: string) => (isCached ? find(tenant, wanted) : undefined),
        find: async (tenant: string, wanted: string) => find(tenant, wanted),
        list: () => [],
      },
      agentExecutions: { remember: () => undefined },
    },
  } as never);
  const call = async (operation: string, body: object = {}, caller: object = {}): Promise<unknown> => {
    const route = routes.find(({ contract }) => contract.operationId === operation);
    const request = { params: { id: id.toUpperCase() }, body, caller: { subject: 'ada', tenant: 'acme', ...caller } };
    try {
      return ((await route?.handle(request as never)) as { value?: unknown } | undefined)?.value;
    } catch (error) {
      if (error instanceof HttpError) return error.options.error;
      return error instanceof AppError ? `${error.code}: ${error.message}` : error;
    }
  };
  return {
    call,
    audited,
    signals: (): readonly AgentSignal[] => stored?.spec.signals ?? [],
    isGone: (): void => void (stored = undefined),
  };
}

const goneText = 'Request not found or already completed';

describe('a tool call that waits, over HTTP', () => {
  it.each([true, false])('is read with its arguments in full, known to the cache: %s', async (isCached) => {
    const { call } = world(asking(), isCached);
    expect(await call('readHumanApproval')).toEqual({
      request: {
        id,
        execution_id: '00000000-0000-4000-8000-00000000000a',
        prompt: `Agent keeper asks to call cmd.run with ${longArguments}`,
        created_at: ask.asked_at,
        timeout_seconds: 600,
      },
    });
  });

  it('is approved in the name of the token, whatever the client says, and that is audited', async () => {
    const { call, audited, signals } = world(asking());
    expect(await call('approveHumanApproval', { approved_by: 'root' })).toEqual({ status: 'approved' });
    expect(signals()).toEqual([{ id, response: 'approved', by: 'ada', via: 'api', note: 'root', at: time(0) }]);
    expect(audited).toMatchObject([{ type: 'HumanApprovalApproved', act: id, by: { subject: 'ada' } }]);
  });

  it('is rejected with a reason', async () => {
    const { call, audited, signals } = world(asking());
    expect(await call('rejectHumanApproval', { reason: 'too broad' })).toEqual({ status: 'rejected' });
    expect(signals()).toMatchObject([{ response: 'rejected', feedback: 'too broad' }]);
    expect(audited).toMatchObject([{ type: 'HumanApprovalRejected' }]);
  });

  it('is answered once; who repeats the own answer is audited under the same act', async () => {
    const { call, audited, signals } = world(asking());
    await call('approveHumanApproval');
    expect(await call('approveHumanApproval')).toBe(goneText);
    expect(await call('rejectHumanApproval', { reason: 'late' }, { subject: 'bob' })).toBe(goneText);
    expect(await call('readHumanApproval')).toEqual({ error: goneText });
    expect(signals()).toHaveLength(1);
    expect(audited.map(({ type, act }) => [type, act])).toEqual([
      ['HumanApprovalApproved', id],
      ['HumanApprovalApproved', id],
    ]);
  });

  it.each<[string, Partial<AgentExecution['spec']>]>([
    ['out of time', { ask: { ...ask, until: time(0) } }],
    ['of a cancelled execution', { cancel: { by: 'ada', at: time(0) } }],
    ['of one that has its outcome', { result: { phase: 'completed', at: time(0) } }],
    ['replaced by another', { ask: { ...ask, id: '00000000-0000-4000-8000-00000000000b' } }],
  ])('is not there any more when it is %s', async (_title, spec) => {
    const { call, signals } = world(asking(spec));
    expect(await call('approveHumanApproval')).toBe(goneText);
    expect(await call('readHumanApproval')).toEqual({ error: goneText });
    expect(signals()).toEqual([]);
  });

  it('is not there for another tenant, nor once the execution is gone', async () => {
    const there = world(asking());
    expect(await there.call('approveHumanApproval', {}, { tenant: 'other' })).toBe(goneText);
    expect(await there.call('readHumanApproval', {}, { tenant: 'other' })).toEqual({ error: goneText });
    there.isGone();
    expect(await there.call('approveHumanApproval')).toBe(goneText);
  });

  it('takes no reason of more than 8,192 characters, and says so', async () => {
    const { call, signals } = world(asking());
    expect(await call('rejectHumanApproval', { reason: 'x'.repeat(8_193) })).toMatch(/^invalid: .*8192 characters/);
    expect(signals()).toEqual([]);
    expect(await call('rejectHumanApproval', { reason: 'x'.repeat(8_192) })).toEqual({ status: 'rejected' });
  });
});
