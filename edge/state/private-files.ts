import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '../../lib/errors.ts';
import { daemonLimits } from '../limits.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY, O_DIRECTORY } = constants;

/** Rights of the group and of others. */
const othersRights = 0o077;

/** Whose files are taken; a port, because only main.ts asks the process. */
export interface Owner {
  /** The effective user id. */
  readonly uid: number;
}

/**
 * Makes the folder where it is missing, for its owner alone.
 * @throws AppError `forbidden` for a symbolic link, a folder of another user, or one that others may enter.
 */
export async function openPrivateFolder(path: string, { uid }: Owner): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const found = await lstat(path);
  if (!found.isDirectory()) throw unsafe(path, 'is no folder, or a symbolic link; name the folder itself');
  if (found.uid !== uid) throw unsafe(path, `belongs to user ${found.uid}; run the daemon as that user, or chown it`);
  if ((found.mode & othersRights) !== 0) throw unsafe(path, 'may be entered by others; run chmod 700 on it');
}

/**
 * The text of a file that only its owner may read. Undefined where there is none.
 * @throws AppError `forbidden` for a symbolic link, a second name, another owner or wider rights than 0600.
 */
export async function readPrivate(path: string, { uid }: Owner): Promise<string | undefined> {
  const file = await openPlain(path);
  if (file === undefined) return undefined;
  try {
    const {
      mode,
      size,
      uid: owner,
      nlink,
    } = await file.stat().then((found) => {
      if (!found.isFile()) throw unsafe(path, 'is no plain file');
      return found;
    });
    if (owner !== uid) throw unsafe(path, `belongs to user ${owner}; run the daemon as that user, or chown it`);
    if ((mode & othersRights) !== 0) throw unsafe(path, 'may be read by others; run chmod 600 on it');
    if (nlink > 1) throw unsafe(path, 'has a second name (a hard link); copy it to a file of its own');
    if (size > daemonLimits.fileBytes) throw unsafe(path, `has more than ${daemonLimits.fileBytes} bytes`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function openPlain(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, O_RDONLY | O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP') throw unsafe(path, 'is a symbolic link; put the file itself there');
    throw new AppError('forbidden', `${path} cannot be read: ${code ?? 'unknown error'}`, { cause: error });
  }
}

/**
 * Replaces a file as a whole, with mode 0600. After a crash at any point there is the former content or the new one,
 * never a part; when it resolves, the new one is on the disk.
 */
export async function writePrivate(path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  await writeNew(draft, content);
  await rename(draft, path);
  await syncFolder(dirname(path));
}

/**
 * Makes a file with mode 0600 that was not there; when it resolves, it is on the disk. A crash may leave it empty. Rejects with
 * the code `EEXIST` where the name is taken.
 */
export async function createPrivate(path: string, content: string): Promise<void> {
  await writeNew(path, content);
  await syncFolder(dirname(path));
}

async function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes names that were added, changed or removed in a folder last. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, O_RDONLY | O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const unsafe = (path: string, problem: string): AppError =>
  new AppError('forbidden', `${path} ${problem}`, { reason: 'UnsafeFile' });
