import type { Client } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { edgeLimits, type HostAddress } from '../../../lib/edge/index.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import type { WireMessage } from '../../support/wire.ts';
import type { WireStream } from '../../support/wire-daemon.ts';
import { ProtocolWorld } from './protocol-world.ts';

let world: ProtocolWorld;
let relay: TestRelay & { readonly client: Client };
let stream: WireStream;
let address: HostAddress;

beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
beforeEach(async () => {
  relay = await world.relay();
  const host = await world.enroll(relay.client);
  stream = await world.connected(relay.client, host);
  address = await world.address(host);
});
afterEach(() => world.clear());

/** The next message that the relay sends, whose signature the stream has checked. */
async function next(): Promise<WireMessage> {
  await vi.waitFor(() => expect(stream.commands.length).toBeGreaterThan(0));
  const [command] = stream.commands.splice(0);
  if (command === undefined) throw new Error('no command');
  return command;
}

const command = {
  commandId: '7b1a7c0e-58f4-8d30-a0de-000000000002',
  run: 'run',
  tool: 'cmd.run',
  args: { command: 'uptime' },
  context: 'default',
  token: 'header.payload.signature',
  deadlineMs: 60_000,
};

describe('messages to a daemon', () => {
  it('EDGE-PROTO-32 EDGE-PROTO-37..42 EDGE-RES-33 EDGE-FLOW-06 InvokeTool has each fact in its field, in a sealed EdgeCommand', async () => {
    await world.commands.send(address, command);
    const received = await next();
    expect(received.numbers).toEqual([1, 10]);
    expect(received.message(10).numbers).toEqual([1, 3, 4, 5]);
    expect(received.message(10).text(1)).toBe(address.nodeId);
    const invoke = received.message(1);
    expect(invoke.numbers).toEqual([1, 2, 3, 4, 5, 6]);
    expect([invoke.text(1), invoke.text(2), invoke.text(4)]).toEqual([command.commandId, 'default', 'cmd.run']);
    expect([invoke.message(3).text(1), invoke.message(3).text(2)]).toEqual([command.token, 'acme']);
    const [entry] = invoke.message(5).messages(1);
    expect([entry?.text(1), entry?.message(2).text(3)]).toEqual(['command', 'uptime']);
    expect(invoke.message(6).number(1)).toBe(60n);
  });

  it.each([
    [1, 0n, 1_000_000n],
    [999, 0n, 999_000_000n],
    [1_000, 1n, 0n],
    [1_001, 1n, 1_000_000n],
    [86_400_000, 86_400n, 0n],
  ])('EDGE-PROTO-42 InvokeTool has a deadline of %d ms as a Duration', async (deadlineMs, seconds, nanos) => {
    await world.commands.send(address, { ...command, deadlineMs });
    const deadline = (await next()).message(1).message(6);
    expect([deadline.number(1), deadline.number(2)]).toEqual([seconds, nanos]);
  });

  it.each([
    ['one byte below 256 KiB', -1, 'sent'],
    ['256 KiB', 0, 'sent'],
    ['one byte above 256 KiB', 1, 'limit_exceeded'],
  ])('EDGE-PROTO-41 InvokeTool with args of %s of JSON is %s', async (_what, more, want) => {
    const frame = JSON.stringify({ a: '' }).length;
    const args = { a: 'x'.repeat(edgeLimits.argsBytes + more - frame) };
    const sent = world.commands.send(address, { ...command, args }).then(() => 'sent');
    expect(await sent.catch((error: { readonly code: string }) => error.code)).toBe(want);
    await world.commands.drain(address);
    const received = await next();
    expect(received.numbers).toEqual(want === 'sent' ? [1, 10] : [4, 10]);
  });

  it('EDGE-PROTO-33 EDGE-PROTO-43 Cancel names the command and the reason', async () => {
    await world.commands.cancel(address, { commandId: command.commandId, reason: 'enough' });
    const received = await next();
    expect(received.numbers).toEqual([2, 10]);
    const cancel = received.message(2);
    expect([cancel.numbers, cancel.text(1), cancel.text(2)]).toEqual([[1, 2], command.commandId, 'enough']);
  });

  it('EDGE-PROTO-34 EDGE-PROTO-44 PushConfig has the change as bytes, and its version', async () => {
    await world.commands.pushConfig(address, { delta: 'labels: { ring: "1" }', version: '7' });
    const received = await next();
    expect(received.numbers).toEqual([3, 10]);
    const push = received.message(3);
    expect([push.numbers, push.text(1), push.text(2)]).toEqual([[1, 2], 'labels: { ring: "1" }', '7']);
  });

  it('EDGE-PROTO-35 EDGE-PROTO-45 Drain is there, and empty', async () => {
    await world.commands.drain(address);
    const received = await next();
    expect([received.numbers, received.bytes(4).length]).toEqual([[4, 10], 0]);
  });

  it('EDGE-PROTO-36 EDGE-PROTO-46 Shutdown has its grace as a Duration', async () => {
    await world.commands.shutdown(address, 2_500);
    const received = await next();
    expect(received.numbers).toEqual([5, 10]);
    expect([received.message(5).message(1).number(1), received.message(5).message(1).number(2)]).toEqual([
      2n,
      500_000_000n,
    ]);
  });

  it('EDGE-FLOW-06 AMB-011 rise in their sequence from 1', async () => {
    for (let time = 0; time < 5; time += 1) await world.commands.drain(address);
    await vi.waitFor(() => expect(stream.commands).toHaveLength(5));
    expect(stream.commands.map((one) => one.message(10).number(5))).toEqual([1n, 2n, 3n, 4n, 5n]);
  });
});
