import { group } from '../crds/labels.ts';
import type { ReadObject } from '../lib/manifest/read-objects.ts';
import { type FilePort, shown } from './files.ts';
import type { Terminal } from './terminal.ts';

/** One object of a file, or what keeps it from being one. */
export interface FileObject extends ReadObject {
  /** The path as it was given; `<stdin>` for standard input. */
  readonly file: string;
}

/**
 * Every object of our kinds in the files and directories named. Objects of others are passed over with a note, and so are
 * files of a directory that name nothing of our API group. A path where nothing is left has that as its problem.
 */
export async function readObjectFiles(
  { files, terminal }: { readonly files: FilePort; readonly terminal: Pick<Terminal, 'note'> },
  paths: readonly (string | undefined)[],
): Promise<FileObject[]> {
  const { readObjects } = await import('../lib/manifest/read-objects.ts');
  const found: FileObject[] = [];
  for (const path of paths.filter((one) => one !== undefined)) {
    const before = found.length;
    for (const file of await files.manifests(path)) {
      const text = await files.read(file);
      const objects = file !== path && !text.includes(`${group}/`) ? [] : readObjects(text);
      if (objects.length === 0) terminal.note(`${shown(file)}: passed over, there is nothing of ${group} in it`);
      for (const object of objects.filter(({ isForeign }) => isForeign))
        terminal.note(`${shown(file)}: ${nameOf(object)} passed over, it is not of ${group}`);
      const own = objects.filter(({ isForeign }) => isForeign === undefined);
      found.push(...own.map((object) => ({ ...object, file: shown(file) })));
    }
    if (found.length === before) found.push({ ...nothing, file: shown(path) });
  }
  return found;
}

/** `EdgeGroup web`. */
export const nameOf = ({ kind = 'an object', name = 'without a name' }: ReadObject): string => `${kind} ${name}`;

const message = `there is nothing of ${group} in it`;
const nothing: ReadObject = {
  form: 'resource',
  problems: [{ line: 1, column: 1, path: '', at: [], rule: 'empty', message, severity: 'error' }],
};
