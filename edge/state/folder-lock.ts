import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../lib/errors.ts';

const lockFile = 'daemon.lock';
/** SQLITE_BUSY. */
const busy = 5;

/**
 * Takes the state folder for this process. The system gives it back when the process ends in whatever way, and not before: a
 * daemon that is stopped or swapped out keeps it. SQLite takes the lock, because Node has no call for it; the file stays empty.
 * @throws AppError `already_exists` where another process has the folder.
 */
export function lockFolder(folder: string): Disposable {
  const database = new DatabaseSync(join(folder, lockFile));
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { readonly errcode?: number }).errcode !== busy) throw error;
    throw new AppError('already_exists', `another daemon runs with ${folder}; stop it first`, {
      reason: 'AlreadyRunning',
      cause: error,
    });
  }
  return { [Symbol.dispose]: () => database.close() };
}
