import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createCallsUnderWay, createRevocations, createSealSessions } from '../../../lib/envelope/index.ts';
import { newId } from '../../../lib/ids.ts';
import type { DispatchResult } from '../../../lib/tools/tool.ts';
import { createToolbox } from '../../../lib/tools/toolbox.ts';
import { executionOf, replyOf, SharedExecutions, specOf } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { aToolCaller } from '../../../test/builders/tool-caller.ts';
import { sealSession } from '../../../test/support/seal-session.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { createContainerCalls } from '../pods/container-calls.ts';
import { createConversationFeed } from '../conversation/live.ts';

const replicas = useReplicas();
const never = new AbortController().signal;
const result: DispatchResult = { exit_code: 0, stdout: 'out', stderr: '', duration_ms: 1, truncated: false };
const spec = specOf({ tools: [{ name: 'cmd', config: { subcommand_allowlist: { ls: [] } } }] });

let over: AbortController;
beforeEach(() => void (over = new AbortController()));
afterEach(() => over.abort());

/** An execution whose driver answers those who revoke; its model answers when the test is over. */
async function world(uid: string) {
  const bus = replicas.connect();
  while (bus.problem() !== undefined) await systemClock.sleep(10);
  const calls = createCallsUnderWay(systemClock);
  const sessions = createSealSessions(bus);
  const revocations = createRevocations({ bus, clock: systemClock, logger: silentLogger, newId, sessions, calls });
  void revocations.run(over.signal);
  await revocations.open(over.signal);
  await sessions.create({ ...sealSession(), execution_id: uid });

  const shared = new SharedExecutions();
  const ask = async () => {
    await systemClock.sleep(600_000, over.signal);
    return replyOf('done');
  };
  const toolbox = createToolbox({ builtin_dispatchers: [] });
  const { drivers } = replicas.start({ bus, shared, ask, spec, toolbox, admission: calls });
  shared.put(executionOf(uid));
  const execution = shared.get(`run-${uid}`);
  const conversation = await drivers.open(execution, never);
  if (conversation === undefined) throw new Error('the conversation is not open');
  const feed = createConversationFeed(bus, systemClock);
  const container = createContainerCalls({
    bus,
    clock: systemClock,
    newId,
    executions: shared.informer,
    drivers,
    feed,
  });
  const caller = aToolCaller({ executionId: uid, tenant: 'acme', spec });

  const name = { tenant: 'acme', execution_id: uid };
  return {
    conversation,
    revoke: () => revocations.revoke(name),
    /** A DELETE that is written, and waits for the calls of the driver's replica. */
    async revoking() {
      const drained = vi.spyOn(calls, 'drained');
      const revoked = revocations.revoke(name);
      await vi.waitFor(() => expect(drained).toHaveBeenCalledTimes(1), { timeout: 10_000 });
      return { revoked };
    },
    ls: (signal: AbortSignal) => container.run({ caller, tool: 'cmd.run', args: { command: 'ls' } }, signal),
    /** Records of signed calls. */
    async records() {
      const records = (await feed.read('acme', uid, 0)).map(({ record }) => record);
      return records.filter(({ kind }) => /signed|dispatched/.test(kind));
    },
  };
}

/** A call that waits at the driver for its pod, and whose caller is gone. */
async function abandoned({ conversation, ls }: Awaited<ReturnType<typeof world>>): Promise<void> {
  const caller = new AbortController();
  const gone = ls(caller.signal).catch(() => 'gone');
  await vi.waitFor(() => expect(conversation.state.signed.size).toBe(1), { timeout: 10_000 });
  caller.abort();
  await gone;
}

describe('a signed call that waits for its pod while its session is revoked', () => {
  it('GW-SESS-10 begins no more: the pod that asks next gets no command', async () => {
    const one = await world('waits');
    await abandoned(one);
    expect(await one.revoke()).toBe(true);
    expect(await one.conversation.channel.ask('pod-1', AbortSignal.timeout(2_000))).toBeUndefined();
    expect(await one.records()).toMatchObject([
      { kind: 'signed_call' },
      { kind: 'signed_ended', is_error: true, content: expect.stringMatching(/^SessionRevoked: .* nothing ran/) },
    ]);
  });

  it('GW-SESS-10 is refused its caller who still waits', async () => {
    const one = await world('answered');
    const answered = one.ls(never);
    await vi.waitFor(() => expect(one.conversation.state.signed.size).toBe(1), { timeout: 10_000 });
    expect(await one.revoke()).toBe(true);
    expect(await one.conversation.channel.ask('pod-1', AbortSignal.timeout(2_000))).toBeUndefined();
    expect(await answered).toMatchObject({ isError: true, content: expect.stringMatching(/^SessionRevoked/) });
  });

  it('GW-SESS-10 is not given a second time to a pod that asks again', async () => {
    const one = await world('again');
    await abandoned(one);
    expect(await one.conversation.channel.ask('pod-1', never)).toMatchObject({ plan: { command: 'ls' } });
    const { revoked } = await one.revoking();
    expect(await one.conversation.channel.ask('pod-1', AbortSignal.timeout(2_000))).toBeUndefined();
    expect(await one.records()).toMatchObject([
      { kind: 'signed_call' },
      { kind: 'dispatched' },
      { kind: 'signed_ended', is_error: true, content: expect.stringMatching(/^OutcomeUnknown/) },
    ]);
    await revoked;
  });

  it('GW-SESS-10 that the pod has ends before DELETE answers, though its caller is gone', async () => {
    const one = await world('runs');
    await abandoned(one);
    const offered = await one.conversation.channel.ask('pod-1', never);
    const order: string[] = [];
    const { revoked } = await one.revoking();
    const answered = revoked.then(() => order.push('revoked'));
    // More than the way of an answer over the bus.
    await one.records();
    await systemClock.sleep(200);
    order.push('reported');
    await one.conversation.channel.report(offered?.dispatch_id ?? '', result, never);
    await answered;
    expect(order).toEqual(['reported', 'revoked']);
  });
});
