import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { daemonLimits } from '../limits.ts';
import {
  createPrivate,
  openPrivateFolder,
  type Owner,
  readPrivate,
  syncFolder,
  writePrivate,
} from '../state/private-files.ts';
import {
  begunText,
  type CommandState,
  type JournalEntry,
  readEntries,
  rememberedUntil,
  skewMs,
  type TokenTime,
} from './entries.ts';

/**
 * Memory of commands on disk. A command is a few files named after its id:
 *
 *   ID.begun     it is about to start; holds when its token ends, how long that lives, and the age of the journal
 *   ID.result    how it ended; sent until it is acknowledged
 *   ID.stored    the server has the result; only the id is remembered
 *
 * `.begun` is on the disk before the command starts. One without a result was interrupted: its outcome is not known, and
 * it never runs again (requirements AMB-200). Each file appears as a whole or not at all.
 *
 * Two more files belong to all commands:
 *
 *   age          the age of the journal: for how many milliseconds processes have had it open, by a clock that never steps
 *   horizon      until when tokens have ended whose ids were forgotten; none of these is taken again
 *
 * The time of day of a host may jump, so that it alone forgets nothing: an id is forgotten once the journal has been open for
 * the whole life of its token since it began. The token is over then by the clock of the server as well, and so is each that
 * ends no later. The horizon is never in the future of the server, so it refuses no good token.
 */
export interface Journal {
  /** How far the command has come; undefined for an id that is new, or forgotten. */
  stateOf(commandId: string): CommandState | undefined;
  /**
   * Takes an id for a command that is about to start. Resolves once that is on the disk.
   * @throws AppError `already_exists` for an id that is known, `gone` for a token so old that its id may be forgotten,
   * `limit_exceeded` where the journal is full. Any error leaves the id as it was.
   */
  begin(commandId: string, token: TokenTime): Promise<void>;
  /**
   * Keeps the result of a command that began; with it the command has ended. Answers whether it is on the disk: where the disk
   * does not take it, it is held in memory, and `forget` writes it.
   */
  end(commandId: string, result: Uint8Array): Promise<boolean>;
  /**
   * Keeps the result of a command that was refused and never began.
   * @throws AppError `limit_exceeded` where refusals fill half of the journal: they leave room for what runs.
   */
  refuse(commandId: string, result: Uint8Array): Promise<void>;
  /** The result, as long as it waits for its acknowledgement. */
  result(commandId: string): Promise<Uint8Array | undefined>;
  /**
   * The server has these results. Ids that wait for no acknowledgement are left alone. `forget` writes
   * those that the disk did not take.
   */
  stored(commandIds: readonly string[]): Promise<void>;
  /** Ids whose results wait for an acknowledgement, the oldest first. */
  waiting(): readonly string[];
  /** Ids that were begun and have no result. Right after the start of a process these were interrupted. */
  begun(): readonly string[];
  /** Writes what the disk did not take before, then forgets ids whose tokens are over. Rejects as the disk does. */
  forget(): Promise<void>;
}

interface JournalDeps {
  readonly clock: Clock;
  readonly owner: Owner;
}

/** Until when ids may have been forgotten: a token that ends by then is never taken, whatever the clock says. */
const horizonFile = 'horizon';
const ageFile = 'age';

/** Reads what a former process left behind. The folder is made where it is missing. */
export async function openJournal(folder: string, { clock, owner }: JournalDeps): Promise<Journal> {
  await openPrivateFolder(folder, owner);
  const numberIn = async (file: string): Promise<number> => Number((await readPrivate(join(folder, file), owner)) ?? 0);
  const horizon = await numberIn(horizonFile);
  // A shorter time than the true one forgets later.
  const { entries, ageMs } = await readEntries(folder, owner, (await numberIn(ageFile)) || 0);
  return new FolderJournal({ folder, clock, entries, horizon, ageMs });
}

interface JournalParts {
  readonly folder: string;
  readonly clock: Clock;
  readonly entries: Map<string, JournalEntry>;
  readonly horizon: number;
  readonly ageMs: number;
}

class FolderJournal implements Journal {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #entries: Map<string, JournalEntry>;
  #horizon: number;
  /** Time of the steady clock at which the journal was new. */
  readonly #since: number;
  /** Results that the disk has not taken. */
  readonly #unwritten = new Map<string, Uint8Array>();
  /** Acknowledgements that it has not taken. */
  readonly #unmarked = new Set<string>();

  constructor({ folder, clock, entries, horizon, ageMs }: JournalParts) {
    this.#folder = folder;
    this.#clock = clock;
    this.#entries = entries;
    this.#horizon = horizon;
    this.#since = clock.steadyMs() - ageMs;
  }

  /** How long processes have had the journal open. */
  #ageMs(): number {
    return Math.floor(this.#clock.steadyMs() - this.#since);
  }

  stateOf(id: string): CommandState | undefined {
    return this.#entries.get(id)?.state;
  }

  async begin(id: string, token: TokenTime): Promise<void> {
    const problem = beginProblem(this.#entries, { id, tokenEnds: token.ends, horizon: this.#horizon });
    if (problem !== undefined) throw problem;
    const ageMs = this.#ageMs();
    // Taken at once, so that a second command with the id is refused while the file is written.
    this.#entries.set(id, { state: 'begun', ends: token.ends, until: rememberedUntil(token, ageMs), bytes: 0 });
    try {
      await createPrivate(this.#fileOf(id, 'begun'), begunText(token, ageMs));
    } catch (error) {
      // Another process runs it: its id stays taken.
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw taken(id, error);
      this.#entries.delete(id);
      await rm(this.#fileOf(id, 'begun'), { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async end(id: string, result: Uint8Array): Promise<boolean> {
    const { ends = Infinity, until = Infinity } = this.#entries.get(id) ?? {};
    const isWritten = await writePrivate(this.#fileOf(id, 'result'), result).then(
      () => true,
      () => false,
    );
    if (!isWritten) this.#unwritten.set(id, result);
    this.#entries.set(id, { state: 'result', ends, until, bytes: result.byteLength });
    return isWritten;
  }

  async refuse(id: string, result: Uint8Array): Promise<void> {
    const problem = fullProblem(this.#entries, 0.5);
    if (problem !== undefined) throw problem;
    await writePrivate(this.#fileOf(id, 'result'), result);
    const until = this.#ageMs() + daemonLimits.refusedMs;
    this.#entries.set(id, { state: 'result', ends: -Infinity, until, bytes: result.byteLength });
  }

  async result(id: string): Promise<Uint8Array | undefined> {
    if (this.stateOf(id) !== 'result') return undefined;
    return this.#unwritten.get(id) ?? readFile(this.#fileOf(id, 'result'));
  }

  async stored(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const entry = this.#entries.get(id);
      if (entry?.state !== 'result') continue;
      this.#unwritten.delete(id);
      this.#unmarked.add(id);
      this.#entries.set(id, { ...entry, state: 'stored', bytes: 0 });
      await this.#mark(id).catch(() => undefined);
    }
  }

  async #mark(id: string): Promise<void> {
    await writePrivate(this.#fileOf(id, 'stored'), '');
    await rm(this.#fileOf(id, 'result'), { force: true });
    this.#unmarked.delete(id);
  }

  /** Ids that the disk did not take before. */
  async #catchUp(): Promise<void> {
    for (const [id, result] of this.#unwritten) {
      await writePrivate(this.#fileOf(id, 'result'), result);
      this.#unwritten.delete(id);
    }
    for (const id of this.#unmarked) await this.#mark(id);
  }

  waiting(): readonly string[] {
    return this.#idsIn('result');
  }

  begun(): readonly string[] {
    return this.#idsIn('begun');
  }

  async forget(): Promise<void> {
    await this.#catchUp();
    const ageMs = this.#ageMs();
    const now = this.#clock.now();
    const isOver = ({ state, ends, until }: JournalEntry): boolean =>
      state === 'stored' && until < ageMs && ends + skewMs < now;
    const over = [...this.#entries].filter(([, entry]) => isOver(entry));
    // Each minute while something is to be forgotten: what another process does not know of, it waits for again.
    if (this.#entries.size > 0) await writePrivate(join(this.#folder, ageFile), String(ageMs));
    if (over.length === 0) return;
    this.#horizon = Math.max(this.#horizon, ...over.map(([, { ends }]) => ends));
    // First, so that no id is forgotten whose token might still be taken.
    await writePrivate(join(this.#folder, horizonFile), String(this.#horizon));
    for (const [id] of over) {
      for (const state of ['begun', 'result', 'stored'] as const) await rm(this.#fileOf(id, state), { force: true });
      this.#entries.delete(id);
    }
    await syncFolder(this.#folder);
  }

  #fileOf(id: string, state: CommandState): string {
    return join(this.#folder, `${id}.${state}`);
  }

  #idsIn(state: CommandState): string[] {
    return [...this.#entries].flatMap(([id, entry]) => (entry.state === state ? [id] : []));
  }
}

function beginProblem(
  entries: ReadonlyMap<string, JournalEntry>,
  { id, tokenEnds, horizon }: { readonly id: string; readonly tokenEnds: number; readonly horizon: number },
): AppError | undefined {
  if (entries.has(id)) return taken(id);
  if (tokenEnds <= horizon)
    return new AppError('gone', 'the token of the command is older than what this host remembers; send a new command', {
      reason: 'CommandExpired',
    });
  return fullProblem(entries, 1);
}

const taken = (id: string, cause?: unknown): AppError =>
  new AppError('already_exists', `the command ${id} was taken before`, { cause });

/** Where more than a part of the journal is used: by results that wait, or else by ids. */
function fullProblem(entries: ReadonlyMap<string, JournalEntry>, part: number): AppError | undefined {
  const waiting = [...entries.values()].filter(({ state }) => state === 'result');
  const bytes = waiting.reduce((sum, entry) => sum + entry.bytes, 0);
  const most = part * daemonLimits.journalEntries;
  if (waiting.length >= most || bytes >= part * daemonLimits.journalBytes)
    return full(
      'this host keeps too many results that no server has acknowledged; check the way to the relay with windlass-edge doctor',
    );
  if (entries.size < most) return undefined;
  return full(
    `this host remembers ${daemonLimits.journalEntries} commands, each until its token is over; send fewer, or with shorter deadlines`,
  );
}

const full = (message: string): AppError => new AppError('limit_exceeded', message, { reason: 'JournalFull' });
