import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metadataPolicy } from '../../../crds/admission/metadata-policy.ts';
import { ourAnnotations, ourFinalizers } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { Volume } from '../../../crds/schema/volume.ts';
import { type Answer, createSend, type Send } from '../admission/api.ts';
import { eventually, volumesIn } from '../admission/install.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import { volumes } from '../harness/kinds.ts';
import { type UsedControllers, useControllers } from '../harness/used-controllers.ts';
import { waitForNone, waitForObject } from '../harness/wait.ts';

/**
 * The attacker has every right on the objects of one namespace, and fills the metadata of one: each process of Windlass
 * parses all of it at each change.
 */
let world: UsedControllers;
let send: Send;

beforeAll(async () => {
  world = await useControllers('full-metadata');
  send = await createSend(kubeconfigPath());
});
afterAll(() => world?.release());

const mergePatch = { contentType: 'application/merge-patch+json' };
const volume = (metadata: object): object => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'Volume',
  metadata,
  spec: { storage_class: 'persistent', size_limit_mb: 1 },
});
const create = (metadata: object, query = ''): Promise<Answer> =>
  send('POST', `${volumesIn(world.namespace)}${query}`, volume(metadata));
const patch = (name: string, change: object): Promise<Answer> =>
  send('PATCH', `${volumesIn(world.namespace)}/${name}`, change, mergePatch);

const keys = (count: number): string[] => Array.from({ length: count }, (_, at) => `example.com/k${at}`);
const mapOf = (count: number): Record<string, string> => Object.fromEntries(keys(count).map((key) => [key, '']));
const owner = (at: number): object => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `o${at}`, uid: `u${at}` });
const ownersOf = (count: number): object[] => Array.from({ length: count }, (_, at) => owner(at));

const fields: [field: string, most: number, full: (count: number) => object][] = [
  ['labels', limits.mapEntries, mapOf],
  ['annotations', limits.mapEntries, mapOf],
  ['finalizers', limits.finalizers, keys],
  ['ownerReferences', limits.owners, ownersOf],
];

describe.each(fields)('metadata.%s of an object of ours', (field, most, full) => {
  const dryRun = '?dryRun=All';

  it(`are ${most - 1} or ${most}, and no more`, async () => {
    for (const count of [most - 1, most]) {
      expect((await create({ name: 'a', [field]: full(count) }, dryRun)).message).toBe('');
    }
    const { status, message } = await create({ name: 'a', [field]: full(most + 1) }, dryRun);
    expect([status, message]).toEqual([422, expect.stringContaining(`metadata.${field}: must have at most ${most}`)]);
    expect(message).toContain(`not ${most + 1}`);
  });

  it('are counted within the cost that the server allows', async () => {
    const { status, message } = await create({ name: 'a', [field]: full(10_000) }, dryRun);
    expect([status, message]).toEqual([422, expect.stringMatching(/ at most .*, not 10000$/)]);
  });
});

it('what Windlass and kubectl write beside them does not count', async () => {
  const marks = Object.fromEntries(ourAnnotations.map((key) => [key, '']));
  const annotations = { ...mapOf(limits.mapEntries), 'windlass.dev/force': '', ...marks };
  const finalizers = [...keys(limits.finalizers), ...ourFinalizers];
  // Only a controller writes some of these marks.
  const as = 'system:serviceaccount:windlass-system:windlass-controllers';
  const object = volume({ name: 'a', annotations, finalizers });
  expect((await send('POST', `${volumesIn(world.namespace)}?dryRun=All`, object, { as })).message).toBe('');
});

describe('an object that is older than the bounds', () => {
  const name = 'old';
  const most = limits.mapEntries;
  const binding = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/${metadataPolicy.name}.windlass.dev`;
  const bindTo = (matchResources: object | null): Promise<Answer> =>
    send('PATCH', binding, { spec: { matchResources } }, mergePatch);
  const isBound = async (): Promise<boolean> =>
    (await create({ name: 'a', labels: mapOf(most + 1) }, '?dryRun=All')).status === 422;

  beforeAll(async () => {
    const elsewhere = [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [world.namespace] }];
    await bindTo({ namespaceSelector: { matchExpressions: elsewhere } });
    try {
      await eventually('the policy to leave this namespace alone', async () => !(await isBound()));
      const full = {
        labels: mapOf(most + 100),
        annotations: mapOf(most + 100),
        finalizers: keys(limits.finalizers + 10),
      };
      const { message } = await create({ name, ...full });
      if (message !== '') throw new Error(message);
    } finally {
      await bindTo(null);
    }
    await eventually('the policy to be enforced again', isBound);
  });

  it('is served by the controllers', async () => {
    const ref = { resource: volumes, namespace: world.namespace, name };
    const { status } = await waitForObject(world.kube, ref, (found: Volume) => found.status?.phase === 'ready');
    expect(status?.claim_name).toBe(name);
  });

  it('takes no further entry, and every other change', async () => {
    const { status, message } = await patch(name, { metadata: { labels: { another: '' } } });
    expect([status, message]).toEqual([422, expect.stringContaining(`not ${most + 101}`)]);
    for (const labels of [
      { [keys(1)[0] ?? '']: 'changed' },
      { [keys(1)[0] ?? '']: null, another: '' },
      { another: null },
    ]) {
      expect((await patch(name, { metadata: { labels } })).message).toBe('');
    }
    const marked = { metadata: { annotations: { 'windlass.dev/force': 'true' } } };
    expect((await patch(name, marked)).message).toBe('');
  });

  it('loses its finalizers one by one, and is gone', async () => {
    expect((await send('DELETE', `${volumesIn(world.namespace)}/${name}`)).status).toBe(200);
    for (let left = limits.finalizers + 9; left >= 0; left--) {
      expect((await patch(name, { metadata: { finalizers: keys(left) } })).message).toBe('');
    }
    const { namespace, kube } = world;
    await waitForNone(kube, { resource: volumes, namespace, fieldSelector: `metadata.name=${name}` });
  });
});
