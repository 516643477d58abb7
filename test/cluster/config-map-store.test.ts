import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { configMaps, type KubeClient } from '../../lib/kube/index.ts';
import { type Blob, createBlob } from '../../lib/output-store/blob.ts';
import { blobName, createConfigMapStore } from '../../lib/output-store/config-map-store.ts';
import { createLayeredStore } from '../../lib/output-store/layered-store.ts';
import type { BlobOwner } from '../../lib/output-store/output-store.ts';
import { pack } from '../../lib/output-store/packed.ts';
import { connect } from './harness/cluster.ts';
import { startExecution } from './harness/executions.ts';
import { workflowExecutions } from './harness/kinds.ts';
import { makeTestNamespace, type TestNamespace } from './harness/test-namespace.ts';
import { waitForNone } from './harness/wait.ts';

const chunkBytes = 960 * 1024;

/** A blob that takes exactly so many bytes in the store. */
async function blobOfPackedSize(size: number) {
  for (let data = randomBytes(size - 18); ; ) {
    const over = (await pack(data)).byteLength - size;
    if (over === 0) return createBlob(data);
    data = randomBytes(data.byteLength - over);
  }
}

describe('AMB-022 outputs in ConfigMaps', () => {
  let kube: KubeClient;
  let namespace: TestNamespace;
  let runs = 0;

  beforeAll(async () => {
    ({ kube } = await connect());
    namespace = await makeTestNamespace(kube, 'config-maps');
  });
  afterAll(async () => {
    await namespace?.remove();
    await kube?.close();
  });

  /** An execution of a workflow that is not there: an owner that nothing is run for. */
  async function newOwner(): Promise<BlobOwner> {
    const ref = { namespace: namespace.name, name: `owner-${++runs}` };
    const { metadata } = await startExecution(kube, ref, { workflow: 'none' });
    return { ...ref, uid: metadata.uid ?? '' };
  }
  const locate = (owner: BlobOwner, { ref, data }: Blob) => ({
    executionUid: owner.uid,
    ref,
    encoding: 'text' as const,
    bytes: data.byteLength,
  });
  const mapsOf = async (owner: BlobOwner) => {
    const { items } = await kube.listAll(configMaps, {
      namespace: owner.namespace,
      labelSelector: `windlass.dev/execution-uid=${owner.uid}`,
    });
    return items;
  };

  it.each<[bytes: number, chunks: number]>([
    [chunkBytes - 1, 1],
    [chunkBytes, 1],
    [chunkBytes + 1, 2],
    [2 * chunkBytes, 2],
    [2 * chunkBytes + 1, 3],
  ])('of %i stored bytes take %i objects, immutable, and come back whole', async (bytes, chunks) => {
    const owner = await newOwner();
    const store = createConfigMapStore(kube);
    const blob = await blobOfPackedSize(bytes);
    expect(await store.put(owner, [blob], 0)).toBe(bytes);
    const maps = await mapsOf(owner);
    expect(maps.map(({ immutable }) => immutable)).toEqual(Array.from({ length: chunks }, () => true));
    expect(Buffer.from(await store.get(owner.namespace, locate(owner, blob))).equals(blob.data)).toBe(true);
  });

  it.each<[title: string, used: number, fits: boolean]>([
    ['a byte below the budget', limits.configMapStoreBytes - 1_001, true],
    ['exactly the budget', limits.configMapStoreBytes - 1_000, true],
    ['a byte above the budget', limits.configMapStoreBytes - 999, false],
  ])('are stored up to the budget of 32 MiB: %s', async (_title, used, fits) => {
    const owner = await newOwner();
    const put = createConfigMapStore(kube).put(owner, [await blobOfPackedSize(1_000)], used);
    const refusal = ({ code, reason }: { code: string; reason: string }) => `${code} ${reason}`;
    expect(await put.catch(refusal)).toBe(fits ? 1_000 : 'limit_exceeded OutputBudgetExceeded');
    expect(await mapsOf(owner)).toHaveLength(fits ? 1 : 0);
  });

  it('are put twice without harm', async () => {
    const owner = await newOwner();
    const store = createConfigMapStore(kube);
    const blob = createBlob(Buffer.from('twice'));
    await store.put(owner, [blob], 0);
    await store.put(owner, [blob], 0);
    expect(await mapsOf(owner)).toHaveLength(1);
  });

  it('are refused when a user has put other bytes in their place, and say so when they are gone', async () => {
    const owner = await newOwner();
    const store = createConfigMapStore(kube);
    const blob = createBlob(Buffer.from('the truth'));
    await store.put(owner, [blob], 0);
    const ref = { namespace: owner.namespace, name: blobName(owner.uid, blob.ref, 0) };
    const { metadata: found, ...rest } = await kube.get(configMaps, ref);
    await kube.delete(configMaps, ref);
    await expect(store.get(owner.namespace, locate(owner, blob))).rejects.toMatchObject({ code: 'not_found' });
    const metadata = { ...ref, labels: found.labels, annotations: found.annotations };
    const lie = gzipSync('a lie').toString('base64');
    await kube.create(configMaps, { ...rest, metadata, binaryData: { gzip: lie } });
    await expect(store.get(owner.namespace, locate(owner, blob))).rejects.toMatchObject({ reason: 'OutputLost' });
  });

  it('are found behind a store that does not have them, and its other failures are not hidden', async () => {
    const owner = await newOwner();
    const store = createConfigMapStore(kube);
    const blob = createBlob(Buffer.from('from before'));
    await store.put(owner, [blob], 0);
    const elsewhere = { ...owner, namespace: 'default' };
    const layered = createLayeredStore({ ...store, get: (_, at) => store.get(elsewhere.namespace, at) }, store);
    const data = await layered.get(owner.namespace, locate(owner, blob));
    expect(Buffer.from(data).toString()).toBe('from before');
    const broken = { ...store, get: () => Promise.reject(new RangeError('broken')) };
    const reading = createLayeredStore(broken, store).get(owner.namespace, locate(owner, blob));
    await expect(reading).rejects.toThrow(RangeError);
  });

  it.each([chunkBytes, chunkBytes + 1, 2 * chunkBytes])(
    'of %i stored bytes go with the last of the executions that have them, whichever stored them',
    async (bytes) => {
      const [first, second, third] = [await newOwner(), await newOwner(), await newOwner()];
      const store = createConfigMapStore(kube);
      const blob = await blobOfPackedSize(bytes);
      const gone = createBlob(Buffer.from('never stored'));
      await store.put(first, [blob], 0);
      const count = (await mapsOf(first)).length;
      for (const _twice of [1, 2]) {
        expect(await store.adopt(second, [locate(first, blob), locate(first, gone)])).toEqual([locate(first, gone)]);
      }
      const storedBy = first.uid;
      expect(await store.adopt(third, [{ ...locate(second, blob), storedBy }])).toEqual([]);
      const ownersOf = async () =>
        (await mapsOf(first)).map(({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid).toSorted());
      const all = [first, second, third].map(({ uid }) => uid).toSorted();
      expect(await ownersOf()).toEqual(Array.from({ length: count }, () => all));
      for (const owner of [first, second]) await kube.delete(workflowExecutions, owner, { propagation: 'Background' });
      await expect.poll(ownersOf, { timeout: 60_000 }).toEqual(Array.from({ length: count }, () => [third.uid]));
      const data = await store.get(third.namespace, { ...locate(third, blob), storedBy });
      expect(Buffer.from(data).equals(blob.data)).toBe(true);
      await kube.delete(workflowExecutions, third, { propagation: 'Background' });
      await waitForNone(kube, {
        resource: configMaps,
        namespace: third.namespace,
        labelSelector: `windlass.dev/execution-uid=${first.uid}`,
      });
    },
  );

  it('go with their execution', async () => {
    const owner = await newOwner();
    await createConfigMapStore(kube).put(owner, [await blobOfPackedSize(chunkBytes + 1)], 0);
    await kube.delete(workflowExecutions, owner, { propagation: 'Background' });
    const labelSelector = `windlass.dev/execution-uid=${owner.uid}`;
    await waitForNone(kube, { resource: configMaps, namespace: owner.namespace, labelSelector });
    expect(await mapsOf(owner)).toEqual([]);
  });
});
