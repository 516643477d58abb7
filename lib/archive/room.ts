import type { ArchiveEntry, ArchiveOwner, ArchiveStore } from './archive-store.ts';
import { archiveLimits } from './limits.ts';
import { sharesAbove } from '../shares-above.ts';

/** Sees to it that all records together take no more than they may. */
export interface ArchiveRoom {
  /** A record was written. Deletes the oldest of those who have more than their share, where there is too much in all. */
  took(entry: Pick<ArchiveEntry, 'owner' | 'body'>): Promise<void>;
}

/** `total`: bytes of all records. The size of the store is read once, when the first record was written. */
export function createArchiveRoom(store: Pick<ArchiveStore, 'usage' | 'trim'>, total: number): ArchiveRoom {
  let used: Map<ArchiveOwner, number> | undefined;
  let trimming: Promise<void> | undefined;
  const trim = async (usage: Map<ArchiveOwner, number>): Promise<void> => {
    for (const [owner, share] of sharesAbove(usage, total)) {
      usage.set(owner, await store.trim(owner, Math.floor(share * archiveLimits.trimTo)));
    }
  };
  return {
    async took({ owner, body }) {
      if (used === undefined) used = new Map(await store.usage());
      else used.set(owner, (used.get(owner) ?? 0) + body.byteLength);
      if (sharesAbove(used, total).size === 0) return;
      trimming ??= trim(used).finally(() => (trimming = undefined));
      await trimming;
    },
  };
}
