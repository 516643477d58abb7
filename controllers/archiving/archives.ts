import type { ArchivedRow, ArchiveEntry, ArchiveOwner } from '../../lib/archive/archive-store.ts';
import { archiveLimits } from '../../lib/archive/limits.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Informer } from '../../lib/informer/index.ts';
import { keyOf } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ArchiveFact } from './decide-archiving.ts';
import type { SharedArchive } from '../runtime/shared-archive.ts';

/** A kind of execution of which records are kept. */
export interface RecordKind<T extends ArchivedRow> {
  /** Bytes of heap that the record takes while it is made, beside the object. */
  bytesOf(execution: T): number;
  /** The record, packed. */
  write(execution: T): Promise<Uint8Array>;
  rowOf(execution: T): T;
}

interface ArchivesDeps<T extends ArchivedRow> extends SharedArchive {
  readonly kind: RecordKind<T>;
  readonly wholes: Pick<Informer<T>, 'use'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Owner of the records of a namespace; undefined where it belongs to no tenant, so that no caller could read them.
   */
  readonly ownerOf: (namespace: string) => ArchiveOwner | undefined;
  /** Called with the key of an execution of which the archive has news. */
  readonly onNews: (key: string) => void;
  /** Ends everything that is under way. */
  readonly signal: AbortSignal;
}

/** Writes the records of finished executions to the archive (requirements AMB-174). */
export interface Archives<T extends ArchivedRow> {
  /** How far the record of an execution is; undefined where there is no archive for it. */
  stateOf(execution: T): ArchiveFact | undefined;
  /** Writes the record in the background, unless that is under way. */
  begin(execution: T): void;
  forget(uid: string): void;
  /** Called for an execution that was deleted without a record, with the reason. */
  unarchived(execution: T, why: string): void;
}

export const noArchives: Archives<ArchivedRow> = {
  stateOf: () => undefined,
  begin: () => undefined,
  forget: () => undefined,
  unarchived: () => undefined,
};

/**
 * Tenants share a few places, in which the records are made and written. A store that is away is waited for in them: all
 * others wait behind, and nothing is read for a record that cannot be written.
 */
export function createArchives<T extends ArchivedRow>(deps: ArchivesDeps<T>): Archives<T> {
  return new BackgroundArchives(deps);
}

interface Note {
  state: 'idle' | 'busy' | 'done';
  /** When it was written. */
  writtenAt: number;
  /** When it may be tried again, by the steady clock. */
  restsUntil: number;
  refusals: number;
  problem?: string;
}

class BackgroundArchives<T extends ArchivedRow> implements Archives<T> {
  readonly #deps: ArchivesDeps<T>;
  readonly #notes = new Map<string, Note>();

  constructor(deps: ArchivesDeps<T>) {
    this.#deps = deps;
  }

  stateOf({ metadata: { uid = '', namespace = '' } }: T): ArchiveFact | undefined {
    if (this.#deps.ownerOf(namespace) === undefined) return undefined;
    const note = this.#notes.get(uid);
    return note?.state === 'done' ? { kind: 'archived', at: note.writtenAt } : this.#pending(note);
  }

  #pending(note: Note | undefined): ArchiveFact {
    const { store, clock } = this.#deps;
    const problem = note?.problem ?? store.problem();
    const leftMs = note?.state === 'idle' ? note.restsUntil - clock.steadyMs() : 0;
    return {
      kind: 'pending',
      ...(problem !== undefined && { problem }),
      ...(leftMs > 0 && { retryAt: clock.now() + leftMs }),
    };
  }

  begin(execution: T): void {
    const { uid = '', namespace = '' } = execution.metadata;
    const owner = this.#deps.ownerOf(namespace);
    const note: Note = this.#notes.get(uid) ?? { state: 'idle', writtenAt: 0, restsUntil: 0, refusals: 0 };
    if (owner === undefined || note.state !== 'idle' || note.restsUntil > this.#deps.clock.steadyMs()) return;
    note.state = 'busy';
    this.#notes.set(uid, note);
    void this.#run(execution, owner, note);
  }

  forget(uid: string): void {
    this.#notes.delete(uid);
  }

  unarchived(execution: T, why: string): void {
    this.#deps.onUnarchived(execution, why);
  }

  async #run(execution: T, owner: ArchiveOwner, note: Note): Promise<void> {
    const { clock, logger, places, signal, onNews } = this.#deps;
    const { namespace: tenant = '', name } = execution.metadata;
    try {
      await places.run({ tenant, signal }, () => this.#whenThere(execution, owner));
      Object.assign(note, { state: 'done', writtenAt: clock.now(), problem: undefined });
    } catch (error) {
      const { refusedAfterMs } = archiveLimits;
      const pauseMs = refusedAfterMs[Math.min(note.refusals, refusedAfterMs.length - 1)] ?? 0;
      const refused = { state: 'idle', restsUntil: clock.steadyMs() + pauseMs, refusals: note.refusals + 1 };
      Object.assign(note, refused, { problem: messageOf(error) });
      if (!signal.aborted)
        logger.warn({ err: error, namespace: tenant, execution: name }, 'execution not archived yet');
    }
    if (!signal.aborted) onNews(keyOf(execution));
  }

  /** Waits for a store that is away, then writes. */
  async #whenThere(execution: T, owner: ArchiveOwner): Promise<void> {
    const { store, clock, signal } = this.#deps;
    const { awayAfterMs } = archiveLimits;
    for (let tries = 0; store.problem() !== undefined; tries += 1) {
      signal.throwIfAborted();
      await clock.sleep(awayAfterMs[Math.min(tries, awayAfterMs.length - 1)] ?? 0, signal);
    }
    await this.#write(execution, owner);
  }

  /** A large execution is in use while it is read, no longer: reconciles wait for it, and a record may wait for room and the store. */
  async #write(execution: T, owner: ArchiveOwner): Promise<void> {
    const { bytes, kind, room, store, signal, wholes } = this.#deps;
    const { namespace: tenant = '' } = execution.metadata;
    const cost = await wholes.use(execution, async (whole) => whole && Math.max(1, kind.bytesOf(whole)));
    // One that is gone takes its outputs along: there is nothing left to keep.
    if (cost === undefined) return;
    using _room = await bytes.enter({ tenant, cost, signal });
    const entry = await wholes.use(execution, async (whole) => whole && (await this.#entryOf(whole, owner)));
    if (entry === undefined) return;
    await store.write(entry);
    await room.took(entry);
  }

  async #entryOf(execution: T, owner: ArchiveOwner): Promise<ArchiveEntry> {
    const { kind } = this.#deps;
    const { uid = '', name } = execution.metadata;
    const body = await kind.write(execution);
    const finishedAt = Date.parse(execution.status?.finished_at ?? '');
    return { owner, uid, name, finishedAt, row: kind.rowOf(execution), body };
  }
}
