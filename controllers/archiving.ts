import { archiveBytes } from '../lib/archive/archive-config.ts';
import type { ArchiveStore } from '../lib/archive/archive-store.ts';
import { archiveOwnerOf, createArchive } from '../lib/archive/create-archive.ts';
import { archiveLimits } from '../lib/archive/limits.ts';
import type { EventBus } from '../lib/bus/index.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { OutputStore } from '../lib/output-store/output-store.ts';
import type { ProcessRuntime } from '../lib/process/process-runtime.ts';
import type { TenantDirectory } from '../lib/tenant/tenant-directory.ts';
import type { ControllersConfig } from './config.ts';
import { type Archives, createArchives, noArchives } from './execution/archives.ts';
import type { Informers } from './informers.ts';
import type { TurnGate } from './runtime/turn-gate.ts';

interface ArchivingDeps {
  readonly config: ControllersConfig;
  readonly bus: EventBus;
  /** Throws where this replica does not lead. */
  readonly guard: () => void;
  readonly informers: Informers;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  readonly store: OutputStore;
  readonly turns: TurnGate;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly runtime: Pick<ProcessRuntime, 'abandon' | 'stop'>;
}

/** What archives finished executions, where an archive is configured. */
export function archiving(deps: ArchivingDeps): (onNews: (key: string) => void) => Archives {
  const { config, bus, guard, informers, tenants, store, runtime } = deps;
  const archive = createArchive({ bus, guard }, config);
  if (archive === undefined) return () => noArchives;
  void expireAgain(deps, archive);
  return (onNews) =>
    createArchives({
      ...deps,
      archive,
      bytesMax: archiveBytes(config),
      wholes: informers.executions,
      outputs: store,
      ownerOf: (namespace) =>
        tenants.tenantOf(namespace) === undefined ? undefined : archiveOwnerOf(informers.tenants.cache, namespace),
      onNews,
      signal: runtime.abandon,
    });
}

/** Deletes what is too old, again and again; a replica that does not lead is stopped by the guard of the store. */
async function expireAgain({ clock, guard, logger, runtime }: ArchivingDeps, archive: ArchiveStore): Promise<void> {
  while (!runtime.stop.aborted) {
    await clock.sleep(archiveLimits.expireEveryMs, runtime.stop);
    if (!leads(guard)) continue;
    await archive.expire(clock.now()).catch((error: unknown) => {
      logger.warn({ err: error }, 'old records not deleted yet');
    });
  }
}

function leads(guard: () => void): boolean {
  try {
    guard();
    return true;
  } catch {
    return false;
  }
}
