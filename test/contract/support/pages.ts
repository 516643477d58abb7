import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../../..');
/** The text of a file, by its path in the project. */
export const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');

/** The pages of the project, without decisions and the change log, which name what was. */
export const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
})
  .toString()
  .split('\n')
  .filter((path) => path !== '' && !/^(docs\/adr\/|CHANGELOG)/.test(path));

/** Commands of a page in their order: those of `sh` blocks, and those behind a prompt. Continued lines are one. */
export function commandsOf(page: string): readonly string[] {
  const text = read(page).replaceAll(/^ {3}/gm, '');
  const blocks = [...text.matchAll(/^```(sh|bash|console)\n(.*?)^```/gms)];
  return blocks.flatMap(([, language, block = '']) => {
    const lines = block.replaceAll(/\\\n\s*/g, ' ').split('\n');
    return language === 'console' ? lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2)) : lines;
  });
}
