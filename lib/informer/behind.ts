import { type KubeClient, type KubeObject, keyOf, listPages, metadataOf, type Resource } from '../kube/index.ts';
import type { CacheReader } from './cache.ts';
import { compareResourceVersions } from './resource-version.ts';

interface BehindDeps<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'list'>;
  readonly resource: Resource<T>;
  readonly cache: Pick<CacheReader<T>, 'get'>;
}

/**
 * The metadata of objects that the cache lacks, or has in an older version than the server. Reads the metadata of all
 * objects of a namespace, or of the cluster, a page at a time.
 */
export async function* listBehind<T extends KubeObject>(
  { kube, resource, cache }: BehindDeps<T>,
  place: { readonly namespace?: string },
): AsyncGenerator<KubeObject> {
  for await (const { items } of listPages((paged) => kube.list(metadataOf(resource), paged), place)) {
    for (const item of items) {
      const cached = cache.get(keyOf(item))?.metadata.resourceVersion;
      if (compareResourceVersions(item.metadata.resourceVersion, cached) > 0) yield item;
    }
  }
}
