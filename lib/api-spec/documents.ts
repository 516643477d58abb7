import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { KubeClient } from '../kube/index.ts';
import type { OpenApiReader } from '../manifest/index.ts';
import { heapBytes } from '../heap-bytes.ts';
import { bytesOf } from '../memory-budget/index.ts';
import { indexBytes, type OpenApiIndex, type OpenApiReading } from '../openapi-document/index.ts';
import { createSharedCache } from '../shared-cache.ts';
import { problemText } from './problem-text.ts';
import { AppError } from '../errors.ts';
import { readDocument } from './stored-document.ts';

/** The operations of ApiSpecs, read on demand and kept while there is room. */
export interface ApiDocuments {
  /**
   * The document of this generation, and of no later one: its credentials are for the servers that it names.
   * @throws AppError `not_found` (DocumentMissing), `unavailable` (StaleRead) where the spec has been changed meanwhile,
   * `limit_exceeded` or `unavailable` as the reader does.
   */
  read(spec: ApiSpec): Promise<OpenApiReading>;
  /** The same. @throws AppError `invalid` (InvalidDocument) for a document with problems. */
  indexOf(spec: ApiSpec): Promise<OpenApiIndex>;
}

interface DocumentsDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly reader: Pick<OpenApiReader, 'readOpenApi'>;
  /** The object in full, of which a cache keeps less; undefined where it is gone. */
  readonly whole: (spec: ApiSpec) => Promise<ApiSpec | undefined>;
}

/** Bytes of heap for indexes. A tenant's share takes two of the largest ones, and some dozens of common ones. */
const kept = { maxBytes: bytesOf('API documents'), tenantBytes: 6 * 1024 * 1024 + 64 * 1024 } as const;

/** Bytes of heap that a reading takes. */
const readingBytes = ({ index, problems }: OpenApiReading): number =>
  heapBytes(problems, kept.maxBytes) + (index === undefined ? 0 : indexBytes(index));

export function createApiDocuments({ kube, reader, whole }: DocumentsDeps): ApiDocuments {
  const cache = createSharedCache<OpenApiReading>({ ...kept, weigh: readingBytes });
  const underway = new Map<string, Promise<OpenApiReading>>();
  const fetch = async (spec: ApiSpec): Promise<OpenApiReading> => {
    const full = await whole(spec);
    if (full === undefined) throw new AppError('not_found', 'the ApiSpec was deleted', { reason: 'DocumentMissing' });
    if (full.metadata.generation !== spec.metadata.generation) throw changed(spec);
    // In its turn: texts of 5 MiB that wait for a thread would fill the process, however few of them there are.
    return reader.readOpenApi(() => readDocument(kube, full), full.metadata.namespace ?? '', full.spec.server_url);
  };
  const read = async (spec: ApiSpec): Promise<OpenApiReading> => {
    const key = `${spec.metadata.uid}/${spec.metadata.generation ?? 0}`;
    const { namespace = '' } = spec.metadata;
    const known = cache.get(namespace, key);
    if (known !== undefined) return known;
    const reading = underway.get(key) ?? fetch(spec).finally(() => underway.delete(key));
    underway.set(key, reading);
    const found = await reading;
    cache.set(namespace, key, found);
    return found;
  };
  return {
    read,
    async indexOf(spec) {
      const { index, problems } = await read(spec);
      if (index !== undefined) return index;
      throw new AppError('invalid', problemText(problems), { reason: 'InvalidDocument' });
    },
  };
}

/** A later writer may name other servers, and no credentials, where he may not read the Secret. */
const changed = ({ metadata }: ApiSpec): AppError =>
  new AppError('unavailable', `the ApiSpec ${metadata.name} has just been changed; try again`, { reason: 'StaleRead' });
