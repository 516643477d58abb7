import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../lib/errors.ts';

const lockFile = 'daemon.lock';
/** SQLITE_BUSY. */
const busy = 5;

/** Text with the id of the process that holds the lock, or held it last. */
const holderFile = 'daemon.pid';

/**
 * Takes the state folder for this process. The system gives it back when the process ends in whatever way, and not before: a
 * daemon that is stopped or swapped out keeps it. SQLite takes the lock, because Node has no call for it; the file stays empty.
 * @throws AppError `already_exists` where another process has the folder.
 */
export function lockFolder(folder: string, pid: number): Disposable {
  const database = new DatabaseSync(join(folder, lockFile));
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { readonly errcode?: number }).errcode !== busy) throw error;
    throw inUse(folder, error);
  }
  noteHolder(folder, pid);
  return { [Symbol.dispose]: () => database.close() };
}

function inUse(folder: string, cause: unknown): AppError {
  const who = `another windlass-edge (pid ${holderOf(folder)}) uses ${folder}`;
  const problem = `${who}; stop it first, such as by systemctl stop windlass-edge, and try again`;
  return new AppError('already_exists', problem, { reason: 'AlreadyRunning', cause });
}

/** For people: a folder whose file cannot be written is locked all the same. */
function noteHolder(folder: string, pid: number): void {
  const path = join(folder, holderFile);
  try {
    rmSync(path, { force: true });
    writeFileSync(path, `${pid}\n`, { mode: 0o600, flag: 'wx' });
  } catch {
    // Its place is taken by something else.
  }
}

const unknown = 'unknown';

function holderOf(folder: string): string {
  try {
    const text = readFileSync(join(folder, holderFile), 'utf8').trim();
    return /^[1-9]\d{0,9}$/.test(text) ? text : unknown;
  } catch {
    return unknown;
  }
}
