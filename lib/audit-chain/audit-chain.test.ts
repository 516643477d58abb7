import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import type { EventBus } from '../bus/index.ts';
import { systemClock } from '../clock.ts';
import { newId } from '../ids.ts';
import { checkpointStream } from './audit-streams.ts';
import { keyRing, publicHalf } from './checkpoint.ts';
import {
  type AuditChain,
  type AuditChainDeps,
  type AuditQuery,
  auditLimits,
  type ChainedEvent,
  createAuditChain,
  createAuditMetrics,
  createAuditRecord,
  type GatewayEvent,
  gatewayEventTypes,
  keyIdOf,
  verify,
} from './index.ts';

/** The audit on a real server. */
let nats: TestBus;
const open: AuditChain[] = [];
beforeAll(async () => {
  nats = await startTestBus();
}, 300_000);
afterAll(async () => {
  await Promise.all(open.map((chain) => chain.close()));
  await nats.stop();
});

const key: KeyObject = generateKeyPairSync('ed25519').privateKey;
const keys = new Map([[keyIdOf(key), publicHalf(key)]]);

type Keys = Pick<AuditChainDeps, 'key' | 'formerKeys'>;

function openChain(bus: EventBus = nats.connect(), own: Keys = { key }): AuditChain {
  const chain = createAuditChain({ bus, clock: systemClock, logger: silentLogger, newId, ...own });
  open.push(chain);
  return chain;
}

const anEvent = (tenant: string | undefined, data: GatewayEvent['data'] = {}): GatewayEvent => ({
  type: 'ToolInvocationStarted',
  tenant,
  subject: 'kim',
  invocationId: 'call-1',
  data,
});

async function allOf(tenant: string | undefined, query: Partial<AuditQuery> = {}): Promise<ChainedEvent[]> {
  const record = createAuditRecord({ bus: nats.connect(), clock: systemClock });
  const found: ChainedEvent[] = [];
  let cursor = query.cursor;
  for (let pages = 0; pages < 1_000; pages += 1) {
    const page = await record.page(
      { tenant, types: [], limit: 500, ...query, ...(cursor && { cursor }) },
      { of: tenant },
    );
    found.push(...page.events);
    cursor = page.end;
    if (!page.hasMore) return found;
  }
  throw new Error('the record has no end');
}

async function reportOf(tenant: string) {
  const record = createAuditRecord({ bus: nats.connect(), clock: systemClock });
  const { checkpoints } = await record.checkpoints(tenant, { of: tenant });
  const retainedFrom = await record.retainedFrom();
  return verify(await allOf(tenant), { checkpoints, keys, ...(retainedFrom && { retainedFrom }) });
}

describe('the audit chain', () => {
  it.each(gatewayEventTypes)('GW-EVT stores %s as a CloudEvent with its content', async (type) => {
    const chain = openChain();
    const tenant = `type-${type}`;
    await chain.append({ ...anEvent(tenant, { step: 'fetch', status: 200, duration_ms: 3 }), type });
    await chain.close();
    const [event] = await allOf(tenant);
    expect(event).toMatchObject({
      specversion: '1.0',
      source: '/windlass/gateway',
      type,
      subject: 'kim',
      tenant,
      invocationid: 'call-1',
      sequence: 1,
      previous: '0'.repeat(64),
      data: { step: 'fetch', status: 200, duration_ms: 3 },
    });
  });

  it('chains what two replicas write at the same time, each tenant and replica for itself', async () => {
    const chains = [openChain(), openChain()];
    await Promise.all(
      chains.flatMap((chain, which) =>
        Array.from({ length: 200 }, async (_, index) =>
          chain.append(anEvent((2 * index + which) % 3 === 0 ? 'two-a' : 'two-b', { index })),
        ),
      ),
    );
    await Promise.all(chains.map((chain) => chain.close()));
    const [a, b] = await Promise.all(['two-a', 'two-b'].map((tenant) => allOf(tenant)));
    expect([a?.length, b?.length]).toEqual([134, 266]);
    for (const tenant of ['two-a', 'two-b']) {
      const report = await reportOf(tenant);
      expect(report.problems).toEqual([]);
      expect(report.chains).toHaveLength(2);
      for (const { last, vouched } of report.chains) expect(vouched).toBe(last);
    }
  });

  it('continues the lane that a process left, and with its chain', async () => {
    const first = openChain();
    await first.append(anEvent('resumed'));
    await first.close();
    const second = openChain();
    await second.append(anEvent('resumed'));
    await second.close();
    const events = await allOf('resumed');
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(events[1]?.previous).toBe(events[0]?.hash);
    expect((await reportOf('resumed')).problems).toEqual([]);
  });

  it('keeps apart the events without a tenant, which only a reader of all sees', async () => {
    const chain = openChain();
    await chain.append(anEvent(undefined, { mark: 'nobody' }));
    await chain.close();
    expect((await allOf('nobody')).length).toBe(0);
    const found = (await allOf(undefined)).filter(({ data }) => data.mark === 'nobody');
    expect(found).toHaveLength(1);
    expect(found[0]).not.toHaveProperty('tenant');
  });

  it('refuses data beyond its bound, and leaves out the middle of a long text', async () => {
    const chain = openChain();
    const texts = (count: number) => ({ texts: Array.from({ length: count }, () => 'x'.repeat(1_024)) });
    await expect(chain.append(anEvent('large', texts(16)))).rejects.toMatchObject({ code: 'limit_exceeded' });
    await chain.append(anEvent('large', { long: `begin${'y'.repeat(5_000)}end` }));
    const [event] = await allOf('large');
    expect(String(event?.data.long)).toHaveLength(auditLimits.textLength);
    expect(String(event?.data.long)).toMatch(/^begin.*end$/);
  });

  it('reads by type, time, cursor and limit', async () => {
    const chain = openChain();
    for (const type of ['SessionCreated', 'TenantMismatch', 'SessionRevoked'] as const) {
      await chain.append({ ...anEvent('read'), type });
      await systemClock.sleep(10);
    }
    const events = await allOf('read');
    const typesOf = async (query: Partial<AuditQuery>) => (await allOf('read', query)).map(({ type }) => type);
    expect(await typesOf({ limit: 1 })).toEqual(['SessionCreated', 'TenantMismatch', 'SessionRevoked']);
    expect(await typesOf({ types: ['TenantMismatch'] })).toEqual(['TenantMismatch']);
    const second = Date.parse(events[1]?.time ?? '');
    expect(await typesOf({ from: second })).toEqual(['TenantMismatch', 'SessionRevoked']);
    expect(await typesOf({ from: second + 1 })).toEqual(['SessionRevoked']);
    expect(await typesOf({ to: second })).toEqual(['SessionCreated']);
    expect(await typesOf({ from: second, to: second + 1 })).toEqual(['TenantMismatch']);
  });
});

describe('a reader of the audit', () => {
  it('sees every event from a time on, though the clock of its gateway is ahead of that of the store', async () => {
    const clock = { ...systemClock, now: () => systemClock.now() + 5_000 };
    const chain = createAuditChain({ bus: nats.connect(), clock, logger: silentLogger, newId, key });
    open.push(chain);
    await chain.append(anEvent('ahead'));
    const [event] = await allOf('ahead');
    const from = Date.parse(event?.time ?? '');
    expect(await allOf('ahead', { from })).toHaveLength(1);
    expect(await allOf('ahead', { from: from + 1 })).toEqual([]);
  });
});

describe('checkpoints of all tenants', () => {
  it('are read in pages, however many there are, and those of one tenant in one', async () => {
    const own = await startTestBus();
    const bus = own.connect();
    const stream = bus.stream(checkpointStream);
    let written = 0;
    const writeUpTo = async (count: number): Promise<void> => {
      while (written < count) {
        const some = Array.from({ length: Math.min(500, count - written) }, (_, index) => written + index);
        await Promise.all(
          some.map((sequence) => stream.append({ tenant: `t${sequence}`, key: 'l0', body: body(sequence) })),
        );
        written += some.length;
      }
    };
    const body = (sequence: number): string =>
      JSON.stringify({ lane: 'l0', sequence, hash: 'h', time: 't', key_id: 'k', signature: 's' });
    const record = createAuditRecord({ bus, clock: systemClock });
    /** The number of checkpoints on each page. */
    const pages = async (): Promise<number[]> => {
      const [sizes, places] = [[] as number[], new Set<number>()];
      for (let after: number | undefined = 0; after !== undefined; ) {
        const page = await record.checkpoints(undefined, { of: undefined }, after);
        sizes.push(page.checkpoints.length);
        for (const { sequence } of page.checkpoints) places.add(sequence);
        after = page.next;
      }
      expect(places.size).toBe(written);
      return sizes;
    };
    const most = auditLimits.pageCheckpoints;
    await writeUpTo(most - 1);
    expect(await pages()).toEqual([most - 1]);
    await writeUpTo(most);
    expect(await pages()).toEqual([most, 0]);
    await writeUpTo(most + 1);
    expect(await pages()).toEqual([most, 1]);
    await writeUpTo(3 * most + 1);
    expect(await pages()).toEqual([...Array<number>(3).fill(most), 1]);
    expect((await record.checkpoints('t7', { of: 't7' })).checkpoints).toHaveLength(1);
    await own.stop();
  }, 120_000);
});

describe('the audit chain without NATS', () => {
  it('refuses within two seconds, cut off or frozen, and continues afterwards without a gap', async () => {
    const own = await startTestBus();
    const bus = own.connect();
    const chain = openChain(bus);
    await chain.append(anEvent('away'));
    for (const [away, back] of [
      [() => own.server.kill(), () => own.server.start()],
      [() => own.server.freeze(), async () => own.server.thaw()],
    ] as const) {
      await away();
      const start = performance.now();
      const refused = await Promise.allSettled([1, 2, 3].map(() => chain.append(anEvent('away'))));
      expect(performance.now() - start).toBeLessThan(2_000);
      for (const { status } of refused) expect(status).toBe('rejected');
      expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({ code: 'unavailable' });
      await back();
      const deadline = Date.now() + 10_000;
      while (
        Date.now() < deadline &&
        (await chain.append(anEvent('away')).then(
          () => false,
          () => true,
        ))
      )
        await systemClock.sleep(100);
    }
    await chain.close();
    const record = createAuditRecord({ bus, clock: systemClock });
    const { events } = await record.page({ tenant: 'away', types: [], limit: 500 }, { of: 'away' });
    const report = verify(events, { ...(await record.checkpoints('away', { of: 'away' })), keys });
    expect(report.problems).toEqual([]);
    expect(report.events).toBeGreaterThanOrEqual(3);
    await own.stop();
  }, 40_000);

  it.each([
    ['is cut off', true],
    ['is frozen', false],
  ])(
    'GW-EVT stores each outcome once where the bus %s, in order, and refuses intents meanwhile',
    async (_how, isCut) => {
      const own = await startTestBus();
      const bus = own.connect();
      const chain = openChain(bus);
      const mark = (index: number) => anEvent('late', { index });
      const outcome = (index: number): GatewayEvent => ({ ...mark(index), type: 'ToolInvocationCompleted' });
      await chain.append(mark(0));
      await (isCut ? own.server.kill() : own.server.freeze());
      // Those of one tick share a message, so that batches hold both kinds.
      for (const first of [1, 5]) {
        const both = [outcome(first), mark(100 + first), outcome(first + 1), outcome(first + 2), outcome(first + 3)];
        const refused = await Promise.allSettled(both.map((event) => chain.append(event)));
        expect(refused.map(({ status }) => status)).toEqual(both.map(() => 'rejected'));
        for (const one of refused) expect(one).toMatchObject({ reason: { code: 'unavailable' } });
      }
      if (isCut) await own.server.start();
      else own.server.thaw();
      const record = createAuditRecord({ bus, clock: systemClock });
      const read = async () => (await record.page({ tenant: 'late', types: [], limit: 500 }, { of: 'late' })).events;
      const outcomes = async () =>
        (await read()).flatMap(({ type, data }) => (type === outcome(0).type ? data.index : []));
      await expect.poll(async () => (await outcomes().catch(() => [])).length, { timeout: 30_000 }).toBeGreaterThan(7);
      await expect
        .poll(
          () =>
            chain.append(mark(9)).then(
              () => true,
              () => false,
            ),
          { timeout: 30_000 },
        )
        .toBe(true);
      expect(await outcomes()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      const intents = (await read()).filter(({ type, data }) => type === mark(0).type && Number(data.index) > 100);
      // A message that a frozen server took has its place, whatever became of its caller.
      expect(intents.length).toBeLessThanOrEqual(isCut ? 0 : 2);
      await chain.close();
      expect(verify(await read(), { ...(await record.checkpoints('late', { of: 'late' })), keys }).problems).toEqual(
        [],
      );
      await own.stop();
    },
    90_000,
  );

  it('counts and logs outcomes that the bus did not take in two minutes, or before the process stops', async () => {
    const own = await startTestBus();
    const clock = createManualClock();
    const lines: unknown[] = [];
    const logger = { ...silentLogger, error: (fields: unknown) => void lines.push(fields) };
    const registry = new Registry();
    const observer = createAuditMetrics(registry);
    const chain = createAuditChain({ bus: own.connect(), clock, logger, observer, newId, key });
    const outcome: GatewayEvent = { ...anEvent('lost'), type: 'WorkflowStepExecuted' };
    await chain.append(outcome);
    await own.server.kill();
    const refused = ['ToolInvocationRefused', 'TenantMismatch', 'SessionRevoked'] as const;
    for (const type of ['WorkflowStepExecuted', 'WorkflowStepExecuted', 'ToolInvocationCompleted', ...refused] as const)
      await expect(chain.append({ ...outcome, type })).rejects.toMatchObject({ code: 'unavailable' });
    await clock.advance(auditLimits.outcomeMs - 1_000);
    expect(lines).toEqual([]);
    await clock.advance(2_000);
    await expect
      .poll(() => lines)
      .toMatchObject([
        {
          lost: {
            WorkflowStepExecuted: 2,
            ToolInvocationCompleted: 1,
            ToolInvocationRefused: 1,
            TenantMismatch: 1,
            SessionRevoked: 1,
          },
          total: 6,
        },
      ]);
    await expect(chain.append(outcome)).rejects.toMatchObject({ code: 'unavailable' });
    const closed = chain.close();
    await expect
      .poll(
        async () => {
          await clock.advance(auditLimits.sweepMs * 10);
          return lines.length;
        },
        { timeout: 30_000 },
      )
      .toBe(2);
    await closed;
    expect(lines[1]).toMatchObject({ lost: { WorkflowStepExecuted: 1 }, total: 7 });
    await expect(chain.append(outcome)).rejects.toMatchObject({ code: 'unavailable' });
    expect(lines[2]).toMatchObject({ total: 8 });
    const counted = await registry.getSingleMetricAsString('windlass_audit_outcomes_lost_total');
    expect(counted.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
      'windlass_audit_outcomes_lost_total{type="WorkflowStepExecuted"} 4',
      'windlass_audit_outcomes_lost_total{type="ToolInvocationCompleted"} 1',
      ...refused.map((type) => `windlass_audit_outcomes_lost_total{type="${type}"} 1`),
    ]);
    await own.stop();
  }, 90_000);

  const later = generateKeyPairSync('ed25519').privateKey;
  it.each<[string, Keys]>([
    ['', { key }],
    [', also to a writer with another key', { key: later, formerKeys: [publicHalf(key)] }],
  ])(
    'shows for ever where an administrator of NATS cut a chain behind its checkpoint%s',
    async (_to, of) => {
      const own = await startTestBus();
      const chain = openChain(own.connect());
      for (let index = 0; index < 3; index += 1) await chain.append(anEvent('cut', { index }));
      await chain.close();
      const connection = await connect({ servers: own.server.url });
      const { streams } = await jetstreamManager(connection);
      const name = 'WINDLASS_STREAM_gateway_audit';
      const { config } = await streams.info(name);
      // Deletes are denied for good, so the stream itself is replaced by one without its end.
      const kept = await Promise.all([1, 2].map((seq) => streams.getMessage(name, { seq })));
      await streams.delete(name);
      await streams.add(config);
      for (const message of kept) await connection.request(message?.subject ?? '', message?.data);
      await connection.close();
      const record = createAuditRecord({ bus: own.connect(), clock: systemClock });
      const { checkpoints } = await record.checkpoints('cut', { of: 'cut' });
      const read = async () => (await record.page({ tenant: 'cut', types: [], limit: 500 }, { of: 'cut' })).events;
      expect(verify(await read(), { checkpoints, keys }).problems).toMatchObject([{ kind: 'cut', sequence: 3 }]);
      const next = openChain(own.connect(), of);
      await next.append(anEvent('cut', { index: 'later' }));
      await next.close();
      const ring = keyRing([key, later]);
      const problems = verify(await read(), {
        ...(await record.checkpoints('cut', { of: 'cut' })),
        keys: ring,
      }).problems;
      expect(problems).toMatchObject([{ kind: 'missing', sequence: 3 }]);
      await own.stop();
    },
    40_000,
  );
});
