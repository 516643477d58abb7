import { createConnection } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Volume } from '../../../crds/schema/volume.ts';
import { busOptions } from '../../../lib/bus/bus-config.ts';
import { buckets, createEventBus, type EventBus } from '../../../lib/bus/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { volumes } from '../../../lib/kinds.ts';
import { type KubeClient, pods } from '../../../lib/kube/index.ts';
import { eventsOf, type InstalledNats, installedNats } from '../../nats/installed-nats.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import { connect, isNativeCluster } from '../harness/cluster.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';
import { waitForObject } from '../harness/wait.ts';

const namespace = 'windlass-system';
const nats0 = { namespace, name: 'windlass-nats-0' };

/** The installed controllers and the chart's NATS. */
describe.runIf(isNativeCluster())('the event bus in the cluster', () => {
  let kube: KubeClient;
  let tenant: TestNamespace;
  let nats: InstalledNats;
  const open: EventBus[] = [];

  beforeAll(async () => {
    kube = (await connect()).kube;
    tenant = await makeTestNamespace(kube, 'bus');
    nats = await installedNats(kube);
    await ensureWorkflow(kube, {
      apiVersion: 'windlass.dev/v1',
      kind: 'Workflow',
      metadata: { name: 'short', namespace: tenant.name },
      spec: {
        version: '1.0.0',
        initial_state: 'only',
        states: { only: { kind: 'System', command: 'update_context', env: { a: 'b' }, transitions: [] } },
      },
    });
  });

  afterAll(async () => {
    await Promise.all(open.map((bus) => bus.close(0)));
    await tenant.remove();
    await kube.close();
  });

  const eventsOn = (topic: string): Promise<Record<string, unknown>[]> =>
    eventsOf(nats, 'WINDLASS_EVENTS', `windlass.events.${tenant.name}.${topic}`);

  async function eventually<T>(read: () => Promise<T>, done: (value: T) => boolean, timeoutMs = 30_000): Promise<T> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const value = await read();
      if (done(value)) return value;
      if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${JSON.stringify(value)}`);
      await systemClock.sleep(100);
    }
  }

  async function runOne(name: string): Promise<string> {
    const ref = { namespace: tenant.name, name };
    await startExecution(kube, ref, { workflow: 'short' });
    const { metadata } = await waitUntilFinished(kube, ref, { timeoutMs: 120_000 });
    return metadata.uid ?? '';
  }

  function bus(): EventBus {
    const observer = {
      connected: () => undefined,
      called: () => undefined,
      waiting: () => undefined,
      dropped: () => undefined,
      delivered: () => undefined,
      answered: () => undefined,
    };
    const connected = createEventBus(
      { clock: systemClock, logger: silentLogger, observer, random: Math.random },
      'test',
      busOptions({
        WINDLASS_NATS_URL: nats.url,
        WINDLASS_NATS_USER: nats.user,
        WINDLASS_NATS_PASSWORD: nats.password,
        WINDLASS_NATS_REPLICAS: 1,
        // As the chart has them in the development cluster: the streams are everybody's.
        WINDLASS_EVENTS_MAX_AGE_HOURS: 168,
        WINDLASS_EVENTS_MAX_MB: 128,
        WINDLASS_AUDIT_MAX_AGE_HOURS: 2_160,
        WINDLASS_AUDIT_MAX_MB: 128,
        WINDLASS_CONVERSATIONS_MAX_MB: 128,
        WINDLASS_EDGE_RESULTS_MAX_MB: 64,
        WINDLASS_KEYS_MAX_MB: 64,
      }),
    );
    open.push(connected);
    return connected;
  }

  function aVolume(name: string, expiresInMs: number): Volume {
    const expires = new Date(Date.now() + expiresInMs).toISOString().replace(/\.\d+Z$/, 'Z');
    return {
      apiVersion: 'windlass.dev/v1',
      kind: 'Volume',
      metadata: { name, namespace: tenant.name },
      spec: { storage_class: 'ephemeral', size_limit_mb: 1, expires_at: expires },
    };
  }

  it('gets one event of an execution that has ended', async () => {
    const uid = await runOne('told');
    const events = await eventually(
      () => eventsOn('workflow'),
      (all) => all.some(({ subject }) => subject === uid),
    );
    expect(events.filter(({ subject }) => subject === uid)).toMatchObject([
      {
        specversion: '1.0',
        id: `${uid}-ended`,
        source: '/windlass/controllers',
        type: 'WorkflowExecutionCompleted',
        tenant: tenant.name,
        data: { execution_id: uid, execution: 'told', workflow: 'short', version: '1.0.0' },
      },
    ]);
  });

  it('ORCH-EVT-02 ORCH-EVT-03 gets the events of a volume that expires and is deleted', async () => {
    const { metadata } = await kube.create(volumes, aVolume('short-lived', 3_000));
    const ref = { namespace: tenant.name, name: 'short-lived' };
    await waitForObject(kube, { resource: volumes, ...ref }, ({ status }) => status?.phase === 'expired');
    await kube.delete(volumes, ref);
    const events = await eventually(
      () => eventsOn('volume'),
      (all) => all.length === 2,
    );
    expect(events).toMatchObject([
      { type: 'VolumeExpired', subject: metadata.uid, data: { volume: 'short-lived', storage_class: 'ephemeral' } },
      { type: 'VolumeDeleted', subject: metadata.uid, data: { volume: 'short-lived', claim_kept: false } },
    ]);
  });

  it('its monitor, which asks for no password, is not to be reached from outside its pod', async () => {
    const { status } = await kube.get(pods, nats0);
    const opens = (port: number): Promise<string> =>
      new Promise((resolve) => {
        const socket = createConnection({ host: status?.podIP ?? '', port, timeout: 5_000 });
        const end = (how: string) => () => {
          socket.destroy();
          resolve(how);
        };
        socket.on('connect', end('open')).on('error', end('closed')).on('timeout', end('silent'));
      });
    expect([await opens(4222), await opens(8222)]).toEqual(['open', 'closed']);
  });

  it('stops no workflow while it is away, and gets the events afterwards; it keeps earlier ones', async () => {
    // NATS may have another address by now, and a second attempt of the test needs a key of its own.
    nats = await installedNats(kube);
    const key = `kept-${tenant.name}-${Date.now()}`;
    const revision = await bus().bucket<string>(buckets.idempotency).create(key, 'mine', 'acme');
    const before = await kube.get(pods, nats0);
    // As a node's power cut leaves it: no goodbye, and a new pod with the old volume.
    await kube.delete(pods, nats0, { gracePeriodSeconds: 0 });
    const uids = await Promise.all(['during-1', 'during-2', 'during-3'].map(runOne));
    await waitForObject(
      kube,
      { resource: pods, ...nats0 },
      ({ metadata, status }) => metadata.uid !== before.metadata.uid && status?.containerStatuses?.[0]?.ready === true,
      { timeoutMs: 120_000, what: 'NATS back' },
    );
    nats = await installedNats(kube);
    const events = await eventually(
      () => eventsOn('workflow'),
      (all) => uids.every((uid) => all.some(({ subject }) => subject === uid)),
      60_000,
    );
    expect(events.map(({ subject }) => subject).filter((subject) => uids.includes(String(subject)))).toHaveLength(3);
    expect(await bus().bucket<string>(buckets.idempotency).get(key)).toEqual({ value: 'mine', revision });
  });

  it('refuses all without the password', async () => {
    const stranger = { ...(await installedNats(kube)), password: 'guessed' };
    await expect(eventsOf(stranger, 'WINDLASS_EVENTS', 'windlass.events.>')).rejects.toThrow(/authorization/i);
  });
});
