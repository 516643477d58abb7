import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { ArchiveOwner, ArchiveStore } from '../../lib/archive/archive-store.ts';
import { archiveLimits } from '../../lib/archive/limits.ts';
import { valuesBytesOf, writeRecord } from '../../lib/archive/record.ts';
import { createArchiveRoom } from '../../lib/archive/room.ts';
import { rowOf } from '../../lib/archive/row.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import type { Informer } from '../../lib/informer/index.ts';
import { keyOf } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import type { OutputStore } from '../../lib/output-store/output-store.ts';
import type { TurnGate } from '../runtime/turn-gate.ts';
import type { ArchiveFact } from './engine/facts.ts';

export interface ArchivesDeps {
  readonly archive: ArchiveStore;
  /** Size limit of all records together. */
  readonly bytesMax: number;
  readonly wholes: Pick<Informer<WorkflowExecution>, 'use'>;
  readonly outputs: Pick<OutputStore, 'get'>;
  readonly turns: TurnGate;
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
export interface Archives {
  /** How far the record of an execution is; undefined where there is no archive for it. */
  stateOf(execution: WorkflowExecution): ArchiveFact | undefined;
  /** Writes the record in the background, unless that is under way. */
  begin(execution: WorkflowExecution): void;
  forget(uid: string): void;
}

export const noArchives: Archives = { stateOf: () => undefined, begin: () => undefined, forget: () => undefined };

/**
 * Tenants share a few places, in which the records are made and written. A store that is away is waited for in them: all
 * others wait behind, and nothing is read for a record that cannot be written.
 */
export function createArchives(deps: ArchivesDeps): Archives {
  return new BackgroundArchives(deps);
}

interface Note {
  state: 'idle' | 'busy' | 'done';
  /** When it was written, or when it may be tried again. */
  at: number;
  refusals: number;
  problem?: string;
}

class BackgroundArchives implements Archives {
  readonly #deps: ArchivesDeps;
  readonly #notes = new Map<string, Note>();
  readonly #places;
  readonly #bytes;
  readonly #room;

  constructor(deps: ArchivesDeps) {
    this.#deps = deps;
    this.#places = createFairPool({ size: archiveLimits.writesAtOnce, clock: deps.clock });
    this.#bytes = createFairPool({ size: archiveLimits.writingBytes, clock: deps.clock });
    this.#room = createArchiveRoom(deps.archive, deps.bytesMax);
  }

  stateOf({ metadata: { uid = '', namespace = '' } }: WorkflowExecution): ArchiveFact | undefined {
    if (this.#deps.ownerOf(namespace) === undefined) return undefined;
    const note = this.#notes.get(uid);
    return note?.state === 'done' ? { kind: 'archived', at: note.at } : this.#pending(note);
  }

  #pending(note: Note | undefined): ArchiveFact {
    const { archive, clock } = this.#deps;
    const problem = note?.problem ?? archive.problem();
    const isResting = note?.state === 'idle' && note.at > clock.now();
    return { kind: 'pending', ...(problem !== undefined && { problem }), ...(isResting && { retryAt: note.at }) };
  }

  begin(execution: WorkflowExecution): void {
    const { uid = '', namespace = '' } = execution.metadata;
    const owner = this.#deps.ownerOf(namespace);
    const note: Note = this.#notes.get(uid) ?? { state: 'idle', at: 0, refusals: 0 };
    if (owner === undefined || note.state !== 'idle' || note.at > this.#deps.clock.now()) return;
    note.state = 'busy';
    this.#notes.set(uid, note);
    void this.#run(execution, owner, note);
  }

  forget(uid: string): void {
    this.#notes.delete(uid);
  }

  async #run(execution: WorkflowExecution, owner: ArchiveOwner, note: Note): Promise<void> {
    const { clock, logger, signal, onNews } = this.#deps;
    const { namespace: tenant = '', name } = execution.metadata;
    try {
      await this.#places.run({ tenant, signal }, () => this.#whenThere(execution, owner));
      Object.assign(note, { state: 'done', at: clock.now(), problem: undefined });
    } catch (error) {
      const { refusedAfterMs } = archiveLimits;
      const pauseMs = refusedAfterMs[Math.min(note.refusals, refusedAfterMs.length - 1)] ?? 0;
      const refused = { state: 'idle', at: clock.now() + pauseMs, refusals: note.refusals + 1 };
      Object.assign(note, refused, { problem: messageOf(error) });
      if (!signal.aborted)
        logger.warn({ err: error, namespace: tenant, execution: name }, 'execution not archived yet');
    }
    if (!signal.aborted) onNews(keyOf(execution));
  }

  /** Waits for a store that is away, then writes. */
  async #whenThere(execution: WorkflowExecution, owner: ArchiveOwner): Promise<void> {
    const { archive, clock, signal } = this.#deps;
    const { awayAfterMs } = archiveLimits;
    for (let tries = 0; archive.problem() !== undefined; tries += 1) {
      signal.throwIfAborted();
      await clock.sleep(awayAfterMs[Math.min(tries, awayAfterMs.length - 1)] ?? 0, signal);
    }
    await this.#deps.wholes.use(execution, async (whole) => {
      // One that is gone takes its outputs along: there is nothing left to keep.
      if (whole !== undefined) await this.#write(whole, owner);
    });
  }

  async #write(execution: WorkflowExecution, owner: ArchiveOwner): Promise<void> {
    const { archive, outputs, turns, signal } = this.#deps;
    const { uid = '', name, namespace = '' } = execution.metadata;
    using _room = await this.#bytes.enter({ tenant: namespace, cost: Math.max(1, valuesBytesOf(execution)), signal });
    const body = await writeRecord(
      execution,
      ({ ref, bytes }) => outputs.get(namespace, { executionUid: uid, ref, bytes, encoding: 'text' }),
      () => turns.enter(namespace),
    );
    const finishedAt = Date.parse(execution.status?.finished_at ?? '');
    const entry = { owner, uid, name, finishedAt, row: rowOf(execution), body };
    await archive.write(entry);
    await this.#room.took(entry);
  }
}
