import { type KubeObject, keyOf } from '../kube/index.ts';
import { compareResourceVersions } from './resource-version.ts';

/**
 * Objects that a cache lacks, has in an older version, or has though they are gone, one line for each object and
 * version. A moment of lag looks the same; a line that is still there minutes later is an event that was lost. Pure.
 */
export function differences(server: ReadonlyMap<string, string>, held: Iterable<KubeObject>): ReadonlySet<string> {
  const unseen = new Map(server);
  const found = new Set<string>();
  for (const object of held) {
    const key = keyOf(object);
    const version = object.metadata.resourceVersion;
    const newest = server.get(key);
    unseen.delete(key);
    if (newest === undefined) found.add(`${key} ${version} gone`);
    // Newer than listed: our own write, or the watch was faster than the list.
    else if (compareResourceVersions(version, newest) < 0) found.add(`${key} ${newest}`);
  }
  for (const [key, newest] of unseen) found.add(`${key} ${newest}`);
  return found;
}
