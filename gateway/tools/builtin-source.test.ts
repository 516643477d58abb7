import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { serverStops } from '../../lib/http/server-stops.ts';
import { builtinCallsService, builtinListService } from '../../lib/tools/remote.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createBuiltinSource } from './builtin-source.ts';
import { createToolRegistry } from './tool-registry.ts';
import type { GatewayCaller } from './tool-source.ts';

let nats: TestBus;
beforeAll(async () => void (nats = await startTestBus()));
afterAll(() => nats.stop());

const caller: GatewayCaller = {
  tenant: 'acme',
  subject: 'agent-1',
  executionId: 'e-1',
  security: {},
  scopes: [],
  registered: false,
  namespace: 'tenant-acme',
};

/** A gateway, and an API that takes calls and answers none. */
async function world() {
  const [gateway, api] = [await nats.connected(), await nats.connected()];
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  const names = JSON.stringify(['svc.workflow.run', 'svc.workflow.list']);
  const served = [
    api.serve({ service: builtinListService }, async () => names),
    api.serve({ service: builtinCallsService }, () => {
      take();
      return new Promise(() => undefined);
    }),
  ];
  await Promise.all(served.map(({ ready }) => ready));
  const stop = new AbortController();
  const source = createBuiltinSource({ bus: gateway, clock: systemClock, logger: silentLogger });
  const running = source.run(stop.signal);
  await expect.poll(() => source.find('acme', 'svc.workflow.run')).toBeDefined();
  const call = (name: string, signal = new AbortController().signal) =>
    source.find('acme', name)?.call(caller, {}, { signal, invocationId: 'i-1' });
  return {
    taken,
    call,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await Promise.all(served.map((responder) => responder.close(0)));
    },
  };
}

describe('built-in tools before the API has listed them', () => {
  it('AMB-130 are refused with 503, not as unknown, and lists wait until an API answers or none is there', async () => {
    const [gateway, api] = [await nats.connected(), await nats.connected()];
    const source = createBuiltinSource({ bus: gateway, clock: systemClock, logger: silentLogger });
    const registry = createToolRegistry([source]);
    const find = (name: string) => () => registry.find('acme', name);
    const unread = expect.objectContaining({ code: 'unavailable', reason: 'ToolsUnread' });
    expect(find('svc.workflow.run')).toThrow(unread);
    expect(() => registry.requireRead('acme')).toThrow(unread);
    expect(find('orders.get')()).toBeUndefined();
    const stop = new AbortController();
    const running = source.run(stop.signal);
    // No API is there: the list is whole, and a call may find one that starts.
    await expect.poll(() => registry.requireRead('acme')).toBeUndefined();
    expect(find('svc.workflow.run')).toThrow(unread);
    const served = api.serve({ service: builtinListService }, async () => JSON.stringify(['svc.workflow.run']));
    await served.ready;
    await expect.poll(() => [...source.list('acme')], { timeout: 10_000 }).toHaveLength(1);
    expect(find('svc.workflow.run')()).toBeDefined();
    expect(find('svc.workflow.list')()).toBeUndefined();
    stop.abort();
    await running;
    await served.close(0);
  });
});

describe('a built-in tool whose replica of the API is lost during the call', () => {
  it('may have run, and its answer says so', async () => {
    await using it = await world();
    const answer = it.call('svc.workflow.run');
    await it.taken;
    await nats.server.kill();
    expect(await answer).toEqual({
      isError: true,
      content: expect.stringMatching(/^OutcomeUnknown: .*svc\.workflow\.run may have run/),
    });
    await nats.server.start();
  });

  it('can be called again where that changes nothing', async () => {
    await using it = await world();
    const refused = it.call('svc.workflow.list')?.catch((error: unknown) => error);
    await it.taken;
    await nats.server.kill();
    expect(await refused).toMatchObject({ code: 'unavailable' });
    await nats.server.start();
  });

  it('says that it may have run where the gateway stops', async () => {
    await using it = await world();
    const stop = new AbortController();
    const answer = it.call('svc.workflow.run', stop.signal);
    await it.taken;
    stop.abort(serverStops());
    expect(await answer).toMatchObject({ isError: true, content: expect.stringMatching(/^OutcomeUnknown: /) });
  });
});
