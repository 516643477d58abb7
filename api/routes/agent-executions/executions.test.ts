import { describe, expect, it } from 'vitest';
import { annotations } from '../../../crds/labels.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { createValidator } from '../../../crds/validators.ts';
import type { AuditEntry } from '../../../lib/bus/index.ts';
import type { ConversationRecord } from '../../../lib/conversation/record.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import { anAgent } from '../../../test/builders/agent-builder.ts';
import { createLineages, familyOf } from '../../cluster/lineages.ts';
import type { ArchivedAgentExecutions } from '../archived.ts';
import { createAgentExecutionRoutes } from './index.ts';
import { archiveOf } from '../../../test/agents/archive-of.ts';
import { createMemoryFeed } from '../../../test/agents/memory-feed.ts';
import { AgentExecutionView } from './schema.ts';

const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
const agent = anAgent('reviewer', {}, { namespace: 'tenant-acme', uid: idOf(1) });
const execution = (index: number, fields: Partial<AgentExecution> = {}): AgentExecution => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: {
    name: `x${index}`,
    namespace: 'tenant-acme',
    uid: idOf(index),
    resourceVersion: '5',
    creationTimestamp: `2026-01-01T00:00:${String(index).padStart(2, '0')}Z`,
  },
  spec: { agent: idOf(1), input: 'read this' },
  ...fields,
});

interface World {
  readonly agent?: Agent;
  readonly executions?: AgentExecution[];
  readonly refusal?: KubeError;
  readonly records?: readonly ConversationRecord[];
  readonly archived?: ArchivedAgentExecutions;
}

const refused = (status: number, reason: string, message = reason): KubeError =>
  new KubeError(status, { reason, message }, { verb: 'create', resource: 'agentexecutions' });

/** Answers, writes and audit records of the routes. */
function world({ agent: own = agent, executions = [], refusal, records = [], archived = archiveOf() }: World = {}) {
  const there = [...executions];
  const audited: AuditEntry[] = [];
  const deleted: string[] = [];
  const findExecution = async (tenant: string, id: string) =>
    tenant === 'acme' ? there.find(({ metadata }) => [metadata.uid, metadata.name].includes(id)) : undefined;
  const byName = (name: string) => there.findIndex(({ metadata }) => metadata.name === name);
  const kube = {
    async create(_: unknown, object: AgentExecution) {
      if (refusal !== undefined) throw refusal;
      if (byName(object.metadata.name) >= 0) throw refused(409, 'AlreadyExists');
      const made = { ...object, metadata: { ...object.metadata, uid: idOf(70 + there.length) } };
      there.push(made);
      return made;
    },
    list: async () => ({ items: [], metadata: {} }),
    async get(_: unknown, { name }: { name: string }) {
      const found = there[byName(name)];
      if (found === undefined) throw refused(404, 'NotFound');
      return found;
    },
    async jsonPatch(_: unknown, { name }: { name: string }, patch: readonly { path: string; value: never }[]) {
      const known = there[byName(name)] as AgentExecution;
      const cancel = patch.find(({ path }) => path === '/spec/cancel')?.value;
      const next = { ...known, spec: { ...known.spec, ...(cancel !== undefined && { cancel }) } };
      there[byName(name)] = next;
      return next;
    },
    delete: async (_: unknown, { name }: { name: string }) => deleted.push(name) > 0,
  };
  const routes = createAgentExecutionRoutes({
    kube,
    clock: { now: () => Date.parse('2026-01-02T00:00:00Z') },
    newId: () => '0123456789abcdef',
    audit: { record: (entry: AuditEntry) => void audited.push(entry) },
    feed: createMemoryFeed(...records),
    archived,
    cluster: {
      informers: { agentExecutions: { cache: { getByUid: () => undefined }, onChange: () => undefined } },
      tenants: { namespaceOf: (tenant: string) => (tenant === 'none' ? undefined : `tenant-${tenant}`) },
      agents: {
        locate: async (tenant: string, id: string) => (tenant === 'acme' && own.metadata.uid === id ? own : undefined),
      },
      lineages: createLineages({
        agentExecutions: {
          getByUid: (uid) => there.find(({ metadata }) => metadata.uid === uid),
          byIndex: (_: string, root) => there.filter((execution) => familyOf(execution).includes(root)),
        },
        executions: { getByUid: () => undefined, byIndex: () => [] },
      }),
      agentExecutions: {
        find: findExecution,
        locate: findExecution,
        list: (tenant: string) => (tenant === 'acme' ? there : []),
        remember: () => undefined,
      },
    },
  } as never);
  const call = async (
    operation: string,
    request: object,
    tenant = 'acme',
    callingExecution?: string,
  ): Promise<unknown> => {
    const route = routes.find(({ contract }) => contract.operationId === operation);
    const caller = { subject: 'ada', tenant, callingExecution };
    const reserve = async () => undefined;
    try {
      const reply = await route?.handle({ params: {}, query: {}, headers: {}, reserve, ...request, caller } as never);
      return (reply as { value?: unknown } | undefined)?.value;
    } catch (error) {
      return error instanceof HttpError
        ? { error: error.options.error, code: error.options.code, status: error.options.status }
        : error;
    }
  };
  return { call, there, audited, deleted };
}

const body = { agent_id: idOf(1), input: 'read this' };

describe('starting an agent', () => {
  it('EXEC-01 EXEC-02 EXEC-03 makes the execution and answers its id at once', async () => {
    const { call, there, audited } = world();
    const answer = await call('startAgentExecution', { body: { ...body, intent: 'be brief' } });
    expect(answer).toEqual({ execution_id: idOf(70) });
    expect(there).toMatchObject([
      {
        metadata: {
          name: 'reviewer-0123456789',
          namespace: 'tenant-acme',
          annotations: { [annotations.startedBy]: 'ada' },
        },
        spec: { agent: idOf(1), input: 'read this', intent: 'be brief' },
      },
    ]);
    expect(there[0]?.status).toBeUndefined();
    expect(audited).toMatchObject([
      { type: 'AgentExecutionStarted', subject: idOf(70), data: { agent: 'reviewer', agent_id: idOf(1) } },
    ]);
    expect(JSON.stringify(audited)).not.toContain('read this');
  });

  it('marks what an agent starts, and refuses one that is too far down', async () => {
    const { call, there } = world();
    there.push(execution(70));
    await call('startAgentExecution', { body }, 'acme', idOf(70));
    const marks = { [annotations.agentRoot]: idOf(70), [annotations.agentDepth]: '1' };
    expect(there.at(-1)?.metadata.annotations).toMatchObject(marks);
    const deep = execution(80);
    there.push({ ...deep, metadata: { ...deep.metadata, annotations: { ...marks, [annotations.agentDepth]: '3' } } });
    const before = there.length;
    expect(await call('startAgentExecution', { body }, 'acme', idOf(80))).toMatchObject({
      status: 422,
      error: 'agent_depth_exceeded',
    });
    expect(there).toHaveLength(before);
  });

  it.each(['', 'reviewer', `${idOf(1)}0`, idOf(1).slice(1), `{${idOf(1)}}`])(
    'EXEC-04 refuses %j, which is no UUID',
    async (agent_id) => {
      const { call, there } = world();
      expect(await call('startAgentExecution', { body: { ...body, agent_id } })).toMatchObject({
        error: 'Invalid agent ID',
        status: 400,
      });
      expect(there).toEqual([]);
    },
  );

  it('ORCH-AUTH-11 answers 404 for an agent that is unknown, and the same for one of another tenant', async () => {
    const { call } = world();
    const unknown = await call('startAgentExecution', { body: { ...body, agent_id: idOf(9) } });
    expect(unknown).toMatchObject({ error: 'Agent not found', code: 'not_found' });
    expect(await call('startAgentExecution', { body }, 'other')).toEqual(unknown);
  });

  it('answers 404 for a version that the agent does not have, and starts those that it has', async () => {
    const { call, there } = world();
    const unknown = { body: { ...body, version: '9.9.9' } };
    expect(await call('startAgentExecution', unknown)).toMatchObject({ error: 'Version not found', code: 'not_found' });
    expect(there).toEqual([]);
    for (const version of [agent.spec.version, '0.9.0']) {
      const versions = [{ version: '0.9.0', registered_at: '2026-01-01T00:00:00Z', revision: 'r' }];
      const stored = world({ agent: { ...agent, status: { versions } } });
      const answer = await stored.call('startAgentExecution', { body: { ...body, version } });
      expect(answer).toEqual({ execution_id: idOf(70) });
    }
  });

  it.each([
    ['a quota', refused(403, 'Forbidden', 'exceeded quota: runs'), /exceeded quota: runs/],
    [
      'a fault of the server',
      refused(500, 'InternalError', 'secret of etcd'),
      /^the execution failed to start; try again$/,
    ],
  ])('EXEC-05 answers 500 with a sentence for %s', async (_title, refusal, sentence) => {
    const { call } = world({ refusal });
    expect(await call('startAgentExecution', { body })).toMatchObject({
      status: 500,
      error: expect.stringMatching(sentence),
    });
  });

  it.each([
    'status unknown for quota: windlass',
    'x is forbidden: User "api" cannot create resource "x" in API group "windlass.dev" in the namespace "tenant-acme"',
  ])('asks to try again where the tenant is so new that the cluster answers: %s', async (message) => {
    const { call } = world({ refusal: refused(403, 'Forbidden', message) });
    expect(await call('startAgentExecution', { body })).toEqual({ code: 'unavailable' });
  });

  it('EXEC-03 answers 409 for an agent that is being deleted, whatever finalizer keeps it, and makes nothing', async () => {
    const metadata = { ...agent.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    const { call, there } = world({ agent: { ...agent, metadata } });
    expect(await call('startAgentExecution', { body })).toMatchObject({ code: 'conflict' });
    expect(there).toEqual([]);
  });

  it('EXEC-05 answers 500 for a definition that was refused', async () => {
    const condition = { type: 'Ready', status: 'False', reason: 'InvalidDefinition', message: 'spec: wrong' } as const;
    const conditions = [{ ...condition, observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const { call, there } = world({ agent: { ...agent, status: { conditions } } });
    expect(await call('startAgentExecution', { body })).toMatchObject({
      status: 500,
      error: 'agent reviewer cannot run: InvalidDefinition: spec: wrong',
    });
    expect(there).toEqual([]);
  });

  it('makes one execution of a request that is sent again under its key, and refuses another request', async () => {
    const { call, there } = world();
    const headers = { 'idempotency-key': 'k' };
    const first = await call('startAgentExecution', { body, headers });
    expect(await call('startAgentExecution', { body, headers })).toEqual(first);
    expect(there).toHaveLength(1);
    const other = { body: { ...body, input: 'another' }, headers };
    expect(await call('startAgentExecution', other)).toMatchObject({ error: 'idempotency_key_reused' });
  });
});

describe('executions of agents', () => {
  const status = {
    phase: 'completed',
    agent: { name: 'reviewer', namespace: 'tenant-acme', uid: idOf(1), version: '1.0.0', revision: 'r' },
    finished_at: '2026-01-01T00:01:00.000Z',
  } as const;
  const result = { phase: 'completed', output: 'fine', iterations: 2, at: '2026-01-01T00:01:00.000Z' } as const;
  const done = execution(12, { spec: { agent: idOf(1), input: 'i', result }, status });

  it('are listed in pages, the newest first, without their texts', async () => {
    const { call } = world({ executions: [execution(10), execution(11), done] });
    const first = (await call('listAgentExecutions', { query: { limit: 2 } })) as {
      executions: { name: string }[];
      next_cursor: string;
    };
    expect(first.executions.map(({ name }) => name)).toEqual(['x12', 'x11']);
    expect(JSON.stringify(first)).not.toContain('read this');
    const query = { limit: 2, cursor: first.next_cursor };
    expect(await call('listAgentExecutions', { query })).toMatchObject({
      executions: [{ name: 'x10', status: 'pending', agent_id: idOf(1) }],
      next_cursor: null,
    });
  });

  it.each([
    [{ status: 'completed' }, ['x12']],
    [{ status: 'pending' }, ['x10']],
    [{ agent: 'reviewer' }, ['x12']],
    [{ agent: idOf(1) }, ['x12', 'x10']],
    [{ agent: 'other' }, []],
  ])('are listed by %j', async (filter, names) => {
    const { call } = world({ executions: [execution(10), done] });
    const { executions } = (await call('listAgentExecutions', { query: { limit: 50, ...filter } })) as {
      executions: { name: string }[];
    };
    expect(executions.map(({ name }) => name)).toEqual(names);
  });

  it('are read with input and outcome, as the contract says', async () => {
    const { call } = world({ executions: [done] });
    const view = await call('readAgentExecution', { params: { execution_id: idOf(12) } });
    expect(view).toMatchObject({ agent: 'reviewer', status: 'completed', input: 'i', output: 'fine', iterations: 2 });
    expect(createValidator(AgentExecutionView)(view)).toEqual([]);
  });

  it('have their conversation as a transcript, page by page', async () => {
    const asked = (call: number): ConversationRecord => ({ at: '', kind: 'model_asked', iteration: 1, call });
    const records = [asked(1), asked(2), { at: '', kind: 'ended', result } as const];
    const { call } = world({ executions: [done], records });
    const page = (cursor?: string) =>
      call('readAgentTranscript', { params: { execution_id: 'x12' }, query: { cursor } });
    expect(await page()).toMatchObject({ records: [{ kind: 'model_asked', call: 1 }, { call: 2 }], next_cursor: '6' });
    expect(await page('6')).toMatchObject({ records: [{ kind: 'ended', sequence: 9 }], next_cursor: null });
  });

  it('AMB-174 are read from the archive once they are gone: with their texts, their transcript, and in a list', async () => {
    const asked: ConversationRecord = { at: '', kind: 'model_asked', iteration: 1, call: 1 };
    const archived = archiveOf(done, [asked, { at: '', kind: 'ended', result }]);
    const there = world({ executions: [done] });
    const gone = world({ archived });
    for (const id of ['x12', idOf(12)]) {
      const request = { params: { execution_id: id } };
      const before = (await there.call('readAgentExecution', request)) as object;
      expect(await gone.call('readAgentExecution', request)).toEqual({ ...before, archived: true });
      expect(await gone.call('readAgentTranscript', request)).toMatchObject({
        records: [{ sequence: 3, kind: 'model_asked' }, { kind: 'ended' }],
        next_cursor: null,
      });
    }
    const list = (query: object) => gone.call('listAgentExecutions', { query: { limit: 10, ...query } });
    expect(await list({ archived: true })).toMatchObject({
      executions: [{ execution_id: idOf(12), name: 'x12', status: 'completed', archived: true }],
      next_cursor: null,
    });
    expect(await list({ archived: true, status: 'failed' })).toMatchObject({ executions: [] });
    expect(await list({ archived: false })).toMatchObject({ executions: [] });
    expect(await gone.call('readAgentExecution', { params: { execution_id: 'x12' } }, 'other')).toMatchObject({
      error: 'Execution not found',
    });
  });

  it('ORCH-AUTH-11 of another tenant are not found, whatever is asked', async () => {
    const { call, deleted } = world({ executions: [done] });
    for (const operation of [
      'readAgentExecution',
      'readAgentTranscript',
      'cancelAgentExecution',
      'deleteAgentExecution',
    ]) {
      const answer = await call(operation, { params: { execution_id: idOf(12) } }, 'other');
      expect(answer).toMatchObject({ error: 'Execution not found' });
    }
    expect(deleted).toEqual([]);
  });

  it('are cancelled once, by the first caller', async () => {
    const { call, there, audited } = world({ executions: [execution(10)] });
    const cancel = (reason: string) =>
      call('cancelAgentExecution', { params: { execution_id: 'x10' }, body: { reason } });
    const by = { status: 'cancelling', by: 'ada', at: '2026-01-02T00:00:00.000Z' };
    expect(await cancel('first')).toEqual(by);
    expect(await cancel('second')).toEqual(by);
    expect(there[0]?.spec.cancel).toMatchObject({ by: 'ada', reason: 'first', via: 'api' });
    expect(audited.map(({ type }) => type)).toContain('AgentExecutionCancelled');
  });

  it('that have ended cannot be cancelled', async () => {
    const { call } = world({ executions: [done] });
    expect(await call('cancelAgentExecution', { params: { execution_id: 'x12' } })).toMatchObject({ code: 'conflict' });
  });

  it('say that they are being deleted where a finalizer of others keeps them', async () => {
    const metadata = {
      ...done.metadata,
      finalizers: ['mallory.example/keep'],
      deletionTimestamp: '2026-01-01T00:00:00Z',
    };
    const { call } = world({ executions: [{ ...done, metadata }] });
    const params = { execution_id: 'x12' };
    expect(await call('deleteAgentExecution', { params })).toEqual({ status: 'deleting' });
    expect(await call('readAgentExecution', { params })).toMatchObject({ deleting: true });
  });

  it('are deleted, with an audit record', async () => {
    const { call, deleted, audited } = world({ executions: [done] });
    const answer = await call('deleteAgentExecution', { params: { execution_id: 'x12' } });
    expect([answer, deleted]).toEqual([{ status: 'deleted' }, ['x12']]);
    expect(audited).toMatchObject([{ type: 'AgentExecutionDeleted', subject: idOf(12) }]);
  });
});
