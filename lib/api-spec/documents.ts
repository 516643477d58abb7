import { LRUCache } from 'lru-cache';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { KubeClient } from '../kube/index.ts';
import type { OpenApiReader } from '../manifest/index.ts';
import type { OpenApiIndex, OpenApiReading } from '../openapi-document/index.ts';
import { problemText } from './problem-text.ts';
import { AppError } from '../errors.ts';
import { readDocument } from './stored-document.ts';

/** The operations of ApiSpecs, read on demand and kept while there is room. */
export interface ApiDocuments {
  /** @throws AppError `not_found` (DocumentMissing), `limit_exceeded` or `unavailable` as the reader does. */
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

/** Bytes of heap for indexes; one operation takes some 400. */
const keptBytes = 32 * 1024 * 1024;
const operationBytes = 400;

export function createApiDocuments({ kube, reader, whole }: DocumentsDeps): ApiDocuments {
  const kept = new LRUCache<string, OpenApiReading>({
    maxSize: keptBytes,
    sizeCalculation: ({ index, problems }) => 2_000 + (index?.operations.size ?? 0) * operationBytes + problems.length,
  });
  const underway = new Map<string, Promise<OpenApiReading>>();
  const fetch = async (spec: ApiSpec): Promise<OpenApiReading> => {
    const full = await whole(spec);
    if (full === undefined) throw new AppError('not_found', 'the ApiSpec was deleted', { reason: 'DocumentMissing' });
    const text = await readDocument(kube, full);
    return reader.readOpenApi(text, full.metadata.namespace ?? '', full.spec.server_url);
  };
  const read = async (spec: ApiSpec): Promise<OpenApiReading> => {
    const key = `${spec.metadata.uid}/${spec.metadata.generation ?? 0}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const reading = underway.get(key) ?? fetch(spec).finally(() => underway.delete(key));
    underway.set(key, reading);
    const found = await reading;
    kept.set(key, found);
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
