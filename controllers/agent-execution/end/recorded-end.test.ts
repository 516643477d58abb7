import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { annotations } from '../../../crds/labels.ts';
import type { AgentResult } from '../../../crds/schema/agent-execution.ts';
import { createAbsentBus } from '../../../lib/bus/absent-bus.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { conversationLogs } from '../../../lib/conversation/record.ts';
import { executionOf } from '../../../test/agents/replica.ts';
import { startNatsServer } from '../../../test/nats/nats-server.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { createRecordedEnd, endByPod, untoldMs } from './recorded-end.ts';

let nats: TestBus;
let bus: EventBus;
beforeAll(async () => {
  nats = await startTestBus();
  bus = await nats.connected();
});
afterAll(() => nats.stop());

const at = '2026-01-02T00:14:59.000Z';

async function endOf(uid: string, records: readonly object[], from = bus) {
  const logs = bus.logs(conversationLogs);
  for (const record of records)
    await logs.append({ tenant: 'acme', key: uid, body: JSON.stringify({ ...record, at }) });
  const tenants = { tenantOf: (namespace: string) => namespace };
  return createRecordedEnd({ bus: from, logs: from.logs(conversationLogs), tenants, clock: systemClock })(
    executionOf(uid),
  );
}

const endedWith = (result: Partial<AgentResult>) => ({ kind: 'ended', result: { phase: 'completed', at, ...result } });
const open = { kind: 'open' };
const begun = { kind: 'iteration_started', iteration: 1, action: 'work' };

it.each([
  ['the end of a conversation', [begun, endedWith({})], { kind: 'ended', at }],
  ['none where the driver was out of time too', [endedWith({ phase: 'failed', reason: 'Timeout' })], open],
  ['none of a conversation that continues', [begun], open],
  ['none of a conversation without a record', [], open],
])('finds %s', async (what, records, end) => {
  expect(await endOf(what.replaceAll(' ', '-'), records)).toEqual(end);
});

it('finds the end in the log that the claim names, whichever tenant has the namespace by now', async () => {
  const end = await endOf('moved', [endedWith({})]);
  expect(end).toMatchObject({ kind: 'ended' });
  const execution = executionOf('moved');
  const notes = { [annotations.conversation]: 'acme/0' };
  const claimed = { ...execution, metadata: { ...execution.metadata, annotations: notes } };
  const logs = bus.logs(conversationLogs);
  for (const other of [undefined, 'globex'])
    expect(
      await createRecordedEnd({ bus, logs, tenants: { tenantOf: () => other }, clock: systemClock })(claimed),
    ).toEqual(end);
});

it('does not wait for a bus that is away, and does not say then that the conversation continues', async () => {
  await endOf('away', [endedWith({})]);
  const away = nats.connect({ WINDLASS_NATS_URL: 'nats://127.0.0.1:1' });
  const problem = away.problem();
  expect(problem).toBeDefined();
  expect(await endOf('away', [], away)).toEqual({ kind: 'unknown', problem });
});

it('makes no stream for a tenant that has none', async () => {
  const tenants = { tenantOf: () => 'young' };
  const logs = bus.logs(conversationLogs);
  expect(await createRecordedEnd({ bus, logs, tenants, clock: systemClock })(executionOf('first'))).toEqual(open);
  const connection = await connect({ servers: nats.server.url });
  const names = await (await jetstreamManager(connection)).streams.names().next();
  await connection.close();
  expect(names.filter((name) => name.includes('young'))).toEqual([]);
  expect(names).toContain('WINDLASS_EVENTS');
});

it('ends an execution whose last record cannot be read', async () => {
  await bus.logs(conversationLogs).append({ tenant: 'acme', key: 'broken', body: '{' });
  expect(await endOf('broken', [])).toEqual(open);
});

it('waits for no bus where none is configured', async () => {
  const absent = createAbsentBus(systemClock);
  expect(await endOf('none', [], absent)).toEqual(open);
});

it('waits no longer than five minutes for a server of NATS that is there and lets nothing be read, and says why', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-nats-conf-'));
  const config = join(folder, 'nats.conf');
  const rights = 'permissions: { publish: { deny: ["$JS.API.STREAM.MSG.GET.>"] } }';
  await writeFile(config, `authorization { users: [{ user: windlass, password: w, ${rights} }] }`);
  const strict = await startNatsServer({ args: ['--config', config] });
  const login = { WINDLASS_NATS_USER: 'windlass', WINDLASS_NATS_PASSWORD: 'w', WINDLASS_NATS_URL: strict.url };
  const denied = nats.connect(login);
  await vi.waitFor(() => expect(denied.problem()).toBeUndefined(), { timeout: 10_000 });
  let now = 0;
  const clock = { steadyMs: () => now };
  const tenants = { tenantOf: () => 'acme' };
  const recordedEnd = createRecordedEnd({ bus: denied, logs: denied.logs(conversationLogs), tenants, clock });
  const why = { reason: 'PodFailed', message: 'the pod ended' } as const;
  const found = [];
  for (; now <= untoldMs; now += untoldMs / 4) found.push(await endByPod({ recordedEnd }, executionOf('denied'), why));
  await denied.close(0);
  await strict.stop();
  await rm(folder, { recursive: true });
  const pending = {
    isPending: true,
    reason: 'OutcomePending',
    message: expect.stringMatching(/does not say .*: .*answer/) as string,
  };
  expect(found.slice(0, -1)).toMatchObject(found.slice(1).map(() => pending));
  expect(found.at(-1)).toMatchObject({ isPending: false, reason: 'PodFailed' });
  expect(found.at(-1)?.message).toMatch(/^the pod ended; the event bus did not say in 5 minutes whether .*: .*answer/);
}, 60_000);
