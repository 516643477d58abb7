import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { systemClock } from '../../../lib/clock.ts';
import { approvalId } from '../../../lib/decision/approval-id.ts';
import { createHttpApp, type Listener, listen } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { newId } from '../../../lib/ids.ts';
import { after, anExecution, begin } from '../../../test/builders/execution-builder.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { ApprovalRequest } from './contract.ts';
import { createListRoute, type ReadDeps } from './read.ts';

let asking: WorkflowExecution[] = [];
let calls: AgentExecution[] = [];
let server: Listener;

beforeAll(async () => {
  const ada: Caller = {
    subject: 'ada',
    kind: 'consumer',
    tenant: 'acme',
    roles: [],
    scopes: [],
    until: Number.POSITIVE_INFINITY,
  };
  const deps = {
    clock: { now: () => begin },
    cluster: { executions: { listAsking: () => asking }, agentAsks: { list: () => calls } },
  } as unknown as ReadDeps;
  const app = createHttpApp<Caller>({
    routes: [createListRoute(deps)],
    authenticate: async () => ada,
    tenantOf: ({ tenant }) => tenant,
    logger: silentLogger,
    clock: systemClock,
    newId,
  });
  server = await listen(app, { port: 0, host: '127.0.0.1' });
});
afterAll(() => server.close(AbortSignal.abort()));

/** The n-th asks since that second. */
function asks(number: number, second: number): WorkflowExecution {
  const execution = anExecution().now({ state: 'ask', kind: 'Human', prompt: `${number}`, entered_at: after(second) });
  const { metadata, ...rest } = execution.build();
  const uid = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  return { ...rest, metadata: { ...metadata, uid } };
}

const some = (count: number): WorkflowExecution[] =>
  Array.from({ length: count }, (_, index) => asks(index, Math.floor(index / 3)));

interface List {
  readonly pending_requests: readonly ApprovalRequest[];
  readonly next_cursor?: string;
}

async function list(query = ''): Promise<{ status: number; body: List }> {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/human-approvals${query}`, {
    headers: { authorization: 'Bearer x' },
  });
  return { status: response.status, body: (await response.json()) as List };
}

const { properties: requestFields } = ApprovalRequest;

const prompts = ({ pending_requests: requests }: List): number[] => requests.map(({ prompt }) => Number(prompt));

describe('the list of what waits for a decision', () => {
  it('HUMAN-API-06 is one page in the form of the specification, the oldest first', async () => {
    asking = [asks(2, 9), asks(1, 5)];
    const { body } = await list();
    expect(Object.keys(body)).toEqual(['pending_requests']);
    expect(prompts(body)).toEqual([1, 2]);
  });

  it.each([
    [199, '', 199, false],
    [200, '', 200, false],
    [201, '', 200, true],
    [201, '?limit=201', 200, true],
    [4, '?limit=5', 4, false],
    [5, '?limit=5', 5, false],
    [6, '?limit=5', 5, true],
  ])('HUMAN-API-06 of %i requests, asked with %j, has %i, and more behind: %s', async (count, query, want, more) => {
    asking = some(count);
    const { body } = await list(query);
    expect(body.pending_requests).toHaveLength(want);
    expect(body.next_cursor !== undefined).toBe(more);
  });

  it('HUMAN-API-06 shows each once over its pages, whatever is decided in between', async () => {
    asking = some(9);
    const first = await list('?limit=4');
    const ids = first.body.pending_requests.map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
    // Two of the page that was shown, one of them its last, are decided.
    const shown = new Set(first.body.pending_requests.slice(2).map(({ execution_id }) => execution_id));
    asking = asking.filter(({ metadata }) => !shown.has(metadata.uid ?? ''));
    const second = await list(`?limit=9&cursor=${first.body.next_cursor}`);
    expect(second.body.pending_requests.map(({ id }) => id)).not.toEqual(expect.arrayContaining([ids[0]]));
    expect([...prompts(first.body), ...prompts(second.body)].toSorted((a, b) => a - b)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8,
    ]);
    expect(second.body.next_cursor).toBeUndefined();
  });

  it('shows the beginning of a long prompt, says how long it is, and reads none from the store', async () => {
    const [execution] = [asks(1, 0)];
    const ref = { path: '', ref: 'a'.repeat(64), bytes: 4_194_304, encoding: 'text' as const };
    const current = { state: 'ask', kind: 'Human' as const, visit: 1, entered_at: after(0) };
    const asked = { ...current, prompt: 'Deploy web? … (4194302 characters)', prompt_ref: ref };
    asking = Array(200).fill({ ...execution, status: { ...execution.status, current: asked } });
    const { body } = await list();
    expect(body.pending_requests).toHaveLength(200);
    expect(body.pending_requests[0]).toMatchObject({
      prompt: 'Deploy web? … (4194302 characters)',
      prompt_truncated: true,
      prompt_bytes: 4_194_304,
    });
    asking = [asks(1, 0)];
    expect(Object.keys((await list()).body.pending_requests[0] ?? {})).toEqual(Object.keys(requestFields));
  });

  it('has tool calls of agents among the states, by their age, in the same form', async () => {
    asking = [asks(1, 5), asks(2, 15)];
    const ask = {
      id: approvalId('a-1', { state: 'call_1_0', visit: 1 }),
      tool: 'cmd.run',
      arguments: '{"command":"rm"}',
    };
    const metadata = { name: 'run-1', namespace: 'tenant-acme', uid: '00000000-0000-4000-8000-00000000000a' };
    const spec = { agent: 'keeper', ask: { ...ask, asked_at: after(10), until: after(70) } };
    calls = [{ apiVersion: 'windlass.dev/v1', kind: 'AgentExecution', metadata, spec }];
    const { body } = await list();
    expect(body.pending_requests.map(({ prompt }) => prompt)).toEqual([
      '1',
      'Agent keeper asks to call cmd.run with {"command":"rm"}',
      '2',
    ]);
    expect(body.pending_requests[1]).toEqual({
      id: ask.id,
      execution_id: metadata.uid,
      prompt: 'Agent keeper asks to call cmd.run with {"command":"rm"}',
      created_at: after(10),
      timeout_seconds: 60,
    });
    calls = [];
  });

  it.each(['?limit=0', '?limit=-1', '?limit=x', '?cursor=x', '?cursor=', '?page=2'])('is 400 for %s', async (query) => {
    expect(await list(query)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
});
