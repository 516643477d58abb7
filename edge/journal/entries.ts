import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Owner, readPrivate } from '../state/private-files.ts';
import { daemonLimits } from '../limits.ts';

/** How far a command has come: started; ended, its result on disk; ended, its result with the server. */
export type CommandState = 'begun' | 'result' | 'stored';

/** The part of a command that is kept in memory. */
export interface JournalEntry {
  readonly state: CommandState;
  /** Milliseconds since the Unix epoch; until then the id is remembered. */
  readonly ends: number;
  /** Bytes of a result that waits. */
  readonly bytes: number;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is a UUID in lower case, which is also the name of a file. */
export const isCommandId = (text: string): boolean => uuid.test(text);

/**
 * Entries that a former process left behind, the oldest first. Drafts of files that it had not finished are removed.
 */
export async function readEntries(folder: string, owner: Owner): Promise<Map<string, JournalEntry>> {
  const names = await readdir(folder);
  await Promise.all(
    names.filter((name) => name.endsWith('.new')).map((name) => rm(join(folder, name), { force: true })),
  );
  const states = new Map<string, CommandState>();
  for (const name of names) {
    const [id = '', kind = '', ...more] = name.split('.');
    if (more.length === 0 && isCommandId(id) && isState(kind)) states.set(id, later(states.get(id), kind));
  }
  const found: { readonly id: string; readonly at: number; readonly entry: JournalEntry }[] = [];
  const isThere = new Set(names);
  for (const [id, state] of states) {
    const hasBegun = isThere.has(`${id}.begun`);
    found.push({ id, ...(await readEntry(folder, { id, state, hasBegun }, owner)) });
  }
  return new Map(found.toSorted((a, b) => a.at - b.at).map(({ id, entry }) => [id, entry]));
}

const order: readonly string[] = ['begun', 'result', 'stored'] satisfies readonly CommandState[];
const isState = (text: string): text is CommandState => order.includes(text);

/** A command has a file for each state that it has reached; the last one counts. */
const later = (one: CommandState | undefined, other: CommandState): CommandState =>
  one !== undefined && order.indexOf(one) > order.indexOf(other) ? one : other;

async function readEntry(
  folder: string,
  { id, state, hasBegun }: { readonly id: string; readonly state: CommandState; readonly hasBegun: boolean },
  owner: Owner,
): Promise<{ readonly at: number; readonly entry: JournalEntry }> {
  const { size, mtimeMs: at } = await lstat(join(folder, `${id}.${state}`));
  const begun = hasBegun ? await readPrivate(join(folder, `${id}.begun`), owner) : undefined;
  const ends = begun === undefined ? at + daemonLimits.refusedMs : Number(begun || Number.NaN);
  // An unreadable entry is remembered for ever rather than run again.
  const entry = { state, ends: Number.isFinite(ends) ? ends : Infinity, bytes: state === 'result' ? size : 0 };
  return { at, entry };
}
