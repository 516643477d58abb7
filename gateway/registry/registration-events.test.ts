import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { globalNamespace } from '../../crds/labels.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { createAuditChain, createAuditRecord } from '../../lib/audit-chain/index.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { createManualClock, type ManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createRegistrationEvents, type RegistrationEvents } from './registration-events.ts';

/** Replicas on real NATS, whose caches a test fills and whose looks it times. */
let nats: TestBus;
let bus: EventBus;
let clock: ManualClock;
let workflows: ToolWorkflow[];
let tenant: string;
let closing: (() => Promise<void>)[];

beforeAll(async () => {
  nats = await startTestBus();
  bus = nats.connect();
});
afterAll(() => nats.stop());
beforeEach(() => {
  tenant = `t${randomUUID().slice(0, 8)}`;
  workflows = [];
  closing = [];
  clock = createManualClock(Date.now());
});
afterEach(async () => {
  for (const close of closing) await close();
});

function startReplica(): RegistrationEvents {
  const connection = nats.connect();
  const key = generateKeyPairSync('ed25519').privateKey;
  const audit = createAuditChain({ bus: connection, clock: systemClock, logger: silentLogger, newId, key });
  const tenants = { tenantOf: (namespace: string) => (namespace === `tenant-${tenant}` ? tenant : undefined) };
  const cache = { values: () => workflows };
  const deps = { audit, bus: connection, clock, logger: silentLogger, tenants, workflows: cache };
  const replica = createRegistrationEvents(deps);
  const stop = new AbortController();
  const running = replica.run(stop.signal);
  closing.push(async () => {
    stop.abort();
    await running;
    await audit.close();
  });
  return replica;
}

/** A workflow of kubectl that the controllers have accepted. */
function aWorkflow(generation = 1, { ready = 'True', ...parts }: Record<string, string> = {}): ToolWorkflow {
  const condition = { type: 'Ready', status: ready, reason: 'x', message: '', observedGeneration: generation };
  return {
    metadata: {
      name: 'order',
      namespace: `tenant-${tenant}`,
      uid: randomUUID(),
      generation,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...parts,
    },
    spec: { name: 'orders.place', steps: [{ name: 'a' }, { name: 'b' }] },
    status: { observedGeneration: generation, conditions: [condition] },
  } as unknown as ToolWorkflow;
}

const isOf = (uid: string | undefined) => (event: { readonly data: Readonly<Record<string, unknown>> }) =>
  event.data['workflow_id'] === uid;

/** Events of every tenant, and of none. */
async function eventsOf({ metadata }: ToolWorkflow) {
  const { events } = await createAuditRecord({ bus, clock }).page(
    { tenant: undefined, types: ['WorkflowRegistered'], limit: 1_000 },
    { of: undefined },
  );
  return events.filter(isOf(metadata.uid)).map((event) => [event.subject, event.data['generation'], event.tenant]);
}

/** Lets every replica look, until the condition holds; a look without NATS does nothing. */
async function lookUntil(workflow: ToolWorkflow, count: number): Promise<void> {
  const look = async (): Promise<void> => {
    await clock.advance(5_000);
    expect(await eventsOf(workflow)).toHaveLength(count);
  };
  await vi.waitFor(look, { timeout: 20_000, interval: 100 });
}

/** Looks of every replica, after which nothing more is announced. */
async function lookAgain(): Promise<void> {
  const marker = aWorkflow();
  workflows.push(marker);
  await lookUntil(marker, 1);
  const next = aWorkflow();
  workflows.push(next);
  await lookUntil(next, 1);
}

describe('WorkflowRegistered of a tool workflow that kubectl wrote', () => {
  it('GW-EVT-01 comes once for each generation, over two replicas and one that starts later', async () => {
    startReplica();
    startReplica();
    const workflow = aWorkflow();
    workflows = [workflow];
    await lookUntil(workflow, 1);
    const changed = { ...aWorkflow(2), metadata: { ...workflow.metadata, generation: 2 } };
    workflows = [changed];
    await lookUntil(changed, 2);
    startReplica();
    await lookAgain();
    expect(await eventsOf(changed)).toEqual([
      ['kubernetes', 1, tenant],
      ['kubernetes', 2, tenant],
    ]);
  });

  it('GW-WF-28 comes for no workflow that agents cannot call, and for none outside of tenants', async () => {
    startReplica();
    const refused = aWorkflow(1, { ready: 'False' });
    const strange = aWorkflow(1, { namespace: 'default' });
    workflows = [refused, strange];
    await lookAgain();
    expect(await eventsOf(refused)).toEqual([]);
    expect(await eventsOf(strange)).toEqual([]);
  });

  it('GW-EVT-01 belongs to no tenant where the workflow is shared', async () => {
    startReplica();
    const shared = aWorkflow(1, { namespace: globalNamespace });
    workflows = [shared];
    await lookAgain();
    expect(await eventsOf(shared)).toEqual([['kubernetes', 1, undefined]]);
  });

  it('GW-EVT-01 does not follow the one of the operator who registered it over HTTP', async () => {
    const [first] = [startReplica(), startReplica()];
    const workflow = aWorkflow();
    await first.registered(workflow, { tenant, subject: 'olga' });
    workflows = [workflow];
    await lookAgain();
    expect(await eventsOf(workflow)).toEqual([['olga', 1, tenant]]);
  });

  it.each([
    ['had stored it', true],
    ['had not stored it', false],
  ])('GW-EVT-01 comes once where a replica ended that %s, and had not said so', async (_what, isStored) => {
    const workflow = aWorkflow();
    const uid = workflow.metadata.uid ?? '';
    const bucket = bus.bucket<unknown>({ name: 'gateway_workflows_told', ttlMs: 90 * 24 * 3_600_000 });
    if (isStored) {
      await startReplica().registered(workflow, { tenant, subject: 'olga' });
      const { revision = 0 } = (await bucket.get(uid)) ?? {};
      await bucket.update(uid, { uid, generation: 1, at: clock.now(), isTold: false }, revision);
    } else await bucket.create(uid, { uid, generation: 1, at: clock.now(), isTold: false }, tenant);
    await clock.advance(60_000);
    startReplica();
    workflows = [workflow];
    await lookAgain();
    expect(await eventsOf(workflow)).toEqual([[isStored ? 'olga' : 'kubernetes', 1, tenant]]);
  });
});
