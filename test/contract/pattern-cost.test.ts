import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const folders = ['api', 'client', 'controllers', 'crds', 'edge', 'gateway', 'lib', 'relay', 'runner'];
const paths = execFileSync('git', ['ls-files', ...folders], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path.endsWith('.ts') && !/(^|\/)generated\/|\.test\.ts$/.test(path));

/** A regular expression behind what no operand ends with: anything else is a division. */
const literal = /(?<=^|[=(,:;&|?[!>]|\breturn)\s*\/(?![/*])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/([a-z]*)/gm;

const patterns = paths.flatMap((path) =>
  [...readFileSync(resolve(root, path), 'utf8').matchAll(literal)].map(([, source = '', flags = '']) => ({
    path,
    source,
    flags,
  })),
);

/** Looked for at each place of a text, and counts far before it fails: each character is looked at so many times. */
function countsFar(source: string, flags: string): boolean {
  const isAtOnePlace = source.startsWith('^') || flags.includes('y');
  const counts = [...source.matchAll(/\{(\d{1,5})(?:,(\d{0,5}))?\}/g)].map(([, least, most]) => Number(most || least));
  return !isAtOnePlace && counts.some((count) => count > 64);
}

/** An escape that is also two characters: each doubles the ways to read a text that does not end as the pattern wants. */
const readsEscapesTwice = (source: string): boolean =>
  [...source.matchAll(/\(\?:\\\\(?:\.|\[\^\])\|\[\^((?:\\.|[^\]\\])*)\]\)[*+]/g)].some(
    ([, leftOut = '']) => !leftOut.includes('\\\\'),
  );

it('finds the regular expressions of the code', () => expect(patterns.length).toBeGreaterThan(200));

it.each([
  ['none counts far at each place of a text', countsFar],
  ['none reads an escape in two ways', readsEscapesTwice],
])('of the regular expressions that read texts of strangers, %s', (_, isCostly) => {
  expect(patterns.filter(({ source, flags }) => isCostly(source, flags))).toEqual([]);
});

it.each([
  [String.raw`\d{300}|[eE]\+?\d{3}`, true, false],
  [String.raw`\[\^(?:\\.|[^\]])*\]`, false, true],
  [String.raw`\[\^(?:\\.|[^\]\\])*\]`, false, false],
  [String.raw`^\d{300}$`, false, false],
])('judges %s', (source, far, twice) => {
  expect([countsFar(source, ''), readsEscapesTwice(source)]).toEqual([far, twice]);
});
