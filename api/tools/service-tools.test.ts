import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../lib/errors.ts';
import { defineContract } from '../../lib/http/contract.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { defineRoute, json, type Reply, type Route } from '../../lib/http/route.ts';
import type { Caller } from '../../lib/identity/caller.ts';
import { emptyNodeConfig, Secret } from '../../lib/node-config/index.ts';
import { givenUp } from '../../lib/tools/given-up.ts';
import type { ToolAnswer, ToolArguments } from '../../lib/tools/tool.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import {
  agentUid,
  aManifestReader,
  aRoomyCaller,
  createServiceToolsWorld,
  type OperationCall,
  type ServiceToolsWorld,
} from '../../test/support/service-tools.ts';
import { contracts } from '../routes/contracts.ts';
import { createOperations } from './operations.ts';

const uid = agentUid;
const nodeConfig = {
  ...emptyNodeConfig,
  runtimes: [
    { language: 'python', version: '3.13', image: 'python:3.13' },
    { language: 'node', version: '24', image: 'node:24' },
  ],
};

const manifests = aManifestReader();
afterAll(() => manifests.close());

let world: ServiceToolsWorld;
beforeEach(() => {
  world = createServiceToolsWorld({ nodeConfig, manifests });
});

const run: ServiceToolsWorld['run'] = (...call) => world.run(...call);
const valueOf = async (answered: Promise<ToolAnswer>): Promise<unknown> => JSON.parse((await answered).content);

describe('a tool that is one operation', () => {
  const id = { execution_id: uid };
  it.each<[string, ToolArguments, OperationCall]>([
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
      { operationId: 'startExecution', body: { workflow: 'build', input: { n: 1 } }, once: true },
    ],
    [
      'svc.workflow.run',
      { name: 'build', version: '1.0.0', input: null },
      { operationId: 'startExecution', body: { workflow: 'build', version: '1.0.0' }, once: true },
    ],
    ['svc.workflow.executions.list', {}, { operationId: 'listExecutions', query: { limit: 50 } }],
    ['svc.workflow.executions.get', id, { operationId: 'readExecution', params: id }],
    ['svc.workflow.status', id, { operationId: 'readExecution', params: id }],
    ['svc.workflow.cancel', id, { operationId: 'cancelExecution', params: id, body: {} }],
    ['svc.agent.search', { query: 'review' }, { operationId: 'listAgents', query: { limit: 50, q: 'review' } }],
    [
      'svc.agent.create',
      { manifest_yaml: 'a', force: true, scope: 'global' },
      { operationId: 'registerAgent', body: 'a', query: {} },
    ],
    [
      'svc.agent.update',
      { manifest_yaml: 'a', force: true },
      { operationId: 'registerAgent', body: 'a', query: { force: true } },
    ],
    ['svc.agent.delete', { agent_id: 'coder' }, { operationId: 'deleteAgent', params: { agent: 'coder' } }],
    [
      'svc.workflow.search',
      { query: 'a b', limit: 2 },
      { operationId: 'listWorkflows', query: { limit: 2, q: 'a b' } },
    ],
    [
      'svc.workflow.create',
      { manifest_yaml: 'w', force: 'false', scope: 'user' },
      { operationId: 'registerWorkflow', body: 'w', query: { scope: 'user' } },
    ],
    [
      'svc.workflow.update',
      { manifest_yaml: 'w', scope: 'user' },
      { operationId: 'registerWorkflow', body: 'w', query: { scope: 'user' } },
    ],
    [
      'svc.workflow.delete',
      { name: 'build' },
      { operationId: 'deleteWorkflow', params: { workflow: 'build' }, query: {} },
    ],
    [
      'svc.workflow.promote',
      { name: 'build', scope: 'global' },
      { operationId: 'promoteWorkflow', params: { workflow: 'build' }, query: { scope: 'global' } },
    ],
    [
      'svc.workflow.demote',
      { name: 'build' },
      { operationId: 'demoteWorkflow', params: { workflow: 'build' }, query: {} },
    ],
    [
      'svc.workflow.logs',
      { ...id, state: 'build' },
      { operationId: 'readExecutionLogs', params: id, query: { state: 'build' } },
    ],
    [
      'svc.workflow.signal',
      { ...id, response: 'yes' },
      { operationId: 'signalExecution', params: id, body: { response: 'yes' } },
    ],
    ['svc.execute.status', { pipeline_execution_id: uid }, { operationId: 'readExecution', params: id }],
    ['svc.volume.list', { limit: 7 }, { operationId: 'listVolumes', query: { limit: 7 } }],
    ['svc.volume.delete', { volume_id: 'v' }, { operationId: 'deleteVolume', params: { volume_id: 'v' } }],
    [
      'svc.task.execute',
      { agent_id: uid },
      { operationId: 'startAgentExecution', body: { agent_id: uid, input: '' }, once: true },
    ],
    [
      'svc.task.execute',
      { agent_id: 'coder', input: 'go' },
      { operationId: 'startAgentExecution', body: { agent_id: uid, input: 'go' }, once: true },
    ],
  ])('AMB-194 AMB-136 %s with %j asks it', async (name, args, want) => {
    expect(await run(name, args)).toEqual({ isError: false, content: '{"ok":true}' });
    expect(world.calls).toEqual([want]);
    const contract = contracts.find(({ operationId }) => operationId === want.operationId);
    expect(Object.keys(contract?.params?.properties ?? {})).toEqual(Object.keys(want.params ?? {}));
  });

  it('svc.task.execute of an agent that is not there starts nothing', async () => {
    expect(await run('svc.task.execute', { agent_id: 'other' })).toEqual({
      isError: true,
      content: 'NOT_FOUND: there is no agent other; svc.agent.list names them',
    });
    expect(world.calls).toEqual([]);
  });

  it.each<[Error, string]>([
    [new HttpError({ code: 'not_found', error: 'Execution not found' }), 'NOT_FOUND: Execution not found'],
    [new HttpError({ code: 'conflict', message: 'x has completed' }), 'CONFLICT: x has completed'],
    [
      new HttpError({
        code: 'invalid',
        status: 422,
        error: 'input validation failed',
        message: 'input.n is missing',
        details: [
          { path: 'input.n', message: 'is missing' },
          { path: 'input.m', message: 'is missing' },
        ],
      }),
      'REFUSED: input validation failed; input.n is missing; input.m is missing',
    ],
  ])('AMB-130 what the operation refuses is an answer: %s', async (error, want) => {
    world.give = () => {
      throw error;
    };
    expect(await run('svc.task.status', id)).toEqual({ isError: true, content: want });
  });

  it('GW-INV-26 what is our fault is no answer', async () => {
    world.give = () => {
      throw new AppError('unavailable', 'nats');
    };
    await expect(run('svc.task.status', id)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is of the registry, and is then offered', () => {
    const offered = createToolbox({ builtin_dispatchers: [] }, world.tools).offered(
      aToolCaller({ security: { tier: 'operator' } }),
    );
    expect(offered.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(world.tools)));
  });
});

describe('a wait', () => {
  it.each(['svc.task.wait', 'svc.agent.wait', 'svc.workflow.wait', 'svc.execute.wait'])(
    'TOOL-RULE-09 TOOL-RULE-10 of %s ends with the execution',
    async (name) => {
      const states = ['pending', 'running', 'completed'] as const;
      let looks = 0;
      world.phaseOf = () => states[looks++];
      world.give = () => ({ status: 'completed' });
      const answered = run(name, { execution_id: uid });
      await world.clock.advance(1_000);
      await world.clock.advance(1_000);
      expect(await valueOf(answered)).toMatchObject({ status: 'completed' });
      const agent = name === 'svc.task.wait' || name === 'svc.agent.wait';
      // It looks at what caches have, and reads the execution once.
      expect(looks).toBe(3);
      expect(world.calls.map(({ operationId }) => operationId)).toEqual([
        agent ? 'readAgentExecution' : 'readExecution',
      ]);
    },
  );

  it('WF-API-06 svc.workflow.wait answers the final output as last_output', async () => {
    world.give = () => ({ status: 'completed', final_output: { n: 1 } });
    expect(await valueOf(run('svc.workflow.wait', { execution_id: uid }))).toMatchObject({ last_output: { n: 1 } });
    expect(world.calls).toMatchObject([{ query: { full: true } }]);
  });

  it('is bounded: out of time it answers how far the execution is', async () => {
    world.give = () => ({ status: 'running' });
    const answered = run('svc.task.wait', { execution_id: uid, timeout_secs: 2 });
    for (let second = 0; second < 2; second += 1) await world.clock.advance(1_000);
    expect(await valueOf(answered)).toEqual({ status: 'running', timed_out: true });
  });

  it('ends when the caller leaves', async () => {
    world.give = () => ({ status: 'running' });
    const leaving = new AbortController();
    leaving.abort();
    await expect(run('svc.task.wait', { execution_id: uid }, leaving.signal)).rejects.toThrow(/abort/);
    expect(world.calls).toEqual([]);
  });
});

describe('tools of the installation', () => {
  it('TOOL-RULE-13 lists tools that the caller may call, and finds them by words', async () => {
    const names = async (name: string, args = {}) =>
      ((await valueOf(run(name, args))) as { tools: { name: string }[] }).tools.map((tool) => tool.name);
    expect(await names('svc.tools.list')).toEqual(['fs.write', 'fs.read', 'svc.tools.list']);
    expect(await names('svc.tools.search', { query: 'FILE creates' })).toEqual(['fs.write']);
    expect(await names('svc.tools.search')).toEqual(['fs.write', 'fs.read', 'svc.tools.list']);
    // No other caller has a container.
    world.caller = aToolCaller({ spec: null });
    expect(await names('svc.tools.list')).toEqual(['svc.tools.list']);
    expect(await valueOf(run('svc.system.info'))).toMatchObject({ tools: 1 });
  });

  const registeredTool = { name: 'orders.place', description: 'Orders goods.', input_schema: { type: 'object' } };

  it('TOOL-RULE-13 lists registered tools that the caller may call behind the built-in ones, and finds them', async () => {
    const callers: unknown[] = [];
    world = createServiceToolsWorld({
      registered: async (caller) => {
        callers.push(caller);
        return [registeredTool];
      },
    });
    const list = (await valueOf(run('svc.tools.list'))) as { tools: object[] };
    expect(list.tools.at(-1)).toEqual(registeredTool);
    expect(list.tools).toHaveLength(4);
    expect(await valueOf(run('svc.tools.search', { query: 'GOODS' }))).toEqual({ tools: [registeredTool] });
    expect(callers).toMatchObject([{ tenant: 'acme' }, { tenant: 'acme' }]);
  });

  it('lists built-in tools while the gateway is away, and says that others are missing', async () => {
    const away = new AppError('unavailable', 'the tool gateway cannot be reached', { reason: 'GatewayUnavailable' });
    world = createServiceToolsWorld({ registered: () => Promise.reject(away) });
    const list = (await valueOf(run('svc.tools.list'))) as { tools: object[] };
    expect(list.tools).toHaveLength(3);
    expect(list).toMatchObject({ problem: 'registered tools are missing: the tool gateway cannot be reached' });
    world = createServiceToolsWorld({ registered: () => Promise.reject(new Error('a fault of ours')) });
    await expect(run('svc.tools.list')).rejects.toThrow('a fault of ours');
  });

  it('TOOL-RULE-12 lists runtimes, of one language where that is asked for', async () => {
    expect(await valueOf(run('svc.runtime.list'))).toMatchObject({
      runtimes: [{ language: 'python' }, { language: 'node' }],
    });
    // No image reaches a model.
    expect(await valueOf(run('svc.runtime.list', { language: 'node' }))).toEqual({
      runtimes: [{ language: 'node', version: '24' }],
    });
    expect(await valueOf(run('svc.runtime.list', { language: 'cobol' }))).toEqual({ runtimes: [] });
  });
});

describe('kinds and manifests', () => {
  it('TOOL-058 answers the schema of a kind by its name', async () => {
    expect(await valueOf(run('svc.schema.get', { key: 'Workflow' }))).toMatchObject({ title: 'Workflow' });
    expect(await valueOf(run('svc.schema.get', { key: 'workflow-manifest' }))).toMatchObject({ type: 'object' });
    expect((await run('svc.schema.get', { key: 'Pod' })).content).toMatch(
      /^NOT_FOUND: there is no kind "Pod"; there are/,
    );
  });

  const volume =
    'apiVersion: windlass.dev/v1\nkind: Volume\nmetadata: { name: v }\nspec: { storage_class: persistent }\n';
  it.each<[string, string, string, boolean, string[]]>([
    ['a good volume', 'Volume', volume, true, []],
    ['an unknown value', 'Volume', volume.replace('persistent', 'floppy'), false, ['spec.storage_class']],
    ['another kind', 'Volume', volume.replace('kind: Volume', 'kind: Pod'), false, ['kind']],
    ['no name', 'Volume', volume.replace('name: v', ''), false, ['metadata.name']],
    ['two documents', 'Volume', `${volume}---\n${volume}`, false, ['']],
    ['no document', 'Volume', '', false, ['']],
    ['no YAML', 'Volume', 'a: [', false, ['']],
    ['a bad agent', 'Agent', 'kind: Agent', false, []],
  ])('TOOL-059 checks %s', async (...[, kind, manifest_yaml, valid, paths]) => {
    const verdict = (await valueOf(run('svc.schema.validate', { kind, manifest_yaml }))) as {
      valid: boolean;
      problems: { path: string }[];
    };
    expect(verdict.valid).toBe(valid);
    expect(verdict.problems.map(({ path }) => path)).toEqual(expect.arrayContaining(paths));
  });

  it('TOOL-059 refuses an unknown kind', async () => {
    expect((await run('svc.schema.validate', { kind: 'Pod', manifest_yaml: '' })).content).toMatch(/^NOT_FOUND/);
  });

  it('TOOL-057 AMB-135 checks a workflow; without one it is an error of the tool', async () => {
    const manifest_yaml = 'kind: Workflow';
    expect(await valueOf(run('svc.workflow.validate', { manifest_yaml }))).toMatchObject({ valid: false });
    expect((await run('svc.workflow.validate')).content).toMatch(/^INVALID_ARGUMENT: manifest_yaml is missing/);
  });

  it.each(['svc.workflow.promote', 'svc.workflow.demote'])('AMB-135 %s without a name is an error', async (name) => {
    expect((await run(name)).content).toMatch(/^INVALID_ARGUMENT: name is missing/);
  });
});

describe('an execution that is removed', () => {
  it.each([
    ['svc.task.remove', 'readAgentExecution', 'deleteAgentExecution'],
    ['svc.workflow.remove', 'readExecution', 'deleteExecution'],
  ])('TOOL-015 TOOL-056 by %s has ended', async (name, read, remove) => {
    const asked = () => world.calls.splice(0).map(({ operationId }) => operationId);
    for (const status of ['pending', 'running']) {
      world.give = () => ({ status });
      expect((await run(name, { execution_id: uid })).content).toMatch(/^CONFLICT: the execution is still running/);
      expect(asked()).toEqual([]);
    }
    for (const status of ['completed', 'failed', 'cancelled']) {
      world.give = ({ operationId }) => (operationId === read ? { status } : { status: 'deleted' });
      expect(await valueOf(run(name, { execution_id: uid }))).toEqual({ status: 'deleted' });
      expect(asked()).toEqual([remove]);
    }
  });

  it('TOOL-042 svc.agent.logs of an agent that is not there is NOT_FOUND', async () => {
    world.give = ({ operationId }) => {
      if (operationId === 'listAgentExecutions') return { executions: [] };
      throw new HttpError({ code: 'not_found', error: 'Agent not found' });
    };
    expect((await run('svc.agent.logs', { agent_id: 'gone' })).content).toBe('NOT_FOUND: Agent not found');
    expect(world.calls[1]).toMatchObject({ operationId: 'readAgent', params: { agent: 'gone' } });
  });

  it('TOOL-042 svc.agent.logs answers the newest conversations of an agent', async () => {
    world.give = ({ operationId, params }) =>
      operationId === 'listAgentExecutions'
        ? { executions: [{ execution_id: 'a', status: 'failed' }, { execution_id: 'b' }] }
        : { records: [params?.['execution_id']], next_cursor: null };
    expect(await valueOf(run('svc.agent.logs', { agent_id: 'coder' }))).toEqual({
      executions: [
        { execution_id: 'a', status: 'failed', records: ['a'], next_cursor: null },
        { execution_id: 'b', records: ['b'], next_cursor: null },
      ],
    });
    expect(world.calls[0]).toMatchObject({ query: { agent: 'coder', limit: 3 } });
  });
});

describe('what is known of the installation', () => {
  it('TOOL-069 TOOL-070 holds no key and no address', async () => {
    const secret = new Secret('sk-hunter2');
    const models = [{ alias: 'default', model: 'big-1', capabilities: [], max_output_tokens: 1 }];
    world = createServiceToolsWorld({
      nodeConfig: {
        ...nodeConfig,
        llm_providers: [
          {
            name: 'cloud',
            type: 'openai',
            api_key: secret,
            endpoint: 'https://inner.example',
            models,
            max_concurrency: 1,
          },
        ],
        builtin_dispatchers: [{ name: 'web.search', api_key: secret, capabilities: [] }],
      },
    });
    const { content } = await run('svc.system.config');
    expect(content).not.toMatch(/hunter2|inner|python:/);
    expect(JSON.parse(content)).toMatchObject({ models: [{ provider: 'cloud', aliases: ['default'] }] });
    expect(await valueOf(run('svc.system.info'))).toMatchObject({ name: 'windlass', tools: 3 });
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
    const operations = createOperations(createManualClock());
    operations.serve([route]);
    expect(await operations.call('echo', aRoomyCaller(), { body: { n: 1 } })).toEqual({
      query: { limit: 5 },
      body: { n: 1 },
      caller: {
        subject: 'user-1',
        tenant: 'acme',
        kind: 'consumer',
        roles: [],
        scopes: [],
        callingExecution: 'e-1',
        until: 0,
      },
    });
  });

  it('check their bodies, and wait for the routes', async () => {
    const operations = createOperations(createManualClock());
    await expect(operations.call('echo', aRoomyCaller(), {})).rejects.toMatchObject({ code: 'unavailable' });
    operations.serve([route]);
    await expect(operations.call('echo', aRoomyCaller(), { body: { n: 'one' } })).rejects.toMatchObject({
      code: 'invalid',
    });
  });
});

describe('what an operation answers with', () => {
  const contract = defineContract({
    operationId: 'echo',
    method: 'get',
    path: '/echo',
    tag: 'x',
    summary: 'x',
    access: 'bearer',
    success: { kind: 'json', description: 'x', schema: Type.Object({}), example: {} },
    errors: [],
  });
  const answered = async (reply: Reply): Promise<unknown> => {
    const operations = createOperations(createManualClock());
    operations.serve([defineRoute<typeof contract, Caller>(contract, async () => reply)]);
    return operations.call('echo', aRoomyCaller(), {});
  };
  const streamed = (bytes: number) =>
    answered({ kind: 'stream', mediaType: 'text/plain', stream: Readable.from([Buffer.alloc(bytes, 'x')]) });

  it('TOOL-052 is read, whether a value, a text or a stream', async () => {
    expect(await answered(json({ n: 1 }))).toEqual({ n: 1 });
    expect(await answered({ kind: 'text', text: '{"n":1}', mediaType: 'application/json' })).toEqual({ n: 1 });
    expect(await answered({ kind: 'text', text: 'hi', mediaType: 'text/plain' })).toBe('hi');
  });

  it.each([
    [524_287, 524_287, false],
    [524_288, 524_288, false],
    [524_289, 524_288, true],
  ])('TOOL-051 of a stream of %i bytes %i are read', async (bytes, read, truncated) => {
    const value = (await streamed(bytes)) as { text: string };
    expect([value.text.length, value]).toEqual([read, { text: value.text, truncated }]);
  });
});

describe('a call whose time is up', () => {
  const timeIsUp = () => AbortSignal.abort(new DOMException('the time is up', 'TimeoutError'));

  it('AMB-203 answers the id of its fleet run, which continues', async () => {
    world.give = ({ started }) => {
      started?.({ 'X-Fleet-Command-Id': uid });
      return { node_id: 'a', command_id: 'c', chunk: {} };
    };
    const args = { target: { All: null }, tool: 'cmd.run', args: { command: 'true' } };
    expect(await valueOf(run('svc.edge.fleet.invoke', args, timeIsUp()))).toEqual({
      fleet_command_id: uid,
      timed_out: true,
    });
  });

  it('answers how far the execution is that it waits for', async () => {
    world.give = () => ({ status: 'running' });
    const answer = run('svc.workflow.wait', { execution_id: uid, timeout_secs: 60 }, timeIsUp());
    expect(await valueOf(answer)).toMatchObject({ status: 'running', timed_out: true });
  });

  it('is given up where its caller has gone', async () => {
    const args = { execution_id: uid, timeout_secs: 60 };
    await expect(run('svc.workflow.wait', args, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });
});

describe('tools of a fleet', () => {
  const target = { All: null };

  it('EDGE-TOOL-02 resolves a target and dispatches nothing', async () => {
    await run('svc.edge.fleet.list', { target });
    expect(world.calls).toEqual([{ operationId: 'previewFleet', body: { target }, scopes: ['svc.edge.fleet.read'] }]);
  });

  it('EDGE-TOOL-03 cancels by the id of the run', async () => {
    await run('svc.edge.fleet.cancel', { fleet_command_id: uid });
    const asked = { params: { fleet_command_id: uid }, scopes: ['svc.edge.fleet.manage'] };
    expect(world.calls).toEqual([{ operationId: 'cancelFleet', ...asked }]);
  });

  it('EDGE-TOOL-01 TOOL-082 answers why a run was refused, and the output of each host with its node_id', async () => {
    const result = { fleet_command_id: uid, targets_resolved: ['a'], targets_skipped: [], summary: { ok: 0 } };
    const why = { outcome: 'halted', reason: 'RequireMinNotSatisfied', message: 'one host', per_node: [] };
    const piece = { node_id: 'a', command_id: 'c', chunk: { stdout: 'hi' } };
    world.give = ({ operationId, event }) => {
      if (operationId !== 'invokeFleet') return why;
      event?.('command_progress', piece);
      event?.('fleet_result', result);
      return result;
    };
    const answer = await run('svc.edge.fleet.invoke', { target, tool: 'cmd.run', args: { command: 'true' } });
    expect(JSON.parse(answer.content)).toEqual({ ...result, ...why, progress: [piece] });
  });

  it.each([
    [65_536, 2, undefined],
    [65_537, 1, true],
  ])('EDGE-TOOL-01 answers the newest output: of %i bytes in two pieces %i are kept', async (bytes, kept, isCut) => {
    const result = { fleet_command_id: uid };
    const pieceOf = (size: number) => ({ node_id: 'a', chunk: { stdout: 'x'.repeat(size) } });
    const frame = Buffer.byteLength(JSON.stringify(pieceOf(0)));
    world.give = ({ operationId, event }) => {
      if (operationId !== 'invokeFleet') return {};
      event?.('command_progress', pieceOf(100));
      event?.('command_progress', pieceOf(bytes - 100 - 2 * frame));
      return result;
    };
    const answer = await run('svc.edge.fleet.invoke', { target, tool: 'cmd.run', args: { command: 'true' } });
    const value = JSON.parse(answer.content) as { readonly progress: unknown[]; readonly progress_cut?: boolean };
    expect([value.progress.length, value.progress_cut]).toEqual([kept, isCut]);
  });

  it('EDGE-TOOL-01 EDGE-RES-25 answers how the run ended, with each host', async () => {
    const result = { fleet_command_id: uid, targets_resolved: ['a'], targets_skipped: [], summary: { ok: 1 } };
    const run_ = { outcome: 'complete', per_node: [{ node_id: 'a' }], tool: 'cmd.run' };
    world.give = ({ operationId }) => (operationId === 'invokeFleet' ? result : run_);
    const answer = await run('svc.edge.fleet.invoke', { target, tool: 'cmd.run', args: { command: 'true' } });
    expect(JSON.parse(answer.content)).toEqual({ ...result, outcome: 'complete', per_node: [{ node_id: 'a' }] });
    expect(world.calls[0]).toMatchObject({ body: { target, tool: 'cmd.run', args: { command: 'true' } } });
  });

  const invoke = { target, tool: 'cmd.run' };

  it.each([
    ['that is given up cancels its run', givenUp('cancelled', 'no more'), ['invokeFleet', 'cancelFleet']],
    ['whose replica stops leaves its run alone', new AppError('unavailable', 'stops'), ['invokeFleet']],
  ])('EDGE-TOOL-01 a call %s', async (_what, reason, asked) => {
    const stop = new AbortController();
    world.give = ({ operationId, started }) => {
      started?.({ 'X-Fleet-Command-Id': uid });
      if (operationId === 'invokeFleet') stop.abort(reason);
      return undefined;
    };
    await expect(world.run('svc.edge.fleet.invoke', invoke, stop.signal)).rejects.toBe(reason);
    expect(world.calls.map(({ operationId }) => operationId)).toEqual(asked);
    expect(world.calls.slice(1).map(({ params }) => params)).toEqual(
      asked.slice(1).map(() => ({ fleet_command_id: uid })),
    );
  });

  it('what a call starts has its name by the call, and by nothing where the call has no id', async () => {
    const contract = defineContract({
      operationId: 'echo',
      method: 'get',
      path: '/echo',
      tag: 'x',
      summary: 'x',
      access: 'bearer',
      success: { kind: 'json', description: 'x', schema: Type.Object({}), example: {} },
      errors: [],
    });
    const operations = createOperations(createManualClock());
    operations.serve([defineRoute<typeof contract, Caller>(contract, async ({ headers }) => json({ headers }))]);
    const headersOf = (callId: string | undefined, once: boolean) =>
      operations.call('echo', { ...aRoomyCaller(), ...(callId && { callId }) }, { once });
    expect(await headersOf('c-1', true)).toEqual({ headers: { 'idempotency-key': 'c-1' } });
    expect(await headersOf('c-1', false)).toEqual({ headers: {} });
    expect(await headersOf(undefined, true)).toEqual({ headers: {} });
  });
});
