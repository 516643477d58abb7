import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { type ConfigMap, KubeError } from '../kube/index.ts';
import { type Blob, createBlob } from './blob.ts';
import { blobName, type ConfigMapPort, createConfigMapStore } from './config-map-store.ts';
import type { BlobOwner } from './output-store.ts';
import { pack } from './packed.ts';

const owner: BlobOwner = { namespace: 'team', name: 'x', uid: 'c0ffee00-0000-4000-8000-000000000001' };
const blob = createBlob(Buffer.from('the truth'));
const locatorOf = ({ ref, data }: Blob) => ({
  executionUid: owner.uid,
  ref,
  encoding: 'text' as const,
  bytes: data.byteLength,
});
const first = blobName(owner.uid, blob.ref, 0);

/** ConfigMaps by their names, one namespace of them. */
function setUp() {
  const maps = new Map<string, ConfigMap>();
  const refusal = (status: number, reason: string) =>
    new KubeError(status, { message: reason, reason }, { verb: 'create', resource: 'configmaps' });
  const kube = {
    create: async (_: unknown, object: ConfigMap) => {
      const { name = '' } = object.metadata;
      if (maps.has(name)) throw refusal(409, 'AlreadyExists');
      maps.set(name, object);
      return object;
    },
    get: async (_: unknown, { name }: { name: string }) => {
      const found = maps.get(name);
      if (found === undefined) throw refusal(404, 'NotFound');
      return found;
    },
    strategicPatch: async (_: unknown, { name }: { name: string }, { metadata }: ConfigMap) => {
      const found = maps.get(name);
      if (found === undefined) throw refusal(404, 'NotFound');
      const ownerReferences = [...(found.metadata.ownerReferences ?? []), ...(metadata.ownerReferences ?? [])];
      maps.set(name, { ...found, metadata: { ...found.metadata, ownerReferences } });
      return found;
    },
  } as unknown as ConfigMapPort;
  const holding = (data: Uint8Array, owners: readonly BlobOwner[] = []): ConfigMap => ({
    metadata: {
      name: first,
      ownerReferences: owners.map(({ name, uid }) => ({ apiVersion: 'v1', kind: 'WorkflowExecution', name, uid })),
    },
    binaryData: { gzip: Buffer.from(data).toString('base64') },
  });
  return { maps, holding, store: createConfigMapStore(kube), kube };
}

const ownersOf = (map: ConfigMap | undefined) => (map?.metadata.ownerReferences ?? []).map(({ uid }) => uid);

describe('the budget of the outputs of an execution', () => {
  it.each([
    { left: 1, fits: true },
    { left: 0, fits: true },
    { left: -1, fits: false },
  ])('WF-CR-19 AMB-022 is 32 MiB, of which an output leaves $left: stored $fits', async ({ left, fits }) => {
    const { store, maps } = setUp();
    const { byteLength } = await pack(blob.data);
    const put = store.put(owner, [blob], limits.configMapStoreBytes - byteLength - left);
    const refusal = ({ code, reason }: { code: string; reason: string }) => `${code} ${reason}`;
    expect(await put.catch(refusal)).toBe(fits ? byteLength : 'limit_exceeded OutputBudgetExceeded');
    expect(maps.size).toBe(fits ? 1 : 0);
  });

  it('WF-CR-19 AMB-022 is shared by the outputs of one write', async () => {
    const { kube, maps } = setUp();
    const blobs = ['a', 'b', 'c'].map((text) => createBlob(Buffer.from(text)));
    const sizes = await Promise.all(blobs.map(async ({ data }) => (await pack(data)).byteLength));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const refused = createConfigMapStore(kube, bytes - 1).put(owner, blobs, 0);
    await expect(refused).rejects.toMatchObject({ reason: 'OutputBudgetExceeded' });
    expect(maps.size).toBe(0);
    expect(await createConfigMapStore(kube, bytes).put(owner, blobs, 0)).toBe(bytes);
  });
});

describe('WF-CR-19 an output whose ConfigMap is there already', () => {
  it('is stored where it was stored before', async () => {
    const { store, maps, kube } = setUp();
    expect(await store.put(owner, [blob], 0)).toBe(await createConfigMapStore(kube).put(owner, [blob], 0));
    expect(ownersOf(maps.get(first))).toEqual([owner.uid]);
  });

  it.each([
    ['other bytes', Buffer.from('a lie'), [owner]],
    ['other bytes, and no owner', Buffer.from('a lie'), []],
    ['no bytes', Buffer.alloc(0), [owner]],
  ])('is refused where that holds %s; the message names it and the way out', async (_what, data, owners) => {
    const { store, maps, holding } = setUp();
    maps.set(first, holding(data.byteLength === 0 ? data : await pack(data), owners));
    await expect(store.put(owner, [blob], 0)).rejects.toMatchObject({
      reason: 'OutputNameTaken',
      message: `the output is not stored: ConfigMap team/${first} is there already and holds something else; delete it`,
    });
  });

  it('is not asked for again by a further try of the same write, whichever request of the first one failed', async () => {
    const { kube } = setUp();
    const blobs = [blob, createBlob(Buffer.from('more of it'))];
    let requests = 0;
    let failing = 2;
    const create: ConfigMapPort['create'] = async (resource, object) => {
      requests += 1;
      if (requests === failing) throw new KubeError(500, { message: 'injected' }, { verb: 'create', resource: '' });
      return kube.create(resource, object);
    };
    const store = createConfigMapStore({ ...kube, create });
    await expect(store.put(owner, blobs, 0)).rejects.toThrow('injected');
    failing = 0;
    await store.put(owner, blobs, 0);
    await store.put(owner, blobs, 0);
    expect(requests).toBe(3);
  });

  it('becomes its own where that has the right bytes and another owner, so that it goes with its execution', async () => {
    const { store, maps, holding } = setUp();
    maps.set(first, holding(await pack(blob.data), [{ ...owner, uid: 'u-other' }]));
    await store.put(owner, [blob], 0);
    expect(ownersOf(maps.get(first))).toEqual(['u-other', owner.uid]);
    expect(Buffer.from(await store.get(owner.namespace, locatorOf(blob))).toString()).toBe('the truth');
  });

  it('is not given up where a proxy answers in place of the server when another execution takes it over', async () => {
    const { kube } = setUp();
    const proxy = new KubeError(404, { message: '404 page not found' }, { verb: 'patch', resource: 'configmaps' });
    const store = createConfigMapStore({ ...kube, strategicPatch: () => Promise.reject(proxy) });
    await expect(store.adopt({ ...owner, uid: 'u-other' }, [locatorOf(blob)])).rejects.toBe(proxy);
  });

  it('is stored where another release has packed the same bytes otherwise', async () => {
    const { store, maps, holding } = setUp();
    const packed = Buffer.from(await pack(blob.data));
    // The byte of a gzip header that names the operating system.
    packed[9] = packed[9] === 255 ? 3 : 255;
    maps.set(first, holding(packed, [owner]));
    expect(await store.put(owner, [blob], 0)).toBe(packed.byteLength);
  });
});
