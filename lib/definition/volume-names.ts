import type { Storage } from '../../crds/schema/storage.ts';

/** Names by which states mount the declared volumes (AMB-080). */
export function volumeNames(storage: Storage | undefined): ReadonlySet<string> {
  const shared = (storage?.shared_volumes ?? []).map((volume) => volume.name);
  return new Set(storage?.workspace ? ['workspace', ...shared] : shared);
}
