import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { systemClock } from '../../lib/clock.ts';
import type { InformerChange } from '../../lib/informer/informer.ts';
import { ShareUsedError } from '../../lib/bus/index.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createFormerNames, namesOfNamespace } from './former-names.ts';

let nats: TestBus;
let stops: (() => Promise<void>)[];
beforeAll(async () => {
  nats = await startTestBus();
});
beforeEach(() => {
  stops = [];
});
afterAll(() => nats.stop());

const named = (name: string, namespace = 'tenant-acme'): ToolWorkflow =>
  ({ metadata: { name: name.replace('.', '-'), namespace, uid: name }, spec: { name } }) as unknown as ToolWorkflow;

/** One process, from its start on. */
function start() {
  const handlers: ((change: InformerChange<ToolWorkflow>) => void)[] = [];
  const stop = new AbortController();
  const former = createFormerNames({
    bus: nats.connect(),
    clock: systemClock,
    logger: silentLogger,
    tenants: { tenantOf: (namespace) => namespace.replace('tenant-', '') },
    onChange: (handler) => void handlers.push(handler),
  });
  const running = former.run(stop.signal);
  const change = (before: ToolWorkflow | undefined, after: ToolWorkflow | undefined): void => {
    for (const handle of handlers) handle({ key: 'k', before, after, own: false } as InformerChange<ToolWorkflow>);
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  stops.push(end);
  return { former, change, end };
}

describe('names that tool workflows have had', () => {
  it('GW-WF-41 are known in the process that has seen one go, at once', async () => {
    const { former, change, end } = start();
    expect([former.isCurrent, former.has('tenant-acme', 'orders.a')]).toEqual([false, false]);
    change(named('orders.a'), undefined);
    expect([former.has('tenant-acme', 'orders.a'), former.has('tenant-other', 'orders.a')]).toEqual([true, false]);
    await end();
  });

  it('GW-WF-41 are known to a process that begins later, also of one that went while none watched', async () => {
    const first = start();
    first.change(undefined, named('orders.b'));
    first.change(undefined, named('orders.c'));
    first.change(named('orders.c'), undefined);
    const watcher = start();
    await expect.poll(() => watcher.former.has('tenant-acme', 'orders.b'), { timeout: 15_000 }).toBe(true);
    await first.end();
    await watcher.end();
    const second = start();
    expect(second.former.isCurrent).toBe(false);
    await expect.poll(() => second.former.isCurrent, { timeout: 15_000 }).toBe(true);
    await expect.poll(() => second.former.has('tenant-acme', 'orders.b'), { timeout: 15_000 }).toBe(true);
    await expect.poll(() => second.former.has('tenant-acme', 'orders.c'), { timeout: 15_000 }).toBe(true);
    expect(second.former.has('tenant-acme', 'orders.d')).toBe(false);
    await second.end();
  });

  it('GW-WF-41 are the newest of each namespace, and a tenant with its share of keys keeps no other from storing its own', async () => {
    async function* watch<T>() {
      yield { kind: 'begin' } as const;
      for (let at = 0; at <= namesOfNamespace; at += 1)
        yield {
          kind: 'put',
          name: `k${at}`,
          value: { namespace: 'tenant-evil', name: `n${at}` } as T,
          revision: at,
        } as const;
      yield {
        kind: 'put',
        name: 'o',
        value: { namespace: 'tenant-acme', name: 'orders.a' } as T,
        revision: 0,
      } as const;
      yield { kind: 'current' } as const;
    }
    const stored: string[] = [];
    const create = async (key: string, _value: unknown, tenant: string) => {
      if (tenant === 'evil') throw new ShareUsedError({ name: 'n', ttlMs: 1 }, { used: 1, retryAfterMs: 1, now: 0 });
      return stored.push(key);
    };
    const handlers: ((change: InformerChange<ToolWorkflow>) => void)[] = [];
    const stop = new AbortController();
    const former = createFormerNames({
      bus: { watch, bucket: () => ({ create }) as never },
      clock: systemClock,
      logger: silentLogger,
      tenants: { tenantOf: (namespace) => namespace.replace('tenant-', '') },
      onChange: (handler) => void handlers.push(handler),
    });
    for (const handle of handlers)
      for (const one of [named('x', 'tenant-evil'), named('orders.z')])
        handle({ key: 'k', before: one, after: undefined, own: false } as InformerChange<ToolWorkflow>);
    const running = former.run(stop.signal);
    await expect.poll(() => stored, { timeout: 15_000 }).toEqual(['tenant-acme/orders.z']);
    const known = ['n0', 'n1', `n${namesOfNamespace}`].map((name) => former.has('tenant-evil', name));
    expect(known).toEqual([false, true, true]);
    expect([former.has('tenant-acme', 'orders.a'), former.has('tenant-evil', 'x')]).toEqual([true, true]);
    stop.abort();
    await running;
  });
});
