import { LRUCache } from 'lru-cache';
import { annotations, apiVersion, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import { hasReason } from '../errors.ts';
import type { ConfigMap, KubeClient } from '../kube/index.ts';
import { configMaps, createUnlessExists, findObject, isAbsent, metadataOf } from '../kube/index.ts';
import type { Blob, BlobLocator } from './blob.ts';
import { type BlobOwner, OutputBudgetExceeded, OutputNameTaken, type OutputStore } from './output-store.ts';
import { boundOf, lost, packAll, packedBytesMax, unpack } from './packed.ts';

/** A ConfigMap holds 1 MiB of data; its metadata want room as well. */
const chunkBytes = 960 * 1024;

/** Calls of the API that the store needs. */
export type ConfigMapPort = Pick<KubeClient, 'create' | 'get' | 'strategicPatch'>;

/** Chunks that are remembered as stored, and for how long: for as long as a status that names them is tried again. */
const remembered = { max: 1_000, ttl: 60_000 };

/** Requests of one call that are under way at once. */
const requestsAtOnce = 16;

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
  // Each try of a write begins where the one before has come to, not with all chunks anew.
  const stored = new LRUCache<string, true>(remembered);
  return {
    async put(owner, blobs, usedBytes) {
      const packed = await packAll(blobs);
      const bytes = packed.reduce((sum, { data }) => sum + data.byteLength, 0);
      if (usedBytes + bytes > budgetBytes) throw overBudget(usedBytes + bytes, budgetBytes);
      await Promise.all(packed.map(({ blob, data }) => write({ kube, stored }, owner, blob, data)));
      return bytes;
    },
    get: (namespace, locator) => read(kube, namespace, locator),
    async adopt(owner, blobs) {
      const rest = blobs.values();
      const absent: BlobLocator[] = [];
      const writers = Array.from({ length: requestsAtOnce }, async () => {
        for (const blob of rest) if (!(await adopt(kube, owner, blob))) absent.push(blob);
      });
      await Promise.all(writers);
      return absent;
    },
  };
}

interface Writing {
  readonly kube: ConfigMapPort;
  /** Namespaces and names of chunks that were seen in the store. */
  readonly stored: LRUCache<string, true>;
}

/**
 * Stores one blob. A ConfigMap of a wanted name may be from an earlier try, or a stranger's. It counts where the blob
 * is read back whole, and then has the execution as an owner. @throws OutputNameTaken where another object has the name
 * of a chunk.
 */
async function write({ kube, stored }: Writing, owner: BlobOwner, blob: Blob, data: Uint8Array): Promise<void> {
  const others: string[] = [];
  const store = async (map: ConfigMap): Promise<void> => {
    const { name = '' } = map.metadata;
    const key = `${owner.namespace}/${name}`;
    if (stored.has(key)) return;
    if (await isStored(kube, owner, map)) stored.set(key, true);
    else others.push(name);
  };
  await Promise.all(chunksOf(owner, blob, data).map(store));
  if (others.length === 0) return;
  const locator = { executionUid: owner.uid, ref: blob.ref, encoding: 'text', bytes: blob.data.byteLength } as const;
  try {
    // Another release may have packed the same bytes otherwise.
    await read(kube, owner.namespace, locator);
  } catch (error) {
    throw hasReason(error, 'OutputLost') ? new OutputNameTaken(owner.namespace, others, error) : error;
  }
  await adopt(kube, owner, locator);
}

/** Whether a chunk is in the store as it was to be, and belongs to its execution. */
async function isStored(kube: ConfigMapPort, { uid }: BlobOwner, map: ConfigMap): Promise<boolean> {
  if ((await createUnlessExists(kube, configMaps, map)) !== undefined) return true;
  const { namespace, name = '' } = map.metadata;
  const found = await kube.get(configMaps, { namespace, name });
  const isOwned = found.metadata.ownerReferences?.some((reference) => reference.uid === uid) ?? false;
  return isOwned && found.binaryData?.['gzip'] === map.binaryData?.['gzip'];
}

/** Makes an execution one more owner of a blob: Kubernetes collects what has no owner left. False where it is gone. */
async function adopt(kube: ConfigMapPort, owner: BlobOwner, locator: BlobLocator): Promise<boolean> {
  const { namespace } = owner;
  const patch = { metadata: { ownerReferences: [referenceTo(owner)] } };
  const bytesMax = packedBytesMax(boundOf(locator));
  for (let index = 0; index * chunkBytes < bytesMax; index += 1) {
    const name = blobName(storerOf(locator), locator.ref, index);
    try {
      await kube.strategicPatch(metadataOf(configMaps), { namespace, name }, patch);
    } catch (error) {
      if (!isAbsent(error)) throw error;
      return index > 0;
    }
  }
  return true;
}

const referenceTo = ({ name, uid, kind = 'WorkflowExecution' }: BlobOwner) => ({ apiVersion, kind, name, uid });
const storerOf = ({ executionUid, storedBy = executionUid }: BlobLocator): string => storedBy;

function chunksOf(owner: BlobOwner, { ref }: Blob, data: Uint8Array): ConfigMap[] {
  const count = Math.max(1, Math.ceil(data.byteLength / chunkBytes));
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: blobName(owner.uid, ref, index),
      namespace: owner.namespace,
      labels: { [labels.executionUid]: owner.uid, [labels.managedBy]: 'windlass' },
      annotations: { [annotations.blob]: ref },
      ownerReferences: [referenceTo(owner)],
    },
    immutable: true,
    binaryData: { gzip: Buffer.from(data.subarray(index * chunkBytes, (index + 1) * chunkBytes)).toString('base64') },
  }));
}

function overBudget(wanted: number, budget: number): OutputBudgetExceeded {
  return new OutputBudgetExceeded(
    `outputs of this execution would take ${wanted} bytes in the store; its budget is ${budget}`,
  );
}

/** How many chunks follows from the size in the status and from the chunks: only a full one has another behind it. */
async function read(kube: ConfigMapPort, namespace: string, locator: BlobLocator): Promise<Uint8Array> {
  const bytesMax = packedBytesMax(boundOf(locator));
  const parts: Uint8Array[] = [];
  for (let index = 0; index * chunkBytes < bytesMax; index += 1) {
    const part = await chunk(kube, namespace, locator, index);
    if (part === undefined) break;
    parts.push(part);
    if (part.byteLength !== chunkBytes) break;
  }
  return unpack(Buffer.concat(parts), locator);
}

/** Undefined where there is none behind a full one, which may have been the last. */
async function chunk(
  kube: ConfigMapPort,
  namespace: string,
  locator: BlobLocator,
  index: number,
): Promise<Uint8Array | undefined> {
  const name = blobName(storerOf(locator), locator.ref, index);
  const map = await findObject(kube, configMaps, { namespace, name });
  if (map !== undefined) return Buffer.from(map.binaryData?.['gzip'] ?? '', 'base64');
  if (index > 0) return undefined;
  throw lost(locator.ref, `ConfigMap ${namespace}/${name} is gone`);
}
