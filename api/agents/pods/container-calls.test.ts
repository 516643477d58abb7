import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createSealSessions, type SealSession } from '../../../lib/envelope/index.ts';
import { newId } from '../../../lib/ids.ts';
import type { ModelRequest } from '../../../lib/models/models.ts';
import type { DispatchResult, ToolAnswer } from '../../../lib/tools/tool.ts';
import { createToolbox } from '../../../lib/tools/toolbox.ts';
import { aToolCaller } from '../../../test/builders/tool-caller.ts';
import {
  executionOf,
  type Replica,
  replyOf,
  SharedExecutions,
  specOf,
  startReplica,
} from '../../../test/agents/replica.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { fasterClock } from '../../../test/support/faster-clock.ts';
import { sealSession } from '../../../test/support/seal-session.ts';
import { type ContainerCalls, createContainerCalls } from './container-calls.ts';
import { createConversationFeed } from '../conversation/live.ts';
import type { Offered } from './pod-channel.ts';
import { signedAddress } from '../calls/signed-calls.ts';

let nats: TestBus;
beforeAll(async () => void (nats = await startTestBus()));
afterAll(() => nats.stop());

const open: Replica[] = [];
const finishers: (() => void)[] = [];
const never = new AbortController().signal;
/** The session that calls of an execution are signed in. */
const attest = async (uid: string): Promise<SealSession> =>
  createSealSessions(await nats.connected()).create({ ...sealSession(), execution_id: uid });
const result: DispatchResult = { exit_code: 0, stdout: 'out', stderr: '', duration_ms: 1, truncated: false };
const config = { subcommand_allowlist: { ls: [] } };
// Its model asks for an unknown tool for as long as a test waits, which takes many questions.
const execution = { max_tool_calls: 1_000 };
const spec = specOf({ execution, tools: [{ name: 'cmd', config }, { name: 'fs.*' }] });

/** Replicas of one execution, of which the first drives it. Its model calls an unknown tool again and again, until the test finishes it. */
async function world(uid: string, clock = systemClock) {
  const shared = new SharedExecutions();
  let isFinished = false;
  const ask = async () => {
    if (!isFinished) await systemClock.sleep(50, never);
    return isFinished ? replyOf('done') : replyOf('', [['nothing', {}]]);
  };
  const finish = (): void => void (isFinished = true);
  const toolbox = createToolbox({ builtin_dispatchers: [] });
  const start = () => {
    const bus = nats.connect();
    const replica = startReplica({ bus, shared, clock, ask, spec, toolbox });
    open.push(replica);
    const feed = createConversationFeed(bus, clock);
    const deps = { bus, clock, newId, executions: shared.informer, drivers: replica.drivers, feed };
    return { ...replica, feed, calls: createContainerCalls(deps) };
  };
  const one = start();
  await attest(uid);
  shared.put(executionOf(uid));
  await one.drivers.open(shared.get(`run-${uid}`), never);
  finishers.push(finish);
  return { shared, one, start, finish };
}

afterEach(async () => {
  for (const finish of finishers.splice(0)) finish();
  await Promise.all(open.splice(0).map((replica) => replica.stop()));
});

const caller = (uid: string) => aToolCaller({ executionId: uid, tenant: 'acme', spec });
const ls = (calls: ContainerCalls, uid: string): Promise<ToolAnswer> =>
  calls.run({ caller: caller(uid), tool: 'cmd.run', args: { command: 'ls' } }, never);

/** The next command for the pod, which asks a replica until there is one, and the channel that gave it. */
async function commandAt({ drivers }: Replica, shared: SharedExecutions, uid: string) {
  for (;;) {
    const conversation = await drivers.open(shared.get(`run-${uid}`), never);
    const offered = await conversation?.channel.ask('pod-1', never);
    if (conversation !== undefined && offered !== undefined) return { channel: conversation.channel, offered };
  }
}

/** The part of the pod: it asks a replica for a command and reports its result. */
async function work(replica: Replica, shared: SharedExecutions, uid: string): Promise<Offered> {
  const { channel, offered } = await commandAt(replica, shared, uid);
  await channel.report(offered.dispatch_id, result, never);
  return offered;
}

describe('signed calls of tools that run in the pod', () => {
  it('TOOL-CMD-02 TOOL-RULE-03 run in the container of the execution, while its agent continues', async () => {
    const { shared, one, finish } = await world('alone');
    const answered = ls(one.calls, 'alone');
    expect(await work(one, shared, 'alone')).toMatchObject({ plan: { command: 'ls', cwd: '/workspace' } });
    expect(await answered).toEqual({ isError: false, content: '{"stdout":"out","stderr":"","exit_code":0}' });
    finish();
    await vi.waitFor(() => expect(shared.outcomes).toMatchObject([{ output: 'done', tool_calls: 0 }]), {
      timeout: 20_000,
    });
  });

  it('reach the replica that drives the conversation, and are written down in it', async () => {
    const { shared, one: driver, start, finish } = await world('elsewhere');
    const other = start();
    const answered = ls(other.calls, 'elsewhere');
    await work(driver, shared, 'elsewhere');
    expect(await answered).toMatchObject({ isError: false });
    const kinds = (await other.feed.read('acme', 'elsewhere', 0)).map(({ record }) => record.kind);
    expect(kinds.filter((kind) => /signed|dispatched/.test(kind))).toEqual([
      'signed_call',
      'dispatched',
      'signed_ended',
    ]);
    finish();
  });

  it('that the driver does not answer in time may run, and their answer says so', async () => {
    const [bus, feedBus] = [nats.connect(), nats.connect()];
    const shared = new SharedExecutions();
    shared.put(executionOf('mute'));
    const mute = bus.serve(signedAddress('mute'), () => new Promise(() => undefined));
    await mute.ready;
    const drivers = { open: () => Promise.reject(new Error('it has a driver')) };
    const feed = createConversationFeed(feedBus, systemClock);
    const deps = { bus: feedBus, clock: fasterClock, newId, executions: shared.informer, drivers, feed };
    const { content, isError } = await ls(createContainerCalls(deps), 'mute');
    expect([isError, content]).toEqual([true, expect.stringMatching(/^OutcomeUnknown: .*may run/)]);
    await mute.close(0);
  });

  it('go to the next driver with their command, which runs once', { timeout: 60_000 }, async () => {
    const { shared, one: first, start } = await world('moved');
    const second = start();
    const answered = ls(first.calls, 'moved');
    const execution = shared.get('run-moved');
    const { offered } = await commandAt(first, shared, 'moved');
    const after = await second.drivers.open(execution, never);
    expect(await after?.channel.ask('pod-1', never)).toEqual(offered);
    await after?.channel.report(offered.dispatch_id, result, never);
    expect(await answered).toMatchObject({ isError: false, content: expect.stringContaining('"stdout":"out"') });
  });

  it('AMB-038 a result that comes again changes nothing, and another one is a conflict', async () => {
    const { shared, one } = await world('again');
    const answered = ls(one.calls, 'again');
    const offered = await work(one, shared, 'again');
    await answered;
    const conversation = await one.drivers.open(shared.get('run-again'), never);
    const id = offered.dispatch_id;
    await conversation?.channel.report(id, result, never);
    await expect(conversation?.channel.report(id, { ...result, exit_code: 1 }, never)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('ContainerBusy: one that the pod does not take in time ran nothing; no more than four wait', {
    timeout: 60_000,
  }, async () => {
    const { shared, one } = await world('busy', fasterClock);
    const waiting = Array.from({ length: 4 }, () => ls(one.calls, 'busy'));
    const conversation = await one.drivers.open(shared.get('run-busy'), never);
    await vi.waitFor(() => expect(conversation?.state.signed.size).toBe(4), { timeout: 10_000 });
    expect(await ls(one.calls, 'busy')).toMatchObject({
      isError: true,
      content: expect.stringMatching(/^ContainerBusy/),
    });
    for (const { content, isError } of await Promise.all(waiting))
      expect([isError, content]).toEqual([true, expect.stringMatching(/^ContainerBusy: the container asked for no/)]);
    expect(conversation?.state.signed.size).toBe(0);
  });

  /** An execution at a replica that stops in the midst of a tool that cannot be made again, and another replica. */
  async function leaving(uid: string, clock = systemClock) {
    const shared = new SharedExecutions();
    const ended = Promise.withResolvers<ToolAnswer>();
    const slow = vi.fn<() => Promise<ToolAnswer>>(() => ended.promise);
    const name = 'svc.script.delete';
    const toolbox = createToolbox({ builtin_dispatchers: [] }, { [name]: { kind: 'api', run: slow } });
    const ask = async ({ messages }: ModelRequest) =>
      messages.at(-1)?.role === 'tool' ? replyOf('done') : replyOf('', [[name, { id: 'x' }]]);
    const own = specOf({ tools: [...(spec.tools ?? []), { name }] });
    const start = () => {
      const bus = nats.connect();
      const times = { repeatableMs: 50, callsMs: 80_000 };
      const replica = startReplica({ bus, shared, clock, ask, spec: own, toolbox, leaving: times });
      open.push(replica);
      const deps = { bus, clock, newId, executions: shared.informer, drivers: replica.drivers };
      return { ...replica, calls: createContainerCalls({ ...deps, feed: createConversationFeed(bus, clock) }) };
    };
    const first = start();
    await attest(uid);
    shared.put(executionOf(uid));
    await vi.waitFor(() => expect(slow).toHaveBeenCalledTimes(1), { timeout: 10_000 });
    /** The tool ends, and with it the replica that ran it; the other one has continued the execution. */
    const end = async (stopped: Promise<void>): Promise<void> => {
      ended.resolve({ content: 'gone', isError: false });
      await stopped;
      await vi.waitFor(() => expect(shared.outcomes).toMatchObject([{ output: 'done', tool_calls: 1 }]), {
        timeout: 20_000,
      });
      expect(slow).toHaveBeenCalledTimes(1);
    };
    return { shared, first, second: start(), end };
  }

  it('ContainerBusy: one that the pod was not given is answered while a replica that stops ends a tool', {
    timeout: 90_000,
  }, async () => {
    const { shared, first, second, end } = await leaving('leaving', fasterClock);
    const conversation = await first.drivers.open(shared.get('run-leaving'), never);
    const answered = ls(second.calls, 'leaving');
    await vi.waitFor(() => expect(conversation?.state.signed.size).toBe(1), { timeout: 10_000 });
    const stopped = first.stop();
    expect((await answered).content).toMatch(/^ContainerBusy: the container asked for no command/);
    await end(stopped);
  });

  it('end at the next driver where the pod has the command, while a replica that stops ends a tool', {
    timeout: 60_000,
  }, async () => {
    const { shared, first, second, end } = await leaving('given');
    const answered = ls(second.calls, 'given');
    const { offered } = await commandAt(first, shared, 'given');
    const stopped = first.stop();
    const after = await commandAt(second, shared, 'given');
    expect(after.offered).toEqual(offered);
    await after.channel.report(offered.dispatch_id, result, never);
    expect(await answered).toMatchObject({ isError: false, content: expect.stringContaining('"stdout":"out"') });
    await end(stopped);
  });

  it('ContainerBusy: no more than four wait where ten arrive at one moment', async () => {
    const { shared, one } = await world('crowd');
    const answers = Array.from({ length: 10 }, () => ls(one.calls, 'crowd'));
    for (let call = 0; call < 4; call += 1) await work(one, shared, 'crowd');
    const contents = (await Promise.all(answers)).map(({ content }) => content);
    expect(contents.filter((content) => content.startsWith('ContainerBusy: 4 signed calls wait'))).toHaveLength(6);
  });

  it('end with the execution', async () => {
    const { shared, one } = await world('over', fasterClock);
    const conversation = await one.drivers.open(shared.get('run-over'), never);
    const answered = ls(one.calls, 'over');
    await vi.waitFor(() => expect(conversation?.state.signed.size).toBe(1), { timeout: 10_000 });
    const execution = shared.get('run-over');
    shared.put({ ...execution, spec: { ...execution.spec, cancel: { at: '2026-01-01T00:00:00Z' } } as never });
    expect((await answered).content).toMatch(/^ExecutionOver: /);
  }, 30_000);
});

describe('a call that no container can run', () => {
  const problemOf = (status: object, args: object = { command: 'ls' }) => {
    const shared = new SharedExecutions();
    const execution = executionOf('p');
    shared.put({ ...execution, status: { ...execution.status, ...status } });
    const unused = () => Promise.reject(new Error('not asked'));
    const calls = createContainerCalls({
      bus: { request: unused },
      clock: systemClock,
      newId,
      executions: shared.informer,
      drivers: { open: unused },
      feed: {
        read: unused,
        listen: () => {
          throw new Error('not asked');
        },
      },
    });
    return calls.problem({ caller: caller('p'), tool: 'cmd.run', args: args as never });
  };

  it.each<[string, object, string | undefined]>([
    ['runs', {}, undefined],
    ['has no pod', { pod: undefined }, 'NoContainer'],
    ['is yet to start', { phase: 'pending' }, 'NoContainer'],
    ['waits for a person', { phase: 'waiting' }, 'ContainerBusy'],
  ])('is refused before it is counted where the execution %s', (_what, status, want) => {
    expect(problemOf(status)?.code).toBe(want);
  });

  it.each([
    [520_192 - '{"a":""}'.length, undefined],
    [520_193 - '{"a":""}'.length, 'arguments'],
  ])('is refused with arguments of %i characters: %s', (length, want) => {
    expect(problemOf({}, { a: 'x'.repeat(length) })?.kind).toBe(want);
  });
});
