import { Type } from 'typebox';
import { beforeEach, describe, expect, it } from 'vitest';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import { AppError } from '../../lib/errors.ts';
import { defineContract } from '../../lib/http/contract.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { defineRoute, json, type Route } from '../../lib/http/route.ts';
import type { Caller } from '../../lib/identity/caller.ts';
import { createManualClock } from '../../lib/manual-clock.ts';
import type { ToolAnswer, ToolArguments } from '../../lib/tools/tool.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import { contracts } from '../routes/contracts.ts';
import { type Asked, createOperations } from './operations.ts';
import { createServiceTools } from './service-tools.ts';

interface Call extends Asked {
  readonly operationId: string;
}

let calls: Call[];
let give: (call: Call) => unknown;
const clock = createManualClock();
const uid = '3f2b8c1e-0000-4000-8000-000000000001';

const tools = createServiceTools({
  clock,
  operations: {
    call: async (operationId, _caller, asked) => {
      calls.push({ operationId, ...asked });
      return give({ operationId, ...asked });
    },
  },
  runtimes: [
    { language: 'python', version: '3.13', image: 'python:3.13' },
    { language: 'node', version: '24', image: 'node:24' },
  ],
  agentIdOf: async (tenant, name) => (tenant === 'acme' && name === 'coder' ? uid : undefined),
  offered: () => ['fs.read', 'fs.write', 'svc.tools.list'],
});

beforeEach(() => {
  calls = [];
  give = () => ({ ok: true });
});

async function run(name: string, args: ToolArguments = {}, signal = new AbortController().signal): Promise<ToolAnswer> {
  const tool = tools[name];
  if (tool?.kind !== 'api') throw new Error(`${name} does not run in the API`);
  return tool.run(aToolCaller(), args, signal);
}
const valueOf = async (answered: Promise<ToolAnswer>): Promise<unknown> => JSON.parse((await answered).content);

describe('a tool that is one operation', () => {
  const id = { execution_id: uid };
  it.each<[string, ToolArguments, Call]>([
    ['svc.agent.list', {}, { operationId: 'listAgents', query: { limit: 50 } }],
    ['svc.agent.export', { name: 'coder' }, { operationId: 'readAgent', params: { agent: 'coder' } }],
    [
      'svc.task.list',
      { agent_id: 'coder', limit: 3 },
      { operationId: 'listAgentExecutions', query: { limit: 3, agent: 'coder' } },
    ],
    ['svc.task.status', id, { operationId: 'readAgentExecution', params: id }],
    ['svc.task.logs', id, { operationId: 'readAgentTranscript', params: id }],
    [
      'svc.task.cancel',
      { ...id, reason: 'late' },
      { operationId: 'cancelAgentExecution', params: id, body: { reason: 'late' } },
    ],
    ['svc.workflow.list', { limit: 1 }, { operationId: 'listWorkflows', query: { limit: 1 } }],
    ['svc.workflow.export', { name: 'build' }, { operationId: 'readWorkflow', params: { workflow: 'build' } }],
    [
      'svc.workflow.run',
      { name: 'build', input: { n: 1 } },
      { operationId: 'startExecution', body: { workflow: 'build', input: { n: 1 } } },
    ],
    [
      'svc.workflow.run',
      { name: 'build', version: '1.0.0', input: null },
      { operationId: 'startExecution', body: { workflow: 'build', version: '1.0.0' } },
    ],
    ['svc.workflow.executions.list', {}, { operationId: 'listExecutions', query: { limit: 50 } }],
    ['svc.workflow.executions.get', id, { operationId: 'readExecution', params: id }],
    ['svc.workflow.status', id, { operationId: 'readExecution', params: id }],
    ['svc.workflow.cancel', id, { operationId: 'cancelExecution', params: id, body: {} }],
    ['svc.volume.list', {}, { operationId: 'listVolumes' }],
    ['svc.volume.delete', { volume_id: 'v' }, { operationId: 'deleteVolume', params: { volume_id: 'v' } }],
    ['svc.task.execute', { agent_id: uid }, { operationId: 'startAgentExecution', body: { agent_id: uid, input: '' } }],
    [
      'svc.task.execute',
      { agent_id: 'coder', input: 'go' },
      { operationId: 'startAgentExecution', body: { agent_id: uid, input: 'go' } },
    ],
  ])('AMB-194 AMB-136 %s with %j asks it', async (name, args, want) => {
    expect(await run(name, args)).toEqual({ isError: false, content: '{"ok":true}' });
    expect(calls).toEqual([want]);
    const contract = contracts.find(({ operationId }) => operationId === want.operationId);
    expect(Object.keys(contract?.params?.properties ?? {})).toEqual(Object.keys(want.params ?? {}));
  });

  it('svc.task.execute of an agent that is not there starts nothing', async () => {
    expect(await run('svc.task.execute', { agent_id: 'other' })).toEqual({
      isError: true,
      content: 'NOT_FOUND: there is no agent other',
    });
    expect(calls).toEqual([]);
  });

  it.each<[Error, string]>([
    [new HttpError({ code: 'not_found', error: 'Execution not found' }), 'NOT_FOUND: Execution not found'],
    [new HttpError({ code: 'conflict', message: 'x has completed' }), 'CONFLICT: x has completed'],
    [
      new HttpError({
        code: 'invalid',
        status: 422,
        error: 'input validation failed',
        details: [{ path: 'input.n', message: 'is missing' }],
      }),
      'REFUSED: input validation failed; input.n is missing',
    ],
  ])('AMB-130 what the operation refuses is an answer: %s', async (error, want) => {
    give = () => {
      throw error;
    };
    expect(await run('svc.task.status', id)).toEqual({ isError: true, content: want });
  });

  it('GW-INV-26 what is our fault is no answer', async () => {
    give = () => {
      throw new AppError('unavailable', 'nats');
    };
    await expect(run('svc.task.status', id)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is of the registry, and is then offered', () => {
    const offered = createToolbox({ builtin_dispatchers: [] }, tools).offered(
      aToolCaller({ security: { tier: 'operator' } }),
    );
    expect(offered.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(tools)));
  });
});

describe('a wait', () => {
  it.each(['svc.task.wait', 'svc.agent.wait', 'svc.workflow.wait', 'svc.execute.wait'])(
    'TOOL-RULE-09 TOOL-RULE-10 of %s ends with the execution',
    async (name) => {
      const states = ['pending', 'running', 'completed'];
      give = () => ({ status: states.shift() });
      const answered = run(name, { execution_id: uid });
      await clock.advance(1_000);
      await clock.advance(1_000);
      expect(await valueOf(answered)).toMatchObject({ status: 'completed' });
      const agent = name === 'svc.task.wait' || name === 'svc.agent.wait';
      expect(calls.map(({ operationId }) => operationId)).toEqual(
        Array(3).fill(agent ? 'readAgentExecution' : 'readExecution'),
      );
    },
  );

  it('WF-API-06 svc.workflow.wait answers the final output as last_output', async () => {
    give = () => ({ status: 'completed', final_output: { n: 1 } });
    expect(await valueOf(run('svc.workflow.wait', { execution_id: uid }))).toMatchObject({ last_output: { n: 1 } });
    expect(calls).toMatchObject([{ query: { full: true } }]);
  });

  it('is bounded: out of time it answers how far the execution is', async () => {
    give = () => ({ status: 'running' });
    const answered = run('svc.task.wait', { execution_id: uid, timeout_secs: 2 });
    for (let second = 0; second < 2; second += 1) await clock.advance(1_000);
    expect(await valueOf(answered)).toEqual({ status: 'running', timed_out: true });
  });

  it('ends when the caller leaves', async () => {
    give = () => ({ status: 'running' });
    const leaving = new AbortController();
    leaving.abort();
    await expect(run('svc.task.wait', { execution_id: uid }, leaving.signal)).rejects.toThrow(/abort/);
    expect(calls).toEqual([]);
  });
});

describe('tools of the installation', () => {
  it('TOOL-RULE-13 lists tools that the caller may call, and finds them by words', async () => {
    const names = async (name: string, args = {}) =>
      ((await valueOf(run(name, args))) as { tools: { name: string }[] }).tools.map((tool) => tool.name);
    expect(await names('svc.tools.list')).toEqual(['fs.read', 'fs.write', 'svc.tools.list']);
    expect(await names('svc.tools.search', { query: 'FILE creates' })).toEqual(['fs.write']);
    expect(await names('svc.tools.search')).toEqual(['fs.read', 'fs.write', 'svc.tools.list']);
  });

  it('TOOL-RULE-12 lists runtimes, of one language where that is asked for', async () => {
    expect(await valueOf(run('svc.runtime.list'))).toMatchObject({
      runtimes: [{ language: 'python' }, { language: 'node' }],
    });
    expect(await valueOf(run('svc.runtime.list', { language: 'node' }))).toMatchObject({
      runtimes: [{ version: '24' }],
    });
    expect(await valueOf(run('svc.runtime.list', { language: 'cobol' }))).toEqual({ runtimes: [] });
  });
});

describe('operations for tools', () => {
  const contract = defineContract({
    operationId: 'echo',
    method: 'post',
    path: '/echo',
    tag: 'x',
    summary: 'x',
    access: 'bearer',
    query: Type.Object({ limit: Type.Integer({ default: 5 }) }),
    body: { kind: 'json', schema: Type.Object({ n: Type.Integer() }), example: {} },
    success: { kind: 'json', description: 'x', schema: Type.Object({}), example: {} },
    errors: [],
  });
  const route: Route<Caller> = defineRoute<typeof contract, Caller>(contract, async ({ query, body, caller }) =>
    json({ query, body, caller: { ...caller, until: 0 } }),
  );

  it('AMB-194 are called for the tenant, with no role', async () => {
    const operations = createOperations(clock);
    operations.serve([route]);
    expect(await operations.call('echo', aToolCaller(), { body: { n: 1 } })).toEqual({
      query: { limit: 5 },
      body: { n: 1 },
      caller: { subject: 'user-1', tenant: 'acme', kind: 'consumer', roles: [], scopes: [], until: 0 },
    });
  });

  it('check their bodies, and wait for the routes', async () => {
    const operations = createOperations(clock);
    await expect(operations.call('echo', aToolCaller(), {})).rejects.toMatchObject({ code: 'unavailable' });
    operations.serve([route]);
    await expect(operations.call('echo', aToolCaller(), { body: { n: 'one' } })).rejects.toMatchObject({
      code: 'invalid',
    });
  });
});

describe('tools of a fleet', () => {
  const target = { All: null };

  it('EDGE-TOOL-02 resolves a target and dispatches nothing', async () => {
    await run('svc.edge.fleet.list', { target });
    expect(calls).toEqual([{ operationId: 'previewFleet', body: { target }, scopes: ['svc.edge.fleet.read'] }]);
  });

  it('EDGE-TOOL-03 cancels by the id of the run', async () => {
    await run('svc.edge.fleet.cancel', { fleet_command_id: uid });
    const asked = { params: { fleet_command_id: uid }, scopes: ['svc.edge.fleet.manage'] };
    expect(calls).toEqual([{ operationId: 'cancelFleet', ...asked }]);
  });

  it('EDGE-TOOL-01 EDGE-RES-25 answers how the run ended, with each host', async () => {
    const result = { fleet_command_id: uid, targets_resolved: ['a'], targets_skipped: [], summary: { ok: 1 } };
    const run_ = { outcome: 'complete', per_node: [{ node_id: 'a' }], tool: 'cmd.run' };
    give = ({ operationId }) => (operationId === 'invokeFleet' ? result : run_);
    const answer = await run('svc.edge.fleet.invoke', { target, tool: 'cmd.run', args: { command: 'true' } });
    expect(JSON.parse(answer.content)).toEqual({ ...result, outcome: 'complete', per_node: [{ node_id: 'a' }] });
    expect(calls[0]).toMatchObject({ body: { target, tool: 'cmd.run', args: { command: 'true' } } });
  });
});
