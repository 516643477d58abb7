import type { EventBus } from '../bus/index.ts';
import type { Clock } from '../clock.ts';
import { type S3Config, s3Options } from '../output-store/s3-config.ts';
import { archiveAgeMs, type ArchiveConfig } from './archive-config.ts';
import type { ArchiveOwner, ArchiveStore } from './archive-store.ts';
import { createNatsArchive } from './nats-archive.ts';
import { createS3Archive } from './s3-archive.ts';

export interface ArchiveDeps {
  readonly clock: Clock;
  readonly bus: Pick<EventBus, 'objects' | 'objectBytes' | 'problem'>;
  /** Asked before every write to a bucket; what it throws ends the call with nothing written. */
  readonly guard?: () => void;
}

export type ArchiveStoreConfig = ArchiveConfig & S3Config & { readonly WINDLASS_NATS_URL?: string };

/** The archive that is configured: the S3 bucket, else the object store of NATS; undefined without either. */
export function createArchive(deps: ArchiveDeps, config: ArchiveStoreConfig): ArchiveStore | undefined {
  const { clock, bus, guard } = deps;
  if (!config.WINDLASS_ARCHIVE) return undefined;
  if (config.WINDLASS_S3_BUCKET !== undefined) {
    return createS3Archive({ ...s3Options(config, clock), ...(guard && { guard }) }, archiveAgeMs(config));
  }
  return config.WINDLASS_NATS_URL === undefined ? undefined : createNatsArchive(bus, archiveAgeMs(config));
}

interface NamespaceReader {
  get(name: string): { readonly metadata: { readonly uid?: string } } | undefined;
}

/** Whose the records of a namespace are. The namespace of the release need not carry a tenant's label. */
export const archiveOwnerOf = (namespaces: NamespaceReader, namespace: string): ArchiveOwner =>
  namespaces.get(namespace)?.metadata.uid ?? namespace;

/** Whose the records of executions of agents are: their names are others than those of workflows, and so is their list. */
export const agentOwnerOf = (owner: ArchiveOwner): ArchiveOwner => `${owner}_agents`;
