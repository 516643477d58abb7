import { generateKeyPairSync } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGatewayCalls } from '../../api/agents/registered/call-gateway.ts';
import type { RegisteredCaller } from '../../api/agents/registered/index.ts';
import { createArgumentRoom } from '../../api/tool-calls/argument-room.ts';
import { execute } from '../../api/tool-calls/execute.ts';
import type { CallOutcome } from '../../api/tool-calls/outcome.ts';
import { limits } from '../../crds/limits.ts';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import { systemClock } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { givenUp } from '../../lib/tools/given-up.ts';
import type { Tool, ToolAnswer, ToolArguments } from '../../lib/tools/tool.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import { createLargeAnswers } from '../../lib/tools/web/answer-room.ts';
import { aToolCaller } from '../builders/tool-caller.ts';
import { answerJson, startHttpPeer } from '../support/http-peer.ts';
import { silentLogger } from '../support/silent-logger.ts';

/**
 * The attacker may write workflows in tenant a. Their states call tools with arguments of 256 KiB of nested lists, which
 * take some 9 MB of heap each. One replica runs up to 51 calls of one tenant.
 */
const nested = `${'['.repeat(32)}${']'.repeat(32)},`;
const head = '{"agent_id":"x","manifest_yaml":"x","more":[';
const count = Math.floor((limits.toolCallArgumentsBytes - head.length - 4) / nested.length);
const fat = `${head}${nested.repeat(count)}0]}`;
const callers = 40;
const mebibyte = 1_048_576;
/** The heaps of other files of the worker are collected as well, on a machine that others share. */
const patienceMs = 180_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const ok = (content: string): ToolAnswer => ({ content, isError: false });

/** The calls of one replica: `svc.agent.create` and the registered tool `orders.slow` answer once `finish` is called. */
async function setUp() {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  /** Arguments of calls under way. */
  const held = new Set<ToolArguments>();
  const hangs = async (_caller: unknown, args: ToolArguments): Promise<ToolAnswer> => {
    held.add(args);
    await finished;
    held.delete(args);
    return ok('late');
  };
  const runs = {
    'svc.agent.create': { kind: 'api' as const, run: hangs },
    'svc.agent.update': { kind: 'api' as const, run: async () => ok('at once') },
  };
  const arrived = { count: 0 };
  const peer = await startHttpPeer(async (_request, response) => {
    arrived.count += 1;
    await finished;
    answerJson(response, 200, { result: { isError: false, content: [{ type: 'text', text: 'late' }] } });
  });
  cleanups.push(
    () => peer.close(),
    () => finish(),
  );
  const session = { sessionId: 's', executionId: 'e', token: 't', key: generateKeyPairSync('ed25519').privateKey };
  const clock = systemClock;
  const call = createGatewayCalls({
    clock,
    logger: silentLogger,
    newId,
    room: createLargeAnswers(clock),
    sessions: { of: async () => session, again: async () => session },
    url: peer.url,
  });
  const slow: Tool = {
    name: 'orders.slow',
    description: '',
    input_schema: { type: 'object' },
    skip_judge: false,
    idempotent: false,
    fleet_capable: false,
    run: {
      kind: 'api',
      run: (caller, args, signal) => call(caller as RegisteredCaller, { tool: 'orders.slow', args }, signal),
    },
  };
  const deps = {
    clock,
    logger: silentLogger,
    toolbox: createToolbox({ builtin_dispatchers: [] }, runs),
    registered: { offered: async () => [slow] },
    calls: { take: async () => true } as never,
    room: createArgumentRoom(clock),
    audit: { record: () => undefined } as never,
    callerOf: async ({ metadata: { namespace = '' } }: ToolCall) =>
      ({ ...aToolCaller({ spec: null, tenant: namespace }), signer: {} }) as RegisteredCaller,
  };
  const run = (tenant: string, tool: string, signal = new AbortController().signal, text = fat): Promise<CallOutcome> =>
    execute(deps, callOf(tenant, tool, text), signal);
  return { run, finish, held, arrived };
}

let serial = 0;
const callOf = (namespace: string, tool: string, text: string): ToolCall => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'ToolCall',
  metadata: { name: 'c', namespace, uid: `uid-${(serial += 1)}`, creationTimestamp: new Date().toISOString() },
  spec: {
    tool,
    arguments: text,
    subject: 'ada',
    timeout: '300s',
    parent: { name: 'run', uid: 'wfx-1', state: 'call', visit: 1 },
  },
});

let api: Awaited<ReturnType<typeof setUp>>;
beforeEach(async () => {
  api = await setUp();
});

const heldMebibytes = (before: number): number => {
  collect();
  return (process.memoryUsage().heapUsed - before) / mebibyte;
};

describe('calls of one tenant with arguments that take much memory', () => {
  it.each([
    ['svc.agent.create', 1],
    ['orders.slow', 3],
  ])(
    'to %s, which does not answer, hold a bounded number of bytes, and another tenant is served',
    async (tool, begun) => {
      collect();
      const before = process.memoryUsage().heapUsed;
      const calls = Array.from({ length: callers }, () => api.run('a', tool));
      await expect.poll(() => api.held.size + api.arrived.count, { timeout: 30_000 }).toBeGreaterThan(0);
      await systemClock.sleep(2_000);
      // Arguments of a registered tool are texts by now, and other calls have followed.
      expect(api.held.size + api.arrived.count).toBeGreaterThanOrEqual(begun);
      // Three of them take more; a text of each that was sent is beside it.
      expect(heldMebibytes(before)).toBeLessThan(bytesOf('arguments of tool calls') / mebibyte + 4);
      expect(await api.run('b', 'svc.agent.update')).toMatchObject({ phase: 'completed' });
      expect(await api.run('a', 'svc.agent.update', undefined, '{"agent_id":"x","manifest_yaml":"x"}')).toMatchObject({
        phase: 'completed',
      });
      api.finish();
      const ended = await Promise.all(calls);
      expect(ended).toMatchObject(Array(callers).fill({ phase: 'completed', result: { content: 'late' } }));
    },
    patienceMs,
  );

  it(
    'wait for their turn no longer than their own time, and a tool that is left alone keeps its part',
    async () => {
      const [first, second] = [new AbortController(), new AbortController()];
      const left = api.run('a', 'svc.agent.create', first.signal);
      await expect.poll(() => api.held.size).toBe(1);
      const waits = api.run('a', 'svc.agent.create', second.signal);
      second.abort(givenUp('timeout', 'the time of the call is over'));
      expect(await waits).toMatchObject({ reason: 'ToolUnavailable', message: expect.stringContaining('was over') });
      first.abort(givenUp('timeout', 'the time of the call is over'));
      expect(await left).toMatchObject({ reason: 'Timeout' });
      const next = api.run('a', 'svc.agent.create');
      await systemClock.sleep(500);
      expect(api.held.size).toBe(1);
      api.finish();
      expect(await next).toMatchObject({ phase: 'completed' });
    },
    patienceMs,
  );
});
