import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGatewayCalls } from '../../api/agents/registered/call-gateway.ts';
import { createRegisteredTools } from '../../api/agents/registered/registered-tools.ts';
import { createToolSessions } from '../../api/agents/registered/tool-sessions.ts';
import { createArgumentRoom } from '../../api/tool-calls/argument-room.ts';
import { callerOf } from '../../api/tool-calls/caller-of.ts';
import { execute } from '../../api/tool-calls/execute.ts';
import { createHolders, holderAddress, lostAfterMs, scanMs } from '../../api/tool-calls/holders.ts';
import { createToolCalls } from '../../api/tool-calls/tool-calls.ts';
import { limits } from '../../crds/limits.ts';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { AuditEntry } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createCallCounter, createSealSessions } from '../../lib/envelope/index.ts';
import { newId } from '../../lib/ids.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { isGivenUp } from '../../lib/tools/given-up.ts';
import type { ToolAnswer, ToolCaller } from '../../lib/tools/tool.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import { createLargeAnswers } from '../../lib/tools/web/answer-room.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { echoTool, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { silentLogger } from '../support/silent-logger.ts';
import { SharedCalls } from '../tool-calls/shared-calls.ts';

/** Replicas of the API that run tool calls, on one real NATS server, with a real gateway beside them. */
let nats: TestBus;
let gateway: TestGateway;
let shared: SharedCalls;
let contexts: Map<string, SecurityContextSpec>;
let audited: AuditEntry[];
/** Calls of tools, as they came. */
let ran: { readonly tool: string; readonly caller: ToolCaller; readonly signal: AbortSignal }[];
/** Ends the calls of the tool that hangs. */
let finish: (answer: ToolAnswer) => void;
let hanging: Promise<ToolAnswer>;
let exported: string;
const open: { stop(): Promise<void> }[] = [];

const ok = (content: string): ToolAnswer => ({ content, isError: false });

/** `svc.agent.create` cannot be made again, `svc.agent.list` can, and `svc.edge.fleet.invoke` has its key. */
const behaviours: Readonly<Record<string, (caller: ToolCaller, signal: AbortSignal) => Promise<ToolAnswer>>> = {
  'svc.tools.list': async () => ok('{"tools":[]}'),
  'svc.agent.create': () => hanging,
  'svc.agent.list': () => hanging,
  'svc.edge.fleet.invoke': () => hanging,
  'svc.agent.export': async () => ok(exported),
  'svc.agent.delete': async () => ({ content: 'NOT_FOUND: there is no agent', isError: true }),
  'svc.agent.update': () => Promise.reject(new Error('the secret of the database')),
};

const runs = Object.fromEntries(
  Object.entries(behaviours).map(([tool, behave]) => [
    tool,
    {
      kind: 'api' as const,
      run: (caller: ToolCaller, _args: unknown, signal: AbortSignal) => {
        ran.push({ tool, caller, signal });
        return behave(caller, signal);
      },
    },
  ]),
);

beforeAll(async () => {
  nats = await startTestBus();
  gateway = await startTestGateway(nats.connect(), [echoTool('orders.place')]);
}, 300_000);
afterAll(async () => {
  await gateway.close();
  await nats.stop();
});
beforeEach(() => {
  shared = new SharedCalls();
  contexts = new Map();
  audited = [];
  ran = [];
  exported = 'z'.repeat(2 * 1024 * 1024);
  const { promise, resolve } = Promise.withResolvers<ToolAnswer>();
  [hanging, finish] = [promise, resolve];
});
afterEach(async () => {
  finish(ok('late'));
  await Promise.all(open.splice(0).map((replica) => replica.stop()));
});

const kube = {
  async get(_: unknown, { name }: { readonly name: string }) {
    const spec = contexts.get(name);
    if (spec === undefined)
      throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'securitycontexts' });
    return { metadata: { name }, spec };
  },
};

interface Started {
  stop(): Promise<void>;
  /** Ends as a process that is killed: it says nothing any more. */
  kill(): Promise<void>;
}

function startReplica(clock = systemClock): Started {
  const bus = nats.connect();
  const deps = { bus, clock, logger: silentLogger, newId };
  const sessions = createToolSessions({
    ...deps,
    clock: systemClock,
    key: gateway.key,
    sessions: createSealSessions(bus),
  });
  const calling = { ...deps, clock: systemClock, room: createLargeAnswers(clock), sessions, url: gateway.url };
  const executing = {
    ...deps,
    toolbox: createToolbox({ builtin_dispatchers: [] }, runs),
    registered: createRegisteredTools({ ...deps, call: createGatewayCalls(calling) }),
    calls: createCallCounter(bus),
    room: createArgumentRoom(clock),
    audit: { record: (entry: AuditEntry) => void audited.push(entry) },
    callerOf: (call: ToolCall) =>
      callerOf({ kube: kube as never, tenants: { tenantOf: (namespace) => namespace.replace(/^tenant-/, '') } }, call),
  };
  const isKilled = { now: false };
  const dead = async (): Promise<never> => {
    throw new KubeError(503, { reason: 'ServiceUnavailable' }, { verb: 'patch', resource: 'toolcalls' });
  };
  const alive = (write: keyof SharedCalls['kube']) => (a: never, b: never, c: never) =>
    isKilled.now ? dead() : (shared.kube[write] as (...given: never[]) => Promise<unknown>)(a, b, c);
  const calls = createToolCalls({
    ...deps,
    kube: {
      get: alive('get'),
      mergePatchStatus: alive('mergePatchStatus'),
      jsonPatchStatus: alive('jsonPatchStatus'),
    } as never,
    informer: shared.informer,
    holders: createHolders(deps),
    isRepeatable: (tool) => tool === 'svc.agent.list' || tool === 'svc.edge.fleet.invoke',
    execute: (call, signal) => execute(executing, call, signal),
  });
  const stop = new AbortController();
  const running = calls.run(stop.signal);
  const started = {
    async stop() {
      stop.abort();
      await running;
    },
    async kill() {
      isKilled.now = true;
      await bus.close(0);
    },
  };
  open.push({ stop: async () => (isKilled.now ? undefined : started.stop()) });
  return started;
}

const ended = async (uid: string) => {
  await vi.waitFor(() => expect(shared.status(uid)?.finished_at).toBeDefined(), { timeout: 20_000, interval: 20 });
  return shared.status(uid);
};
const began = (count = 1) => vi.waitFor(() => expect(ran).toHaveLength(count), { timeout: 20_000, interval: 10 });

describe('a tool call', () => {
  it('is run once, within the default context, in the name of its subject, and its answer is kept', async () => {
    startReplica();
    startReplica();
    shared.add('c-1');
    expect(await ended('c-1')).toMatchObject({
      phase: 'completed',
      result: { content: '{"tools":[]}' },
      claim: { attempt: 1 },
    });
    expect(ran).toHaveLength(1);
    expect(ran[0]?.caller).toMatchObject({ tenant: 'acme', subject: 'ada', executionId: 'wfx-1', callId: 'c-1' });
    expect(audited.map(({ type, subject, data }) => [type, subject, data?.['outcome']])).toEqual([
      ['ToolInvoked', 'c-1', undefined],
      ['ToolInvocationEnded', 'c-1', 'ok'],
    ]);
  });

  it('is run once by one of three replicas, however many there are', async () => {
    for (let count = 0; count < 3; count += 1) startReplica();
    for (let count = 0; count < 100; count += 1) shared.add(`many-${count}`);
    for (let count = 0; count < 100; count += 1) await ended(`many-${count}`);
    expect(new Set(ran.map(({ caller }) => caller.callId)).size).toBe(100);
    expect(ran).toHaveLength(100);
  });

  it('is run once where the answer to its claim is lost', async () => {
    shared.losesAnswer = true;
    shared.add('lost');
    startReplica();
    expect(await ended('lost')).toMatchObject({ phase: 'completed', claim: { attempt: 1 } });
    expect(ran).toHaveLength(1);
  });

  it('is not run where it was cancelled while the answer to its claim was lost', async () => {
    shared.losesAnswer = true;
    const cancel = { by: 'windlass-controllers', at: new Date().toISOString() };
    shared.whileLost = (call) => ({ ...call, spec: { ...call.spec, cancel } });
    shared.add('lost');
    startReplica();
    expect(await ended('lost')).toMatchObject({ phase: 'cancelled', reason: 'Cancelled' });
    expect(ran).toEqual([]);
  });

  it('is left to the replica that took it over while the answer to its claim was lost', async () => {
    shared.losesAnswer = true;
    const claim = { by: 'another-bus/replica', at: new Date().toISOString(), attempt: 2 };
    shared.whileLost = (call) => ({ ...call, status: { ...call.status, claim } });
    shared.add('lost');
    startReplica();
    shared.add('next');
    await ended('next');
    await systemClock.sleep(300);
    expect(ran.map(({ caller }) => caller.callId)).toEqual(['next']);
    expect(shared.status('lost')).toEqual({ phase: 'running', claim });
  });

  it('is not run again where the cache does not show its end yet', async () => {
    const clock = createManualClock(Date.now());
    startReplica(clock);
    shared.add('stale', { tool: 'svc.agent.create', arguments: '{"manifest_yaml":"x"}' });
    await began();
    await systemClock.sleep(50);
    shared.isStale = true;
    finish(ok('made'));
    await ended('stale');
    await clock.advance(5_000);
    await systemClock.sleep(200);
    await clock.advance(5_000);
    await systemClock.sleep(200);
    expect(shared.status('stale')).toMatchObject({ phase: 'completed', claim: { attempt: 1 } });
    expect(ran).toHaveLength(1);
    shared.isStale = false;
  });

  it('keeps its answer while the API server is away', async () => {
    startReplica();
    shared.add('away', { tool: 'svc.agent.create', arguments: '{"manifest_yaml":"x"}' });
    await began();
    shared.isAway = true;
    finish(ok('made'));
    await systemClock.sleep(300);
    shared.isAway = false;
    expect(await ended('away')).toMatchObject({ phase: 'completed', result: { content: 'made' } });
    expect(ran).toHaveLength(1);
  });

  it('of a tool of the gateway takes its lane, and is in its audit', async () => {
    contexts.set('desk', { tools: ['orders.*'] });
    gateway.contexts.set('desk', { tools: ['orders.*'] });
    startReplica();
    const order = { tool: 'orders.place', arguments: '{"item":"tea"}', security_context: 'desk' };
    shared.add('order-1', order);
    expect(await ended('order-1')).toMatchObject({ phase: 'completed', result: { content: '{"item":"tea"}' } });
    shared.add('order-2', { ...order, arguments: '{}' });
    expect(await ended('order-2')).toMatchObject({ reason: 'ToolRefused', message: expect.stringContaining("'item'") });
  });
});

describe('a tool call that is refused runs nothing', () => {
  it.each([
    ['an unknown tool', { tool: 'orders.cancel' }, 'UnknownTool'],
    ['one that its context does not have', { tool: 'svc.tools.list', security_context: 'narrow' }, 'ToolNotAllowed'],
    ['one that its context denies', { tool: 'svc.agent.list', security_context: 'denied' }, 'ToolNotAllowed'],
    ['a fleet tool in a context for users', { tool: 'svc.edge.fleet.invoke', security_context: 'user' }, 'tier'],
    [
      'a context that is not there',
      { security_context: 'none' },
      'env.security_context: there is no SecurityContext none',
    ],
    ['a tool of containers', { tool: 'cmd.run', arguments: '{"command":"ls"}' }, 'CommandNotAllowed'],
    ['wrong arguments', { tool: 'svc.agent.create' }, "required field 'manifest_yaml'"],
  ])('%s', async (_what, spec, message) => {
    contexts.set('narrow', { tools: ['fs.*'] });
    contexts.set('denied', { deny_list: ['svc.agent.*'] });
    contexts.set('user', { tier: 'user' });
    startReplica();
    shared.add('refused', spec);
    expect(await ended('refused')).toMatchObject({
      phase: 'failed',
      reason: 'ToolRefused',
      message: expect.stringContaining(message),
    });
    expect(ran).toEqual([]);
    expect(audited).toEqual([]);
  });

  it('one more than max_calls of its context, counted over the execution', async () => {
    contexts.set('two', { max_calls: 2 });
    startReplica();
    const parent = { name: 'run', uid: `wfx-${newId()}`, state: 'call', visit: 1 };
    for (const uid of ['m-1', 'm-2', 'm-3']) {
      shared.add(uid, { security_context: 'two', parent });
      await ended(uid);
    }
    expect(['m-1', 'm-2', 'm-3'].map((uid) => shared.status(uid)?.phase)).toEqual(['completed', 'completed', 'failed']);
    expect(shared.status('m-3')?.message).toContain('MaxCallsExceeded');
    expect(ran).toHaveLength(2);
  });
});

describe('the answer of a tool', () => {
  it('an error is kept as the tool gave it', async () => {
    startReplica();
    shared.add('error', { tool: 'svc.agent.delete', arguments: '{"agent_id":"x"}' });
    expect(await ended('error')).toMatchObject({
      phase: 'failed',
      reason: 'ToolFailed',
      result: { content: 'NOT_FOUND: there is no agent' },
    });
  });

  it('of 2 MiB is cut to what a status holds, and says so', async () => {
    startReplica();
    shared.add('large', { tool: 'svc.agent.export', arguments: '{"name":"x"}' });
    const status = await ended('large');
    expect(status?.result?.truncated).toBe(true);
    const bytes = Buffer.byteLength(JSON.stringify(status?.result?.content));
    expect(bytes).toBeLessThanOrEqual(limits.toolCallResultBytes);
    expect(bytes).toBeGreaterThan(limits.toolCallResultBytes - 16);
  });

  it.each(['<', '>', '&', '\u2028'])('full of %j is cut by the bytes that the API server stores', async (char) => {
    exported = char.repeat(1024 * 1024);
    startReplica();
    shared.add('html', { tool: 'svc.agent.export', arguments: '{"name":"x"}' });
    const status = await ended('html');
    expect(status).toMatchObject({ phase: 'completed', result: { truncated: true } });
    expect(status?.result?.content).toBe(char.repeat(Math.floor((limits.toolCallResultBytes - 2) / 6)));
  });

  const create = (text: string) => ({ tool: 'svc.agent.create', arguments: JSON.stringify({ manifest_yaml: text }) });

  it('that etcd has no room for beside the arguments ends the call, and says so', async () => {
    startReplica();
    shared.add('full', create('<'.repeat(200_000)));
    await began();
    finish(ok('<'.repeat(100_000)));
    const status = await ended('full');
    expect(status).toMatchObject({
      phase: 'failed',
      reason: 'OutcomeUnknown',
      message: expect.stringContaining('request is too large'),
    });
    expect(status).not.toHaveProperty('result');
  });

  it('that the API server refuses as invalid ends the call, and a failure keeps its reason', async () => {
    shared.refusesResults = true;
    startReplica();
    shared.add('error', { tool: 'svc.agent.delete', arguments: '{"agent_id":"x"}' });
    expect(await ended('error')).toMatchObject({
      phase: 'failed',
      reason: 'ToolFailed',
      message: expect.stringContaining('NOT_FOUND'),
    });
  });

  it('a failure within Windlass shows nothing of it, and its outcome is unknown', async () => {
    startReplica();
    shared.add('bug', { tool: 'svc.agent.update', arguments: '{"manifest_yaml":"x"}' });
    const status = await ended('bug');
    expect(status).toMatchObject({ phase: 'failed', reason: 'OutcomeUnknown' });
    expect(JSON.stringify(status)).not.toContain('secret');
  });
});

describe('the end of a tool call that runs', () => {
  const create = { tool: 'svc.agent.create', arguments: '{"manifest_yaml":"x"}' };

  it('a cancel aborts it as one that is given up', async () => {
    startReplica();
    shared.add('cancelled', create);
    await began();
    shared.cancel('cancelled');
    await vi.waitFor(() => expect(ran[0]?.signal.aborted).toBe(true), { timeout: 10_000 });
    expect(ran[0] && isGivenUp(ran[0].signal)).toBe(true);
    finish({ content: 'stopped', isError: true });
    expect(await ended('cancelled')).toMatchObject({ phase: 'cancelled' });
  });

  it('a deletion aborts it, and nothing is written', async () => {
    startReplica();
    shared.add('deleted', create);
    await began();
    shared.remove('deleted');
    await vi.waitFor(() => expect(ran[0] && isGivenUp(ran[0].signal)).toBe(true), { timeout: 10_000 });
  });

  it('its timeout aborts it while the controllers are away', async () => {
    startReplica();
    shared.add('late', { ...create, timeout: '1s' });
    await began();
    await vi.waitFor(() => expect(ran[0] && isGivenUp(ran[0].signal)).toBe(true), { timeout: 10_000 });
    finish({ content: 'stopped', isError: true });
    expect(await ended('late')).toMatchObject({ phase: 'failed', reason: 'Timeout' });
  });

  it('a cancel before a replica takes it runs nothing', async () => {
    shared.add('early', create);
    shared.cancel('early');
    startReplica();
    expect(await ended('early')).toMatchObject({ phase: 'cancelled' });
    expect(ran).toEqual([]);
  });
});

describe('a replica that ends in mid-call', () => {
  const clockOf = (): ManualClock => createManualClock(Date.now());
  /** Time passes for the other replica, scan by scan. */
  const pass = async (clock: ManualClock, ms: number): Promise<void> => {
    for (let past = 0; past < ms; past += 5_000) {
      await clock.advance(5_000);
      await systemClock.sleep(100);
    }
  };

  it('killed: a call that cannot be made again ends with OutcomeUnknown, and no other replica makes it', async () => {
    const first = startReplica();
    shared.add('killed', { tool: 'svc.agent.create', arguments: '{"manifest_yaml":"x"}' });
    await began();
    await first.kill();
    const clock = clockOf();
    startReplica(clock);
    await systemClock.sleep(500);
    await pass(clock, lostAfterMs + 15_000);
    expect(await ended('killed')).toMatchObject({ phase: 'failed', reason: 'OutcomeUnknown' });
    finish(ok('too late'));
    await systemClock.sleep(200);
    expect(shared.status('killed')?.reason).toBe('OutcomeUnknown');
    expect(ran).toHaveLength(1);
  });

  it('killed: a call of an idempotent tool is made again, three times at most', async () => {
    let replica = startReplica();
    shared.add('again', { tool: 'svc.agent.list' });
    await began(1);
    for (const attempt of [2, 3]) {
      await replica.kill();
      const clock = clockOf();
      replica = startReplica(clock);
      await systemClock.sleep(500);
      await pass(clock, lostAfterMs + 15_000);
      await began(attempt);
      expect(shared.status('again')).toMatchObject({ phase: 'running', claim: { attempt } });
    }
    await replica.kill();
    const clock = clockOf();
    startReplica(clock);
    await systemClock.sleep(500);
    await pass(clock, lostAfterMs + 15_000);
    expect(await ended('again')).toMatchObject({ reason: 'OutcomeUnknown', claim: { attempt: 3 } });
  });

  it('a call of a replica that lives is left to it', async () => {
    startReplica();
    shared.add('lives', { tool: 'svc.agent.create', arguments: '{"manifest_yaml":"x"}' });
    await began();
    const clock = clockOf();
    startReplica(clock);
    await systemClock.sleep(500);
    await pass(clock, 3 * lostAfterMs);
    expect(shared.status('lives')?.phase).toBe('running');
    finish(ok('made'));
    expect(await ended('lives')).toMatchObject({ phase: 'completed' });
    expect(ran).toHaveLength(1);
  });

  it('stopped: lets go of a call with a key, which the next one makes under the same id, however many stop', async () => {
    contexts.set('fleet', { tier: 'operator' });
    const args = '{"target":{"All":null},"tool":"cmd.run"}';
    shared.add('fleet', { tool: 'svc.edge.fleet.invoke', security_context: 'fleet', arguments: args });
    for (let stops = 1; stops <= 4; stops += 1) {
      const replica = startReplica();
      await began(stops);
      const stopped = replica.stop();
      const given = ran[stops - 1]?.signal ?? AbortSignal.abort();
      await vi.waitFor(() => expect(given.aborted).toBe(true), { timeout: 10_000 });
      expect(isGivenUp(given)).toBe(false);
      const [before, end] = [hanging, finish];
      const { promise, resolve } = Promise.withResolvers<ToolAnswer>();
      [hanging, finish] = [promise, resolve];
      end({ content: 'gone', isError: true });
      await before;
      await stopped;
      expect(shared.status('fleet')).toEqual({ claim: expect.objectContaining({ attempt: 1 }) });
    }
    startReplica();
    await began(5);
    finish(ok('{"summary":{"ok":3}}'));
    expect(await ended('fleet')).toMatchObject({ phase: 'completed', claim: { attempt: 1 } });
    expect(new Set(ran.map(({ caller }) => caller.callId))).toEqual(new Set(['fleet']));
  });
});

describe('whether a replica is lost', () => {
  const gone = 'bus/gone';
  let clock: ManualClock;
  let holders: ReturnType<typeof createHolders>;
  beforeEach(() => {
    clock = createManualClock(Date.now());
    holders = createHolders({ bus: nats.connect(), clock, pingMs: 200 });
  });
  const lookFor = async (ms: number): Promise<boolean> => {
    for (let past = 0; past < ms; past += scanMs) {
      expect(await holders.isLost(gone)).toBe(false);
      await clock.advance(scanMs);
    }
    return holders.isLost(gone);
  };

  it('one that is looked at in every scan is lost after the time, and not before', async () => {
    expect(await lookFor(lostAfterMs - scanMs)).toBe(false);
    await clock.advance(scanMs);
    expect(await holders.isLost(gone)).toBe(true);
  });

  it('one that is frozen, whose address the server of NATS still knows, is lost as one that is gone', async () => {
    const frozen = await nats.connected();
    const responder = frozen.serve(holderAddress(gone), () => new Promise<string>(() => undefined));
    await responder.ready;
    expect(await lookFor(lostAfterMs)).toBe(true);
    await responder.close(0);
  }, 60_000);

  it.each([
    [2 * scanMs, true],
    [2 * scanMs + 1, false],
    [3_600_000, false],
  ])('a miss after a gap of %i ms adds to the earlier ones: %s', async (gapMs, isLost) => {
    await lookFor(lostAfterMs - 2 * scanMs);
    await clock.advance(gapMs);
    expect(await holders.isLost(gone)).toBe(isLost);
  });
});
