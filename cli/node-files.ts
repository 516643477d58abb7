import { link, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { newId } from '../lib/ids.ts';
import { CliError } from './exit-codes.ts';
import type { FilePort, FileWriter, InputPort } from './files.ts';

/** Files of this machine; `-` is `stdin`. A file that cannot be read is a usage error that says why. */
export function createFiles(stdin: Readable): FilePort & FileWriter & InputPort {
  return {
    read: (path) => (path === '-' ? text(stdin) : orExplain(path, readFile(path, 'utf8'))),
    standardInput(stop) {
      stop.addEventListener('abort', () => void stdin.destroy(), { once: true });
      return stdin;
    },
    writePrivate: (path, text, { replace }) => writePrivate(path, text, replace),
    async manifests(path) {
      if (path === '-') return [path];
      const found = await orExplain(path, stat(path));
      if (!found.isDirectory()) return [path];
      const names = await orExplain(path, readdir(path, { recursive: true }));
      return names
        .filter((name) => /\.(ya?ml|json)$/.test(name))
        .toSorted()
        .map((name) => join(path, name));
    },
  };
}

/** Whole or not at all: the text is there under the name once it is complete. */
async function writePrivate(path: string, text: string, replace: boolean): Promise<void> {
  const draft = `${path}.${newId()}`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    await (replace ? rename(draft, path) : link(draft, path));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const isThere = code === 'EEXIST';
    const hint = isThere ? 'Give --force to replace it, or another name.' : 'Check the path.';
    throw new CliError('usage', `cannot write ${path}: ${isThere ? 'it exists' : (reasons[code] ?? code)}`, hint);
  } finally {
    await rm(draft, { force: true });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'it may not be read',
  EISDIR: 'it is a directory',
};

async function orExplain<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new CliError('usage', `cannot read ${path}: ${reasons[code] ?? code}`, 'Check the path.');
  }
}
