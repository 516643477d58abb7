import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEventRecorder } from '../../controllers/runtime/index.ts';
import { statusPatch } from '../../controllers/runtime/status-patch.ts';
import { systemClock } from '../../lib/clock.ts';
import { TerminalError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { createInformer, type InformerChange } from '../../lib/informer/index.ts';
import {
  type ConfigMap,
  configMaps,
  customResourceDefinitions,
  defineResource,
  events,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type ListWatchPort,
  namespaces,
  pods,
  type WatchEvent,
} from '../../lib/kube/index.ts';
import { silentLogger } from '../support/silent-logger.ts';
import { type Cluster, connect } from './harness/cluster.ts';
import { projectDir } from './harness/project.ts';
import { makeTestNamespace, type TestNamespace } from './harness/test-namespace.ts';
import { waitForObject } from './harness/wait.ts';

const run = promisify(execFile);

/** The client and the controller runtime against a real API server. */
let cluster: Cluster;
let kube: KubeClient;
let space: TestNamespace;
let namespace: string;

beforeAll(async () => {
  cluster = await connect();
  kube = cluster.kube;
  space = await makeTestNamespace(kube, 'runtime');
  namespace = space.name;
});

afterAll(async () => {
  await space?.remove();
  await kube?.close();
});

const script = (name: string, ...args: string[]) => run(join(projectDir, 'dev', 'cluster', name), args);

/** Makes versions of the past unknown: the API server keeps a window of its own, which ends with its process. */
async function forgetHistory(): Promise<void> {
  await script('etcd', 'compact');
  await script('apiserver', 'restart');
  await expect.poll(() => kube.getText('/readyz').catch(() => ''), { timeout: 60_000 }).toBe('ok');
}

const configMap = (
  name: string,
  data: Record<string, string> = {},
  labels: Record<string, string> = {},
): ConfigMap => ({
  metadata: { namespace, name, labels },
  data,
});

describe('the client', () => {
  it('200 requests one after another use at most two connections', async () => {
    const { kube: own } = await connect(cluster.kubeconfig);
    const open = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const before = open();
    for (let i = 0; i < 200; i++) await own.list(configMaps, { namespace });
    expect(open() - before).toBeLessThanOrEqual(2);
    await own.close();
  });

  it('knows itself, the server and what it may do', async () => {
    expect((await kube.whoAmI()).username).not.toBe('');
    const version = await kube.serverVersion();
    expect([version.major, version.minor >= 30]).toEqual([1, true]);
    expect(await kube.accessReview({ verb: 'create', resource: pods, namespace })).toMatchObject({ allowed: true });
    expect(await kube.getText('/readyz')).toBe('ok');
  });

  it('writes in every way, and tells refusals apart', async () => {
    const name = 'ways';
    const made = await kube.create(configMaps, configMap(name, { a: '1' }));
    await expect(kube.create(configMaps, configMap(name))).rejects.toSatisfy(isAlreadyExists);
    await expect(kube.create(configMaps, configMap('Bad_Name'))).rejects.toSatisfy(isInvalid);
    await expect(kube.get(configMaps, { namespace, name: 'absent' })).rejects.toSatisfy(isNotFound);
    const patched = await kube.mergePatch(configMaps, { namespace, name }, { data: { a: null, b: '2' } });
    expect(patched.data).toEqual({ b: '2' });
    await expect(kube.replace(configMaps, { ...made, data: {} })).rejects.toSatisfy(isConflict);
    const stale = { metadata: { resourceVersion: made.metadata.resourceVersion }, data: { c: '3' } };
    await expect(kube.mergePatch(configMaps, { namespace, name }, stale)).rejects.toSatisfy(isConflict);
    await kube.jsonPatch(configMaps, { namespace, name }, [{ op: 'add', path: '/data/d', value: '4' }]);
    const applied = await kube.apply(configMaps, configMap(name, { e: '5' }), { fieldManager: 'test' });
    expect(applied.data).toEqual({ b: '2', d: '4', e: '5' });
    const theirs = { fieldManager: 'other' };
    await expect(kube.apply(configMaps, configMap(name, { e: '6' }), theirs)).rejects.toSatisfy(isConflict);
    expect((await kube.apply(configMaps, configMap(name, { e: '6' }), { ...theirs, force: true })).data?.e).toBe('6');
    await kube.create(configMaps, configMap('never'), { dryRun: true });
    await expect(kube.get(configMaps, { namespace, name: 'never' })).rejects.toSatisfy(isNotFound);
    await expect(kube.delete(configMaps, { namespace, name }, { uid: 'another' })).rejects.toSatisfy(isConflict);
    expect(await kube.delete(configMaps, { namespace, name }, { uid: made.metadata.uid })).toBe(true);
    expect(await kube.delete(configMaps, { namespace, name })).toBe(false);
  });

  it('reads a long list page by page, and deletes a collection by label', async () => {
    const labels = { batch: 'pages' };
    const names = Array.from({ length: 60 }, (_, i) => `page-${String(i).padStart(3, '0')}`);
    await Promise.all(names.map((name) => kube.create(configMaps, configMap(name, {}, labels))));
    const selection = { namespace, labelSelector: 'batch=pages' };
    const list = await kube.listAll(configMaps, { ...selection, limit: 7 });
    expect(list.items.map((item) => item.metadata.name)).toEqual(names);
    await kube.deleteCollection(configMaps, selection);
    expect((await kube.listAll(configMaps, selection)).items).toEqual([]);
  });

  it('a version that the server no longer knows is gone', { timeout: 120_000 }, async () => {
    await forgetHistory();
    const seen = async (): Promise<WatchEvent<ConfigMap> | undefined> => {
      for await (const event of kube.watch(configMaps, { namespace, resourceVersion: '1', timeoutSeconds: 5 }))
        return event;
      return undefined;
    };
    const answer = await seen().catch((error: unknown) => error);
    const code = isGone(answer) ? 410 : (answer as { object?: { code?: number } }).object?.code;
    expect(code).toBe(410);
  });
});

describe('a pod', () => {
  const name = 'shell';

  beforeAll(async () => {
    await kube.create(pods, {
      metadata: { namespace, name },
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name: 'step',
            image: 'windlass.local/test-tools:dev',
            imagePullPolicy: 'Never',
            command: ['sh', '-c', 'i=0; while [ $i -lt 5 ]; do echo line $i; i=$((i+1)); sleep 0.2; done; sleep 3600'],
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          },
        ],
      },
    });
    await waitForObject(kube, { resource: pods, namespace, name }, (pod) => pod.status?.phase === 'Running');
  });

  it('its log is followed as it is written, and an abort ends that quietly', async () => {
    const stop = new AbortController();
    let text = '';
    for await (const chunk of kube.readLog({ namespace, name }, { follow: true, signal: stop.signal })) {
      text += Buffer.from(chunk).toString();
      if (text.includes('line 4')) stop.abort();
    }
    expect(text).toBe('line 0\nline 1\nline 2\nline 3\nline 4\n');
  });
});

describe('an informer', () => {
  function follow(port: ListWatchPort, options: { parse?: (object: ConfigMap) => ConfigMap } = {}) {
    const stop = new AbortController();
    const changes: InformerChange<ConfigMap>[] = [];
    const failures: string[] = [];
    const observer = {
      failed: (reason: string) => void failures.push(reason),
      sinkFailed: () => void failures.push('sink'),
    };
    const informer = createInformer<ConfigMap>(
      { client: port, clock: systemClock, logger: silentLogger, observer },
      { resource: configMaps, namespace, labelSelector: 'follow=yes', ...options },
    );
    informer.onChange((change) => changes.push(change));
    const running = informer.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort();
      await running;
    };
    return { informer, changes, failures, end };
  }

  const followed = (name: string, data: Record<string, string> = {}) => configMap(name, data, { follow: 'yes' });

  it('follows creation, change and deletion; our own writes are read at once', async () => {
    const { informer, changes, failures, end } = follow(kube);
    await informer.synced;
    const made = await kube.create(configMaps, followed('one', { n: '1' }));
    informer.cache.remember(made);
    expect(informer.cache.get(`${namespace}/one`)?.data).toEqual({ n: '1' });
    expect(informer.cache.getByUid(made.metadata.uid ?? '')?.metadata.name).toBe('one');
    await expect.poll(() => changes.map(({ after }) => after?.data?.n)).toEqual(['1']);
    await kube.mergePatch(configMaps, { namespace, name: 'one' }, { data: { n: '2' } });
    await expect.poll(() => informer.cache.get(`${namespace}/one`)?.data?.n).toBe('2');
    await kube.delete(configMaps, { namespace, name: 'one' });
    await expect.poll(() => informer.cache.size).toBe(0);
    // Where the watch was faster than the answer of the create, it was news when it came.
    expect(changes.slice(1).map(({ own, after }) => [own, after?.data?.n])).toEqual([
      [false, '2'],
      [false, undefined],
    ]);
    expect(failures).toEqual([]);
    await end();
  });

  it('lists anew when the server has forgotten its version, and misses nothing', async () => {
    let first = true;
    const port: ListWatchPort = {
      list: (resource, options) => kube.list(resource, options),
      watch: (resource, options) => {
        const { resourceVersion } = options;
        const aged = first ? '1' : resourceVersion;
        first = false;
        return kube.watch(resource, { ...options, resourceVersion: aged });
      },
    };
    await kube.create(configMaps, followed('before'));
    const { informer, changes, failures, end } = follow(port);
    await informer.synced;
    await kube.create(configMaps, followed('after'));
    await expect.poll(() => informer.cache.size, { timeout: 5_000 }).toBe(2);
    expect(failures).toEqual(['Expired']);
    expect(changes.map(({ key }) => key)).toEqual([`${namespace}/before`, `${namespace}/after`]);
    await end();
    await kube.deleteCollection(configMaps, { namespace, labelSelector: 'follow=yes' });
  });

  it('a poison object degrades only itself', async () => {
    const parse = (object: ConfigMap): ConfigMap => {
      if (Number.isNaN(Number(object.data?.n ?? 0))) throw new TerminalError('Unreadable', 'data.n is no number');
      return object;
    };
    await kube.create(configMaps, followed('poison', { n: 'x' }));
    await kube.create(configMaps, followed('good', { n: '1' }));
    const { informer, changes, failures, end } = follow(kube, { parse });
    await informer.synced;
    expect([...informer.cache.values()].map((object) => object.metadata.name)).toEqual(['good']);
    const problems = () => changes.flatMap(({ invalid }) => invalid?.problem ?? []);
    expect(problems()).toEqual(['data.n is no number']);
    await kube.mergePatch(configMaps, { namespace, name: 'poison' }, { data: { n: '2' } });
    await kube.mergePatch(configMaps, { namespace, name: 'good' }, { data: { n: '3' } });
    await expect.poll(() => informer.cache.size).toBe(2);
    expect(problems()).toHaveLength(1);
    await expect.poll(() => informer.cache.get(`${namespace}/good`)?.data?.n).toBe('3');
    expect(failures).toEqual([]);
    await end();
    await kube.deleteCollection(configMaps, { namespace, labelSelector: 'follow=yes' });
  });
});

describe('a status', () => {
  interface Thing extends KubeObject {
    readonly status?: object;
  }
  const group = `runtime-${newId().slice(0, 6)}.windlass.test`;
  const things = defineResource<Thing>({ group, version: 'v1', plural: 'things', kind: 'Thing', namespaced: true });
  const crdName = `things.${group}`;

  beforeAll(async () => {
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const schema = { openAPIV3Schema: { type: 'object', properties: { status: open } } };
    await kube.create(customResourceDefinitions, {
      metadata: { name: crdName },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind: 'Thing', plural: 'things', singular: 'thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
      },
    });
    await waitForObject(kube, { resource: customResourceDefinitions, name: crdName }, (crd) =>
      Boolean(crd.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')),
    );
  });

  afterAll(async () => {
    await kube.delete(customResourceDefinitions, { name: crdName });
  });

  it('is patched to exactly what was decided: nulls kept, members removed, lists appended', async () => {
    const ref = { namespace, name: 'a' };
    let thing = await kube.create(things, { metadata: ref });
    const states = [
      { phase: 'running', blackboard: { x: { value: { a: null, b: [null, { c: null }] } } }, history: [{ n: 1 }] },
      {
        phase: 'running',
        blackboard: { x: { value: { a: 1 } }, 'k/~': { value: null } },
        history: [{ n: 1 }, { n: 2 }],
      },
      { phase: 'completed', history: [{ n: 1 }, { n: 2 }, { n: 3 }] },
    ];
    for (const status of states) {
      thing = await kube.jsonPatchStatus(things, ref, statusPatch(thing, status) ?? []);
      expect(thing.status).toEqual(status);
      expect(statusPatch(thing, status)).toBeUndefined();
    }
  });

  it('of a version that is no longer the newest is refused with a conflict', async () => {
    const ref = { namespace, name: 'b' };
    const old = await kube.create(things, { metadata: ref });
    await kube.mergePatch(things, ref, { metadata: { labels: { x: 'y' } } });
    const patch = statusPatch(old, { phase: 'running' }) ?? [];
    await expect(kube.jsonPatchStatus(things, ref, patch)).rejects.toSatisfy(isConflict);
  });
});

it('an Event is accepted by the server and is beside its object', async () => {
  const object = await kube.create(configMaps, configMap('spoken-of'));
  const recorder = createEventRecorder(
    { client: kube, clock: systemClock, logger: silentLogger, newId },
    { controller: 'windlass.dev/test', instance: 'test' },
  );
  recorder.record({
    resource: configMaps,
    object,
    type: 'Warning',
    reason: 'Tested',
    action: 'Test',
    note: 'Tested to 1.',
  });
  await recorder.flush();
  const list = await kube.list(events, { namespace, fieldSelector: 'regarding.name=spoken-of' });
  expect(list.items.map(({ reason, note, type }) => [reason, note, type])).toEqual([
    ['Tested', 'Tested to 1.', 'Warning'],
  ]);
});

it('a missing right is distinguished', async () => {
  const { kube: own } = await connect(cluster.kubeconfig);
  await own.close();
  const { createCredentialSource, createKubeClient, findCredentials } = await import('../../lib/kube/index.ts');
  const admin = await findCredentials({ env: {}, now: Date.now, kubeconfig: cluster.kubeconfig });
  const headers = { 'impersonate-user': 'nobody-in-particular' };
  const credentials = createCredentialSource(async () => ({ ...(await admin.current()), headers }), { now: Date.now });
  const stranger = createKubeClient({ credentials, clock: systemClock });
  await expect(stranger.get(namespaces, { name: 'default' })).rejects.toSatisfy(isForbidden);
  expect((await stranger.whoAmI()).username).toBe('nobody-in-particular');
  expect(await stranger.accessReview({ verb: 'get', resource: namespaces, name: 'default' })).toMatchObject({
    allowed: false,
  });
  await stranger.close();
});
