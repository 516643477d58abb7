import type { Workflow } from '../crds/schema/workflow.ts';
import type { LocatedProblem, ReadWorkflow } from '../lib/manifest/index.ts';
import { type FilePort, shown } from './files.ts';
import type { Terminal } from './terminal.ts';

/** One workflow of a file, or what keeps it from being one. */
export interface FileWorkflow extends ReadWorkflow {
  /** The path as it was given; `<stdin>` for standard input. */
  readonly file: string;
}

/** A file as an editor or a build log can jump to it: `file:line:column path: message`. */
export function problemLine(file: string, { line, column, path, message, severity }: LocatedProblem): string {
  const place = path === '' ? '' : `${path}: `;
  return `${file}:${line}:${column} ${severity === 'warning' ? 'warning: ' : ''}${place}${message}`;
}

/** Whether a text that was found in a directory means to be a workflow at all. */
function mentionsWorkflow(text: string): boolean {
  return /^\s*["']?kind["']?\s*:\s*["']?Workflow\b/m.test(text) || /"kind"\s*:\s*"Workflow"/.test(text);
}

/**
 * Every workflow of the files and directories named. A file that is named is checked whatever it holds; one that is
 * only found in a directory is passed over, with a note, when it holds no Workflow. Where there is none at all, that is
 * the problem of the path that was named.
 */
export async function readWorkflowFiles(
  { files, terminal }: { readonly files: FilePort; readonly terminal: Pick<Terminal, 'note'> },
  paths: readonly (string | undefined)[],
): Promise<FileWorkflow[]> {
  const { readWorkflows } = await import('../lib/manifest/index.ts');
  const read = async (path: string): Promise<FileWorkflow[]> => {
    const found: FileWorkflow[] = [];
    for (const file of await files.manifests(path)) {
      const text = await files.read(file);
      if (file !== path && !mentionsWorkflow(text)) terminal.note(`${file}: passed over, there is no Workflow in it`);
      else found.push(...readWorkflows(text).map((document) => ({ ...document, file: shown(file) })));
    }
    return found.length > 0 ? found : [{ ...nothing, file: shown(path) }];
  };
  const found: FileWorkflow[] = [];
  for (const path of paths) if (path !== undefined) found.push(...(await read(path)));
  return found;
}

const nothing: ReadWorkflow = {
  form: 'manifest',
  problems: [
    { line: 1, column: 1, path: '', at: [], rule: 'empty', message: 'there is no workflow in it', severity: 'error' },
  ],
};

/** Whether nothing keeps a workflow from being used. */
export function isUsable<T extends Pick<FileWorkflow, 'workflow' | 'problems'>>(
  read: T,
): read is T & { readonly workflow: Workflow } {
  return read.workflow !== undefined && read.problems.every(({ severity }) => severity !== 'error');
}
