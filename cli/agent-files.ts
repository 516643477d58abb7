import type { ReadAgent } from '../lib/manifest/read-agents.ts';
import { type FilePort, shown } from './files.ts';
import type { Terminal } from './terminal.ts';

/** One agent of a file, or what keeps it from being one. */
export interface FileAgent extends ReadAgent {
  /** The path as it was given; `<stdin>` for standard input. */
  readonly file: string;
}

const mentionsAgent = (text: string): boolean =>
  /^\s*["']?kind["']?\s*:\s*["']?Agent\b/m.test(text) || /"kind"\s*:\s*"Agent"/.test(text);

/** Every agent of the files and directories named. A file of a directory that holds none is passed over, with a note. */
export async function readAgentFiles(
  { files, terminal }: { readonly files: FilePort; readonly terminal: Pick<Terminal, 'note'> },
  paths: readonly (string | undefined)[],
): Promise<FileAgent[]> {
  const { readAgents } = await import('../lib/manifest/read-agents.ts');
  const found: FileAgent[] = [];
  for (const path of paths.filter((one) => one !== undefined)) {
    const before = found.length;
    for (const file of await files.manifests(path)) {
      const text = await files.read(file);
      if (file !== path && !mentionsAgent(text)) terminal.note(`${file}: passed over, there is no Agent in it`);
      else found.push(...readAgents(text).map((document) => ({ ...document, file: shown(file) })));
    }
    if (found.length === before) found.push({ ...nothing, file: shown(path) });
  }
  return found;
}

const nothing: ReadAgent = {
  form: 'manifest',
  problems: [
    { line: 1, column: 1, path: '', at: [], rule: 'empty', message: 'there is no agent in it', severity: 'error' },
  ],
};
