import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiVersion } from '../../../crds/labels.ts';
import type { ApiSpec } from '../../../crds/schema/api-spec.ts';
import type { Volume } from '../../../crds/schema/volume.ts';
import { documentMaps, packDocument } from '../../../lib/api-spec/index.ts';
import { configMaps, persistentVolumeClaims } from '../../../lib/kube/index.ts';
import { type Answer, createSend, type Send } from '../admission/api.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import { giveEveryRight } from '../harness/bind-role.ts';
import { apiSpecs, volumes } from '../harness/kinds.ts';
import { type UsedControllers, useControllers } from '../harness/used-controllers.ts';
import { waitForNone, waitForObject } from '../harness/wait.ts';

/**
 * Mallory has every right in the namespace of a tenant. A colleague keeps data on a volume there, and has registered an
 * API whose document is large. She would have what belongs to them go, or belong to another.
 */
let world: UsedControllers;
let send: Send;

beforeAll(async () => {
  world = await useControllers('owned-objects');
  send = await createSend(kubeconfigPath());
  await giveEveryRight(world.kube, world.namespace, 'mallory');
});
afterAll(() => world?.release());

const mergePatch = 'application/merge-patch+json';
const asMallory = (method: string, path: string, body?: object, contentType?: string): Promise<Answer> =>
  send(method, path, body, { as: 'mallory', rights: 'own', ...(contentType && { contentType }) });
const inNamespace = (plural: string): string => `/api/v1/namespaces/${world.namespace}/${plural}`;
const another = { apiVersion, kind: 'Volume', name: 'another', uid: randomUUID(), controller: true };

describe('the claim of a volume', () => {
  const name = 'data';
  const claimOf = (metadata: object): object => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
  });

  beforeAll(async () => {
    const { kube, namespace } = world;
    const spec: Volume['spec'] = { storage_class: 'persistent', size_limit_mb: 1 };
    await kube.create(volumes, { apiVersion, kind: 'Volume', metadata: { namespace, name }, spec });
    const isReady = ({ status }: Volume): boolean => status?.phase === 'ready';
    await waitForObject(kube, { resource: volumes, namespace, name }, isReady);
  });

  it.each<[what: string, owners: object[] | null]>([
    ['no owner', null],
    ['another owner', [another]],
  ])('gets %s from her', async (_what, ownerReferences) => {
    const path = `${inNamespace('persistentvolumeclaims')}/${name}`;
    const { status, message } = await asMallory('PATCH', path, { metadata: { ownerReferences } }, mergePatch);
    expect([status, message]).toEqual([403, expect.stringContaining('volume-claims.windlass.dev')]);
  });

  it('is not made by her for a volume, and one of her own is', async () => {
    const path = `${inNamespace('persistentvolumeclaims')}?dryRun=All`;
    const { status, message } = await asMallory('POST', path, claimOf({ name: 'b', ownerReferences: [another] }));
    expect([status, message]).toEqual([403, expect.stringContaining('volume-claims.windlass.dev')]);
    const herOwner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: randomUUID() };
    expect((await asMallory('POST', path, claimOf({ name: 'b', ownerReferences: [herOwner] }))).message).toBe('');
  });

  it('takes a label from her, and is deleted with its volume', async () => {
    const path = `${inNamespace('persistentvolumeclaims')}/${name}`;
    expect((await asMallory('PATCH', path, { metadata: { labels: { mine: '' } } }, mergePatch)).message).toBe('');
    const { kube, namespace } = world;
    await kube.delete(volumes, { namespace, name });
    const fieldSelector = `metadata.name=${name}`;
    await waitForNone(kube, { resource: persistentVolumeClaims, namespace, fieldSelector });
  });
});

describe('the document of an API spec', () => {
  it('is neither changed nor deleted by her, and is deleted with its API spec', async () => {
    const { kube, namespace } = world;
    const packed = await packDocument('{}', randomUUID());
    const metadata = { namespace, name: 'petstore' };
    const spec: ApiSpec['spec'] = { document_parts: packed.parts };
    const created = await kube.create(apiSpecs, { apiVersion, kind: 'ApiSpec', metadata, spec });
    const [map] = documentMaps(created, packed);
    if (map === undefined) throw new Error('the document has no part');
    await kube.create(configMaps, map);
    const name = map.metadata.name ?? '';
    const path = `${inNamespace('configmaps')}/${name}`;
    const answers = [
      await asMallory('DELETE', path),
      await asMallory('PATCH', path, { metadata: { ownerReferences: null } }, mergePatch),
      await asMallory('PATCH', path, { metadata: { labels: { mine: '' } } }, mergePatch),
    ];
    for (const { status, message } of answers) {
      expect([status, message]).toEqual([403, expect.stringContaining('holds the document of an ApiSpec')]);
    }
    await kube.delete(apiSpecs, metadata);
    await waitForNone(kube, { resource: configMaps, namespace, fieldSelector: `metadata.name=${name}` });
  });
});
