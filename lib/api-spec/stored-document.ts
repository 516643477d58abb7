import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { limits } from '../../crds/limits.ts';
import type { ApiSpec, DocumentParts } from '../../crds/schema/api-spec.ts';
import { apiVersion } from '../../crds/labels.ts';
import { AppError } from '../errors.ts';
import { type ConfigMap, configMaps, findObject, type KubeClient } from '../kube/index.ts';

/** A document that was compressed and cut for ConfigMaps. */
export interface PackedDocument {
  readonly parts: DocumentParts;
  /** Bytes of each ConfigMap of `parts`, in order. */
  readonly data: readonly Uint8Array[];
}

const compress = promisify(gzip);
const expand = promisify(gunzip);
const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Packs a document; the ConfigMaps are named after `id`, which no other document has. */
export async function packDocument(text: string, id: string): Promise<PackedDocument> {
  const bytes = Buffer.from(text);
  const packed = await compress(bytes);
  const count = Math.ceil(packed.byteLength / limits.apiDocumentPartBytes);
  if (count > limits.apiDocumentParts) {
    throw new AppError('invalid', 'the document does not compress enough to be kept', { reason: 'DocumentTooLarge' });
  }
  const data = Array.from({ length: count }, (_, index) =>
    packed.subarray(index * limits.apiDocumentPartBytes, (index + 1) * limits.apiDocumentPartBytes),
  );
  const names = data.map((_, index) => `apispec-${id}-${index}`);
  const sizes = { bytes: bytes.byteLength, stored_bytes: packed.byteLength };
  return { parts: { sha256: sha256Of(bytes), ...sizes, config_maps: names }, data };
}

/** The ConfigMaps of a packed document. The garbage collector deletes them with their ApiSpec. */
export function documentMaps({ metadata }: ApiSpec, { parts, data }: PackedDocument): ConfigMap[] {
  const owner = { apiVersion, kind: 'ApiSpec', name: metadata.name, uid: metadata.uid ?? '' };
  return data.map((part, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: parts.config_maps[index] ?? '', namespace: metadata.namespace, ownerReferences: [owner] },
    immutable: true,
    binaryData: { part: Buffer.from(part).toString('base64') },
  }));
}

/**
 * The document of an ApiSpec in full, wherever it is kept.
 * @throws AppError `not_found` with the reason DocumentMissing where its bytes are not there, or are others.
 */
export async function readDocument(kube: Pick<KubeClient, 'get'>, spec: ApiSpec): Promise<string> {
  const { document, document_parts: parts } = spec.spec;
  if (document !== undefined) return document;
  if (parts === undefined) throw missing('the ApiSpec holds no document');
  const { namespace } = spec.metadata;
  const data: Uint8Array[] = [];
  for (const name of parts.config_maps) {
    const map = await findObject(kube, configMaps, { namespace, name });
    const part = map?.binaryData?.['part'];
    if (part === undefined) throw missing(`ConfigMap ${name} with the key part is not there`);
    data.push(Buffer.from(part, 'base64'));
  }
  return unpacked(Buffer.concat(data), parts);
}

async function unpacked(packed: Uint8Array, parts: DocumentParts): Promise<string> {
  const bytes = await expand(packed, { maxOutputLength: limits.apiDocumentBytes }).catch((cause: unknown) => {
    throw missing('the ConfigMaps of document_parts hold no gzip of a document', cause);
  });
  if (sha256Of(bytes) !== parts.sha256) throw missing('the document is not the one of document_parts.sha256');
  return bytes.toString('utf8');
}

const missing = (message: string, cause?: unknown): AppError =>
  new AppError('not_found', message, { reason: 'DocumentMissing', cause });
