import type { ArchivedRow, ArchiveOwner } from '../../lib/archive/archive-store.ts';
import { archiveOwnerOf } from '../../lib/archive/create-archive.ts';
import { archiveLimits } from '../../lib/archive/limits.ts';
import type { Informer } from '../../lib/informer/index.ts';
import type { ModuleContext } from '../runtime/module.ts';
import type { tenantInformer } from '../tenants.ts';
import { type Archives, createArchives, noArchives, type RecordKind } from './archives.ts';

type Context = ModuleContext<{ readonly tenants: typeof tenantInformer }>;

interface Archived<T extends ArchivedRow> {
  readonly kind: RecordKind<T>;
  readonly wholes: Pick<Informer<T>, 'use'>;
  /** Owner of the records of this kind, by the owner of all of a tenant's. */
  readonly ownerOf: (owner: ArchiveOwner) => ArchiveOwner;
}

/** Archives finished executions of a kind, where an archive is configured. */
export function archiving<T extends ArchivedRow>(
  context: Context,
  { kind, wholes, ownerOf }: Archived<T>,
): Archives<T> {
  const { archive, informers, tenants, runtime, clock, logger, wake } = context;
  if (archive === undefined) return noArchives;
  return createArchives({
    ...archive,
    kind,
    wholes,
    clock,
    logger,
    ownerOf: (namespace) =>
      tenants.tenantOf(namespace) === undefined
        ? undefined
        : ownerOf(archiveOwnerOf(informers.tenants.cache, namespace)),
    onNews: wake,
    signal: runtime.abandon,
  });
}

/** Deletes what is too old of every kind, again and again, while this replica leads. */
export function expireWhileLeading({ archive, clock, logger, whileLeading }: Omit<Context, 'informers'>): void {
  if (archive === undefined) return;
  whileLeading(async (stop) => {
    for (;;) {
      await clock.sleep(archiveLimits.expireEveryMs, stop);
      if (stop.aborted) return;
      await archive.store.expire(clock.now()).catch((error: unknown) => {
        logger.warn({ err: error }, 'old records not deleted yet');
      });
    }
  });
}
