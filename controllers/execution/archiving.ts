import { archiveBytes } from '../../lib/archive/archive-config.ts';
import type { ArchiveStore } from '../../lib/archive/archive-store.ts';
import { archiveOwnerOf, createArchive } from '../../lib/archive/create-archive.ts';
import { archiveLimits } from '../../lib/archive/limits.ts';
import type { ModuleContext } from '../runtime/module.ts';
import { type Archives, createArchives, noArchives } from './archives.ts';
import type { executionInformers } from './wakes.ts';

type Context = ModuleContext<typeof executionInformers>;

/** Archives finished executions, where an archive is configured. */
export function archiving(context: Context): Archives {
  const { config, informers, tenants, store, runtime, clock, logger, turns, wake } = context;
  const archive = createArchive(context, config);
  if (archive === undefined) return noArchives;
  context.whileLeading((stop) => expireAgain(context, archive, stop));
  return createArchives({
    archive,
    clock,
    logger,
    turns,
    bytesMax: archiveBytes(config),
    wholes: informers.executions,
    outputs: store,
    ownerOf: (namespace) =>
      tenants.tenantOf(namespace) === undefined ? undefined : archiveOwnerOf(informers.tenants.cache, namespace),
    onNews: wake,
    signal: runtime.abandon,
  });
}

/** Deletes what is too old, again and again. */
async function expireAgain({ clock, logger }: Context, archive: ArchiveStore, stop: AbortSignal): Promise<void> {
  for (;;) {
    await clock.sleep(archiveLimits.expireEveryMs, stop);
    if (stop.aborted) return;
    await archive.expire(clock.now()).catch((error: unknown) => {
      logger.warn({ err: error }, 'old records not deleted yet');
    });
  }
}
