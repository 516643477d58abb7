import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { busOptions } from '../../../lib/bus/bus-config.ts';
import { createEventBus, type EventBus } from '../../../lib/bus/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import {
  defineResource,
  type KubeClient,
  type KubeObject,
  type Pod,
  pods,
  type Resource,
} from '../../../lib/kube/index.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import { render } from '../chart/rendering.ts';
import { connect, isNativeCluster } from '../harness/cluster.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';
import { waitForView } from '../harness/wait.ts';

const core = (plural: string, kind: string): Resource =>
  defineResource({ group: '', version: 'v1', plural, kind, namespaced: true });
const resources: Readonly<Record<string, Resource>> = {
  ConfigMap: core('configmaps', 'ConfigMap'),
  Secret: core('secrets', 'Secret'),
  Service: core('services', 'Service'),
  StatefulSet: defineResource({
    group: 'apps',
    version: 'v1',
    plural: 'statefulsets',
    kind: 'StatefulSet',
    namespaced: true,
  }),
};

const storage = { size: '256Mi' };
const retention = { events: { maxMb: 32 }, audit: { maxMb: 32 }, keys: { maxMb: 32 }, conversations: { maxMb: 32 } };

/** Three servers, as the chart makes them, in a namespace of their own. */
describe.runIf(isNativeCluster())('three NATS servers of the chart', () => {
  let kube: KubeClient;
  let place: TestNamespace;
  let password = '';
  const open: EventBus[] = [];
  const name = (i: number): string => `windlass-nats-${i}`;

  beforeAll(async () => {
    kube = (await connect()).kube;
    place = await makeTestNamespace(kube, 'nats-three');
    const nats = { enabled: true, replicaCount: 3, storage, ...retention };
    const objects = await render({ nats, archive: { maxMb: 32 } }, place.name);
    const ours = objects.filter(
      ({ kind, metadata }) => resources[kind ?? ''] && metadata.name?.startsWith(name(0).slice(0, -2)),
    );
    for (const object of ours) {
      const resource = resources[object.kind ?? ''];
      if (resource !== undefined) await kube.create(resource, object);
    }
    const secret = ours.find(({ kind }) => kind === 'Secret') as KubeObject & { data: { password: string } };
    password = Buffer.from(secret.data.password, 'base64').toString();
    await allReady();
  });

  afterAll(async () => {
    await Promise.all(open.map((bus) => bus.close(0)));
    await place.remove();
    await kube.close();
  });

  async function allReady(): Promise<void> {
    const selection = { resource: pods, namespace: place.name, labelSelector: 'app.kubernetes.io/component=nats' };
    const isReady = ({ status }: Pod): boolean => status?.containerStatuses?.[0]?.ready === true;
    const three = (view: ReadonlyMap<string, Pod>) => [...view.values()].filter(isReady).length === 3 || undefined;
    await waitForView(kube, selection, three, { timeoutMs: 180_000, what: 'three servers that are ready' });
  }

  async function address(i: number): Promise<string> {
    const { status } = await kube.get(pods, { namespace: place.name, name: name(i) });
    return `nats://${status?.podIP}:4222`;
  }

  function bus(...servers: string[]): EventBus {
    const observer = {
      connected: () => undefined,
      called: () => undefined,
      waiting: () => undefined,
      dropped: () => undefined,
      delivered: () => undefined,
      answered: () => undefined,
    };
    const made = createEventBus(
      { clock: systemClock, logger: silentLogger, observer, random: Math.random },
      'test',
      busOptions({
        WINDLASS_NATS_URL: servers.join(','),
        WINDLASS_NATS_USER: 'windlass',
        WINDLASS_NATS_PASSWORD: password,
        WINDLASS_NATS_REPLICAS: 3,
        WINDLASS_EVENTS_MAX_AGE_HOURS: 24,
        WINDLASS_EVENTS_MAX_MB: 32,
        WINDLASS_AUDIT_MAX_AGE_HOURS: 24,
        WINDLASS_AUDIT_MAX_MB: 32,
        WINDLASS_CONVERSATIONS_MAX_MB: 32,
        WINDLASS_EDGE_RESULTS_MAX_MB: 32,
        WINDLASS_KEYS_MAX_MB: 32,
      }),
    );
    open.push(made);
    return made;
  }

  /** Until it answers; how long that took, in milliseconds. */
  async function answers<T>(
    call: () => Promise<T>,
    timeoutMs = 60_000,
  ): Promise<{ readonly value: T; readonly ms: number }> {
    const start = Date.now();
    for (;;) {
      try {
        return { value: await call(), ms: Date.now() - start };
      } catch (error) {
        if (Date.now() - start > timeoutMs) throw error;
        await systemClock.sleep(100);
      }
    }
  }

  const bucket = { name: 'idempotency', ttlMs: 3_600_000 };

  it('agree on who took a key, whichever of them is asked', async () => {
    const addresses = await Promise.all([0, 1, 2].map(address));
    const buckets = addresses.map((one) => bus(one).bucket<number>(bucket));
    await answers(async () => buckets[0]?.get('warm'));
    const calls = Array.from({ length: 150 }, (_, i) =>
      answers(async () => buckets[i % 3]?.create('contended', i, 'acme')),
    );
    const won = (await Promise.all(calls)).filter(({ value }) => value !== undefined);
    expect(won).toHaveLength(1);
  });

  it('hand over before one of them stops: requests meanwhile are answered', async () => {
    const keys = bus(...(await Promise.all([0, 1, 2].map(address)))).bucket<string>(bucket);
    await answers(() => keys.create('steady', 'kept', 'acme'));
    const going = await kube.get(pods, { namespace: place.name, name: name(1) });
    await kube.delete(pods, { namespace: place.name, name: name(1) });
    const failures: unknown[] = [];
    let asked = 0;
    const isReplaced = async (): Promise<boolean> => {
      const pod = await kube.get(pods, { namespace: place.name, name: name(1) }).catch(() => undefined);
      const isNew = pod !== undefined && pod.metadata.uid !== going.metadata.uid;
      return isNew && pod.status?.containerStatuses?.[0]?.ready === true;
    };
    for (let over = false; !over; over = await isReplaced()) {
      asked += 1;
      await keys.get('steady').catch((error: unknown) => failures.push(error));
      await systemClock.sleep(50);
    }
    expect(asked).toBeGreaterThan(10);
    expect(failures.length).toBeLessThan(3);
  });

  it('continue when any one of them is lost, and have everything when it is back', async () => {
    for (const lost of [0, 1, 2]) {
      // A pod that was replaced has another address.
      const keys = bus(...(await Promise.all([0, 1, 2].map(address)))).bucket<string>(bucket);
      await answers(() => keys.create(`before-${lost}`, 'kept', 'acme'));
      await kube.delete(pods, { namespace: place.name, name: name(lost) }, { gracePeriodSeconds: 0 });
      const { value, ms } = await answers(() => keys.get(`before-${lost}`));
      expect(value?.value).toBe('kept');
      expect(ms).toBeLessThan(30_000);
      await answers(() => keys.create(`during-${lost}`, 'kept', 'acme'));
      await allReady();
    }
    const again = bus(...(await Promise.all([0, 1, 2].map(address)))).bucket<string>(bucket);
    for (const key of ['before-0', 'during-0', 'before-1', 'during-1', 'before-2', 'during-2']) {
      expect((await answers(() => again.get(key))).value?.value).toBe('kept');
    }
  });
});
