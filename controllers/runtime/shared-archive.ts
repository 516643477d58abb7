import { Counter, type Registry } from 'prom-client';
import { archiveBytes } from '../../lib/archive/archive-config.ts';
import type { ArchivedRow, ArchiveStore } from '../../lib/archive/archive-store.ts';
import { type ArchiveDeps, type ArchiveStoreConfig, createArchive } from '../../lib/archive/create-archive.ts';
import { archiveLimits } from '../../lib/archive/limits.ts';
import { type ArchiveRoom, createArchiveRoom } from '../../lib/archive/room.ts';
import type { Clock } from '../../lib/clock.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import type { Logger } from '../../lib/logger.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';

/** The archive of this process, and the bounds that every kind of execution shares. */
export interface SharedArchive {
  readonly store: ArchiveStore;
  readonly room: ArchiveRoom;
  /** Records that are made and written at once. */
  readonly places: FairPool;
  /** Bytes of values that are held at once. */
  readonly bytes: FairPool;
  /** Called for an execution that was deleted without a record, with the reason. */
  readonly onUnarchived: (execution: ArchivedRow, why: string) => void;
}

interface SharedArchiveDeps extends ArchiveDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

export const createUnarchivedCounter = (registry: Registry): Counter =>
  new Counter({
    name: 'windlass_executions_unarchived_total',
    help: 'Executions that were deleted without a record.',
    registers: [registry],
  });

/** Undefined where no archive is configured. */
export function openSharedArchive(deps: SharedArchiveDeps, config: ArchiveStoreConfig): SharedArchive | undefined {
  const store = createArchive(deps, config);
  if (store === undefined) return undefined;
  const { clock, logger, registry } = deps;
  const unarchived = createUnarchivedCounter(registry);
  return {
    store,
    room: createArchiveRoom(store, archiveBytes(config)),
    places: createFairPool({ size: archiveLimits.writesAtOnce, clock }),
    bytes: createFairPool({ size: bytesOf('records being written'), clock }),
    onUnarchived({ kind, metadata: { namespace, name, uid } }, why) {
      unarchived.inc();
      logger.error({ kind, namespace, execution: name, uid, problem: why }, 'execution deleted without a record');
    },
  };
}
