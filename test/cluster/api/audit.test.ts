import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toManifest } from '../../../lib/manifest/index.ts';
import { anEnd, aQuestion, aWorkflow } from '../../builders/workflow-builder.ts';
import { eventsOf } from '../../nats/installed-nats.ts';
import { pause } from '../harness/wait.ts';
import { type ApiWorld, type Received, startApiWorld } from './harness/index.ts';

/** Audit events of the API, through two replicas and a real bus. */
let world: ApiWorld;
let anna: string;
let op: string;

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'api-audit', replicas: 2 });
  anna = await world.token({ user: 'anna', tenant: world.tenant });
  op = await world.token({ user: 'op', tenant: world.tenant, roles: ['svc:operator'] });
});
afterAll(() => world?.close());

interface AuditEvent {
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

async function auditEvents(): Promise<AuditEvent[]> {
  const nats = world.nats;
  if (nats === undefined) throw new Error('the world has no bus');
  return (await eventsOf(nats, 'WINDLASS_AUDIT', `windlass.audit.${world.tenant}`)) as unknown as AuditEvent[];
}

/** Events that were raised are stored within moments; what is not there then was not raised. */
async function auditEventsOf(subject: string, count: number): Promise<AuditEvent[]> {
  for (let i = 0; i < 50; i += 1) {
    const found = (await auditEvents()).filter((event) => event.subject === subject);
    if (found.length >= count) break;
    await pause(100);
  }
  await pause(200);
  return (await auditEvents()).filter((event) => event.subject === subject);
}

const gate = { yes: 'done', no: 'done' };
/** JSON is YAML. */
const manifest = (name: string): string =>
  JSON.stringify(toManifest(aWorkflow(name).state('ask', aQuestion('Go on?', gate)).state('done', anEnd()).build()));

function answered<T>(answer: Received): T {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.json<T>();
}

async function register(name: string, token = anna): Promise<string> {
  const headers = { 'content-type': 'application/yaml' };
  const answer = await world.http('/v1/workflows/register', { token, headers, body: manifest(name) });
  return answered<{ workflow_id: string }>(answer).workflow_id;
}

const post = async <T>(path: string, body: unknown, token = anna, replica = 0): Promise<T> =>
  answered<T>(await world.http(path, { method: 'POST', token, body }, replica));

const start = async (workflow: string): Promise<string> =>
  (await post<{ execution_id: string }>('/v1/workflows/executions', { workflow, input: { secret: 'hush' } }))
    .execution_id;

describe('the audit stream', () => {
  it('tells who registered a workflow, once, and who deleted it', async () => {
    const id = await register('audit-registered');
    expect(await register('audit-registered')).toBe(id);
    const { status } = await world.http(`/v1/workflows/${id}`, { method: 'DELETE', token: anna });
    expect(status).toBe(200);
    expect(await auditEventsOf(id, 2)).toMatchObject([
      { type: 'WorkflowRegistered', data: { actor: 'anna', workflow: 'audit-registered', version: '1.0.0' } },
      { type: 'WorkflowDeleted', data: { actor: 'anna', workflow: 'audit-registered' } },
    ]);
  });

  it('tells who started an execution and who cancelled it, of two who did the first', async () => {
    await register('audit-run');
    const id = await start('audit-run');
    await post(`/v1/workflows/executions/${id}/cancel`, {}, anna, 0);
    await post(`/v1/workflows/executions/${id}/cancel`, {}, op, 1);
    const events = await auditEventsOf(id, 2);
    expect(events).toMatchObject([
      { type: 'ExecutionStarted', data: { actor: 'anna', workflow: 'audit-run' } },
      { type: 'ExecutionCancelled', data: { actor: 'anna' } },
    ]);
    expect(events).toHaveLength(2);
    expect(JSON.stringify(events)).not.toContain('hush');
  });

  it('tells the same start under one key once', async () => {
    await register('audit-key');
    const headers = { 'idempotency-key': `audit-${world.tenant}` };
    const body = { workflow: 'audit-key' };
    const ids = await Promise.all(
      [0, 1, 0, 1].map(async (replica) => {
        const answer = await world.http('/v1/workflows/executions', { token: anna, headers, body }, replica);
        return answer.json<{ execution_id: string }>().execution_id;
      }),
    );
    expect(new Set(ids).size).toBe(1);
    expect(await auditEventsOf(ids[0] ?? '', 1)).toHaveLength(1);
  });

  it('tells who decided, of a hundred who tried the one, and without his words', async () => {
    await register('audit-decided');
    const id = await start('audit-decided');
    let request: string | undefined;
    for (let i = 0; i < 100 && request === undefined; i += 1) {
      const { pending_requests: pending } = (await world.http('/v1/human-approvals', { token: anna })).json<{
        pending_requests: { id: string; execution_id: string }[];
      }>();
      request = pending.find((one) => one.execution_id === id)?.id;
      if (request === undefined) await pause(100);
    }
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        world.http(
          `/v1/human-approvals/${request}/${i % 2 === 0 ? 'approve' : 'reject'}`,
          {
            method: 'POST',
            token: i % 3 === 0 ? op : anna,
            body: i % 2 === 0 ? { feedback: 'hush' } : { reason: 'hush' },
          },
          i % 2,
        ),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const events = await auditEventsOf(id, 2);
    expect(events.map(({ type }) => type).filter((type) => type.startsWith('HumanApproval'))).toHaveLength(1);
    expect(events.at(-1)?.data).toMatchObject({ request_id: request });
    expect(JSON.stringify(events)).not.toContain('hush');
  });

  it('tells who moved a workflow to another scope and back, and nothing of a move that was done already', async () => {
    const name = `audit-moved-${world.tenant}`;
    const first = await register(name, op);
    interface Moved {
      readonly workflow_id: string;
    }
    const { workflow_id: global } = await post<Moved>(`/v1/workflows/${name}/promote`, undefined, op);
    await post<Moved>(`/v1/workflows/${global}/promote`, undefined, op, 1);
    const { workflow_id: back } = await post<Moved>(`/v1/workflows/${global}/demote`, undefined, op);
    expect(await auditEventsOf(global, 1)).toMatchObject([
      { type: 'WorkflowPromoted', data: { actor: 'op', workflow: name, scope: 'global', former_workflow_id: first } },
    ]);
    expect(await auditEventsOf(back, 1)).toMatchObject([
      { type: 'WorkflowDemoted', data: { actor: 'op', workflow: name, scope: 'tenant', former_workflow_id: global } },
    ]);
  });
});
