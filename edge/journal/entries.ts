import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Owner, readPrivate } from '../state/private-files.ts';
import { daemonLimits } from '../limits.ts';

/** How far a command has come: started; ended, its result on disk; ended, its result with the server. */
export type CommandState = 'begun' | 'result' | 'stored';

/** The part of a command that is kept in memory. */
export interface JournalEntry {
  readonly state: CommandState;
  /**
   * When its token ends, in milliseconds since the Unix epoch by the clock of the server; `-Infinity` for a command that was refused,
   * and never began.
   */
  readonly ends: number;
  /** The age of the journal, in milliseconds, until which the id is remembered. */
  readonly until: number;
  /** Bytes of a result that waits. */
  readonly bytes: number;
}

/** The token of a command, by the clock of the server that issued it. */
export interface TokenTime {
  /** Milliseconds since the Unix epoch. */
  readonly ends: number;
  /** From its issue to its end. */
  readonly lifeMs: number;
}

/** How much longer than its token an id is remembered. */
export const skewMs = 300_000;

/**
 * Content of `ID.begun`. The life of a token that was issued before the command began is over when the journal was open for as long
 * since: that needs no clock to be right. Former versions wrote the end of the token alone, and read all as that one number. So life
 * and age are its fraction, which is too small to change it. Such a version forgets these commands as its own.
 */
export const begunText = ({ ends, lifeMs }: TokenTime, ageMs: number): string =>
  `${Math.ceil(ends)}.000000${digits(lifeMs, 12)}${digits(ageMs, 15)}`;

const digits = (ms: number, width: number): string => String(Math.ceil(ms)).padStart(width, '0');
const begunForm = /^(\d+)\.0{6}(\d{12})(\d{15})$/;

export const rememberedUntil = ({ lifeMs }: Pick<TokenTime, 'lifeMs'>, ageMs: number): number =>
  ageMs + lifeMs + skewMs;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is a UUID in lower case, which is also the name of a file. */
export const isCommandId = (text: string): boolean => uuid.test(text);

/** Left behind by a former process. */
interface FoundEntries {
  /** The oldest first. */
  readonly entries: Map<string, JournalEntry>;
  /** The age of the journal, at least: for how long it was open. */
  readonly ageMs: number;
}

/**
 * Reads the entries of a folder, and removes drafts of files that a former process had not finished. `ageMs`: the age of the
 * journal as far as its own file says.
 */
export async function readEntries(folder: string, owner: Owner, ageMs: number): Promise<FoundEntries> {
  const names = await readdir(folder);
  await Promise.all(
    names.filter((name) => name.endsWith('.new')).map((name) => rm(join(folder, name), { force: true })),
  );
  const states = new Map<string, CommandState>();
  for (const name of names) {
    const [id = '', kind = '', ...more] = name.split('.');
    if (more.length === 0 && isCommandId(id) && isState(kind)) states.set(id, later(states.get(id), kind));
  }
  const found: FoundFile[] = [];
  const isThere = new Set(names);
  for (const [id, state] of states) {
    const hasBegun = isThere.has(`${id}.begun`);
    found.push(await readEntry(folder, { id, state, hasBegun }, owner));
  }
  const age = found.reduce((most, { begun }) => Math.max(most, begun?.ageMs ?? 0), ageMs);
  const oldest = found.toSorted((a, b) => a.at - b.at);
  return { entries: new Map(oldest.map((file) => [file.id, entryOf(file, age)])), ageMs: age };
}

const order: readonly string[] = ['begun', 'result', 'stored'] satisfies readonly CommandState[];
const isState = (text: string): text is CommandState => order.includes(text);

/** A command has a file for each state that it has reached; the last one counts. */
const later = (one: CommandState | undefined, other: CommandState): CommandState =>
  one !== undefined && order.indexOf(one) > order.indexOf(other) ? one : other;

interface FoundFile {
  readonly id: string;
  readonly state: CommandState;
  /** When the file of its state was written, by the clock of this host. */
  readonly at: number;
  readonly size: number;
  /** Undefined for a command that was refused. */
  readonly begun: BegunCommand | undefined;
}

interface BegunCommand {
  /** Undefined where it cannot be read. */
  readonly token: TokenTime | undefined;
  /** The age of the journal when it began; undefined in the files of former versions. */
  readonly ageMs: number | undefined;
}

async function readEntry(
  folder: string,
  { id, state, hasBegun }: { readonly id: string; readonly state: CommandState; readonly hasBegun: boolean },
  owner: Owner,
): Promise<FoundFile> {
  const { size, mtimeMs: at } = await lstat(join(folder, `${id}.${state}`));
  const text = hasBegun ? await readPrivate(join(folder, `${id}.begun`), owner) : undefined;
  return { id, state, at, size, begun: text === undefined ? undefined : readBegun(text, at) };
}

/** `at`: when a file of the command was written, after it began. */
function readBegun(text: string, at: number): BegunCommand {
  const [, tokenEnds, lifeMs, ageMs] = begunForm.exec(text) ?? [];
  if (ageMs !== undefined) return { token: { ends: Number(tokenEnds), lifeMs: Number(lifeMs) }, ageMs: Number(ageMs) };
  const ends = Number(text || Number.NaN);
  if (!Number.isFinite(ends)) return { token: undefined, ageMs: undefined };
  // A former version wrote it. It has the rest of its life, by the clock of then, from the start of this process on.
  return { token: { ends, lifeMs: Math.min(Math.max(0, ends - at), daemonLimits.tokenMs) }, ageMs: undefined };
}

function entryOf({ state, size, begun }: FoundFile, ageMs: number): JournalEntry {
  const bytes = state === 'result' ? size : 0;
  // Whatever time has passed since a refusal, it is not known which.
  if (begun === undefined) return { state, ends: -Infinity, until: ageMs + daemonLimits.refusedMs, bytes };
  // An unreadable entry is remembered for ever rather than run again.
  if (begun.token === undefined) return { state, ends: Infinity, until: Infinity, bytes };
  return { state, ends: begun.token.ends, until: rememberedUntil(begun.token, begun.ageMs ?? ageMs), bytes };
}
