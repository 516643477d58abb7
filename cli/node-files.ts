import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliError } from './exit-codes.ts';
import type { FilePort } from './files.ts';

/** Files of this machine; `-` is `stdin`. A file that cannot be read is a usage error that says why. */
export function createFiles(stdin: Readable): FilePort {
  return {
    read: (path) => (path === '-' ? text(stdin) : orExplain(path, readFile(path, 'utf8'))),
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
