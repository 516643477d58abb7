import type { Place } from '../../crds/problem.ts';
import type { CliToolSpec } from '../../crds/schema/cli-tool.ts';
import { runner } from '../tools/pod/run-file-tool.ts';

/** One element of the command of a step. */
interface CommandElement {
  readonly text: string;
  /** The field of the tool that it is; absent: ours. */
  readonly place?: Place;
}

/**
 * The command that runs a tool. With `stdin` or `files` it is `runner feed`, which gives them to the command of the tool and
 * becomes it. Texts are templates, each of which becomes exactly one argument, so that none can be taken for a flag.
 */
export function commandOf({ command, stdin, files = [] }: CliToolSpec): CommandElement[] {
  const own = command.map((text, index) => ({ text, place: ['command', index] }));
  if (stdin === undefined && files.length === 0) return own;
  const input = stdin === undefined ? [] : [{ text: '--stdin' }, { text: stdin, place: ['stdin'] }];
  const written = files.flatMap(({ path, content }, index) => [
    { text: '--file' },
    { text: path, place: ['files', index, 'path'] },
    { text: content, place: ['files', index, 'content'] },
  ]);
  return [{ text: runner }, { text: 'feed' }, ...input, ...written, { text: '--' }, ...own];
}
