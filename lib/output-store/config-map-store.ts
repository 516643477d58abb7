import { annotations, apiVersion, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import { AppError } from '../errors.ts';
import type { ConfigMap, KubeClient } from '../kube/index.ts';
import { configMaps, createUnlessExists, findObject } from '../kube/index.ts';
import type { Blob, BlobLocator } from './blob.ts';
import { type BlobOwner, OutputBudgetExceeded, type OutputStore } from './output-store.ts';
import { pack, unpack } from './packed.ts';

/** A ConfigMap holds 1 MiB of data; its metadata want room as well. */
const chunkBytes = 960 * 1024;

/** What the store needs of the API. */
export type ConfigMapPort = Pick<KubeClient, 'create' | 'get'>;

/** The name of one chunk: the same bytes of the same execution always have the same name. */
export const blobName = (executionUid: string, ref: string, chunk: number): string =>
  `output-${executionUid}-${ref.slice(0, 20)}-${chunk}`;

/**
 * Keeps outputs in immutable ConfigMaps, gzipped and in chunks, owned by their execution, so that Kubernetes collects
 * them with it. `budgetBytes` bounds what one execution may store, compressed.
 */
export function createConfigMapStore(
  kube: ConfigMapPort,
  budgetBytes: number = limits.configMapStoreBytes,
): OutputStore {
  return {
    async put(owner, blobs, usedBytes) {
      const packed = await Promise.all(blobs.map(async (blob) => ({ blob, data: await pack(blob.data) })));
      const bytes = packed.reduce((sum, { data }) => sum + data.byteLength, 0);
      if (usedBytes + bytes > budgetBytes) throw new OutputBudgetExceeded(usedBytes + bytes, budgetBytes);
      await Promise.all(
        // The name says what is inside, so one that exists is the one we want.
        packed
          .flatMap(({ blob, data }) => chunksOf(owner, blob, data))
          .map((map) => createUnlessExists(kube, configMaps, map)),
      );
      return bytes;
    },
    get: (namespace, locator) => read(kube, namespace, locator),
  };
}

function chunksOf(owner: BlobOwner, { ref }: Blob, data: Uint8Array): ConfigMap[] {
  const count = Math.max(1, Math.ceil(data.byteLength / chunkBytes));
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: blobName(owner.uid, ref, index),
      namespace: owner.namespace,
      labels: { [labels.executionUid]: owner.uid, [labels.managedBy]: 'windlass' },
      annotations: { [annotations.blob]: ref, [annotations.blobChunks]: String(count) },
      ownerReferences: [{ apiVersion, kind: 'WorkflowExecution', name: owner.name, uid: owner.uid }],
    },
    immutable: true,
    binaryData: { gzip: Buffer.from(data.subarray(index * chunkBytes, (index + 1) * chunkBytes)).toString('base64') },
  }));
}

async function read(kube: ConfigMapPort, namespace: string, locator: BlobLocator): Promise<Uint8Array> {
  const first = await chunk(kube, namespace, locator, 0);
  const count = Number(first.metadata.annotations?.[annotations.blobChunks] ?? 1);
  const others = Array.from({ length: count - 1 }, (_, index) => chunk(kube, namespace, locator, index + 1));
  const maps = [first, ...(await Promise.all(others))];
  return unpack(Buffer.concat(maps.map((map) => Buffer.from(map.binaryData?.['gzip'] ?? '', 'base64'))), locator.ref);
}

async function chunk(kube: ConfigMapPort, namespace: string, locator: BlobLocator, index: number): Promise<ConfigMap> {
  const name = blobName(locator.executionUid, locator.ref, index);
  const map = await findObject(kube, configMaps, { namespace, name });
  if (map !== undefined) return map;
  throw new AppError('not_found', `stored output ${locator.ref} is gone: ConfigMap ${namespace}/${name}`);
}
