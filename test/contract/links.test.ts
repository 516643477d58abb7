import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: root })
  .toString()
  .split('\n')
  .filter((path) => path !== '' && existsSync(resolve(root, path)));

const withoutCode = (text: string): string =>
  text.replaceAll(/^```[^\n]*\n.*?^```/gms, '').replaceAll(/`[^`\n]*`/g, '');

/** The name that a heading has in a link: as GitHub makes it. */
function anchors(path: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const headings = readFileSync(path, 'utf8')
    .replaceAll(/^```[^\n]*\n.*?^```/gms, '')
    .matchAll(/^#{1,6} +(.+)$/gm);
  const names = [...headings].map(([, text = '']) => {
    const plain = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const name = plain
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name}-${times}`;
  });
  return new Set(names);
}

/** The fault of a link of a page, if any. Addresses of other machines are not looked at. */
function problemOf(page: string, target: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return undefined;
  const [path = '', anchor] = target.split('#', 2);
  const file = path === '' ? resolve(root, page) : resolve(root, dirname(page), decodeURIComponent(path));
  if (relative(root, file).startsWith('..')) return `${target}: outside of the project`;
  if (!existsSync(file)) return `${target}: no such file`;
  if (anchor === undefined || !file.endsWith('.md') || anchors(file).has(decodeURIComponent(anchor))) return undefined;
  return `${target}: no such heading`;
}

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter((path) => path !== '' && existsSync(resolve(root, path)));
const folders = new Set(files.flatMap((path) => (path.includes('/') ? [path.slice(0, path.indexOf('/'))] : [])));
/** Every end of the path of a file: a page may leave out the folders that its table names. */
const ends = new Set(files.flatMap((path) => path.split('/').map((_, index, parts) => parts.slice(index).join('/'))));

/** The names in code that are paths of this project: below one of its folders, or a source file. */
const isPath = (code: string): boolean =>
  /^[\w.-]+(?:\/[\w.-]+)*\/?$/.test(code) &&
  ((code.includes('/') && folders.has(code.slice(0, code.indexOf('/')))) || /[\w-]\.(?:ts|go|proto)$/.test(code));

describe('every link leads somewhere', () => {
  it('there are pages', () => expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/operating.md'])));

  it.each(pages)('%s', (page) => {
    const text = withoutCode(readFileSync(resolve(root, page), 'utf8'));
    const inline = [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target);
    const named = [...text.matchAll(/^\[[^\]]+\]: +(\S+)/gm)].map(([, target = '']) => target);
    expect([...inline, ...named].map((target) => problemOf(page, target)).filter(Boolean)).toEqual([]);
  });
});

describe('every path in code exists', () => {
  // Decisions and the change log name what was.
  const current = pages.filter((path) => !/^(docs\/adr\/|CHANGELOG)/.test(path));

  it.each(current)('%s', (page) => {
    const text = readFileSync(resolve(root, page), 'utf8').replaceAll(/^```[^\n]*\n.*?^```/gms, '');
    const paths = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code).filter(isPath);
    expect(paths.filter((path) => !existsSync(resolve(root, path)) && !ends.has(path))).toEqual([]);
  });
});
