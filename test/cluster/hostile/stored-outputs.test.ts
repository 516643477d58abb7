import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConfigMap, configMaps, type KubeClient } from '../../../lib/kube/index.ts';
import { createBlob } from '../../../lib/output-store/blob.ts';
import { blobName, createConfigMapStore } from '../../../lib/output-store/config-map-store.ts';
import { connect } from '../harness/cluster.ts';
import { startExecution } from '../harness/executions.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';

/**
 * The attacker may write ConfigMaps in their own namespace. They put one in the place of a stored output that says it
 * has fifty million chunks, or that unpacks to far more than was stored.
 */
describe('WF-CR-19 a ConfigMap in the place of a stored output', () => {
  let kube: KubeClient;
  let namespace: TestNamespace;

  beforeAll(async () => {
    ({ kube } = await connect());
    namespace = await makeTestNamespace(kube, 'lost-outputs');
  });
  afterAll(async () => {
    await namespace?.remove();
    await kube?.close();
  });

  it.each<[title: string, forged: Buffer]>([
    ['that names fifty million chunks', gzipSync('a lie')],
    ['that unpacks to 256 MiB', gzipSync(Buffer.alloc(256 * 1024 * 1024))],
    ['that is full, as if another one followed', Buffer.alloc(960 * 1024)],
  ])('%s is lost after a few reads', async (title, forged) => {
    const ref = { namespace: namespace.name, name: `owner-${title.length}` };
    const { metadata } = await startExecution(kube, ref, { workflow: 'none' });
    const blob = createBlob(Buffer.alloc(2 * 1024 * 1024, title));
    const owner = { ...ref, uid: metadata.uid ?? '' };
    await createConfigMapStore(kube).put(owner, [blob], 0);
    const name = blobName(owner.uid, blob.ref, 0);
    await kube.delete(configMaps, { namespace: ref.namespace, name });
    const lie: ConfigMap = {
      metadata: { ...ref, name, annotations: { 'windlass.dev/blob-chunks': '50000000' } },
      binaryData: { gzip: forged.toString('base64') },
    };
    await kube.create(configMaps, lie);
    let reads = 0;
    const counting: Pick<KubeClient, 'create' | 'get' | 'strategicPatch'> = {
      create: (...args) => kube.create(...args),
      strategicPatch: (...args) => kube.strategicPatch(...args),
      get: (...args) => {
        reads += 1;
        return kube.get(...args);
      },
    };
    const locator = { executionUid: owner.uid, ref: blob.ref, encoding: 'text', bytes: blob.data.byteLength } as const;
    const reading = createConfigMapStore(counting).get(ref.namespace, locator);
    await expect(reading).rejects.toMatchObject({ code: 'not_found', reason: 'OutputLost' });
    expect(reads).toBeLessThanOrEqual(3);
  });
});
