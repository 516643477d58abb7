import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pages, read } from './support/pages.ts';
import { sentencesIn, sentencesOf, wordsOf } from './support/sentences.ts';

/** About twenty words are meant; no sentence has more than these. */
const wordsMax = 27;
const openings = /^[(*"]*(?:What|Who|Of|Whoever)\b/;
const fillers = /\b(?:told|stands|goes|somebody|nobody|whoever|as anybody would)\b/i;

/** Every `description` and `summary` of a JSON document, at any depth. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'string' && ['description', 'summary'].includes(name) ? [member] : textsIn(member),
  );
}

const listed = (...patterns: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', ...patterns], { cwd: resolve(import.meta.dirname, '../..'), encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '');

const documents = listed('*/generated/openapi.json', 'crds/generated/json-schema/*.json');
const sentences = [
  ...pages.flatMap((path) => sentencesOf(read(path)).map(({ line, text }) => ({ at: `${path}:${line}`, text }))),
  ...documents.flatMap((path) =>
    [...new Set(textsIn(JSON.parse(read(path))))].flatMap((description) =>
      sentencesOf(description).map(({ text }) => ({ at: path, text })),
    ),
  ),
];
const those = (isRefused: (sentence: string) => boolean): readonly string[] =>
  sentences.flatMap(({ at, text }) => (isRefused(text) ? [`${at}: ${text}`] : []));

describe('pages, and descriptions of fields and operations', () => {
  it('are read', () => {
    expect(pages.length).toBeGreaterThan(50);
    expect(documents.length).toBeGreaterThan(15);
    expect(sentences.length).toBeGreaterThan(10_000);
  });

  it(`have sentences of at most ${wordsMax} words`, () => {
    expect(those((sentence) => wordsOf(sentence) > wordsMax)).toEqual([]);
  });

  it('begin no sentence with What, Who, Of or Whoever', () => {
    expect(those((sentence) => openings.test(sentence))).toEqual([]);
  });

  it('have none of the filler words', () => {
    expect(those((sentence) => fillers.test(sentence))).toEqual([]);
  });
});

describe('comments', () => {
  const comment = /^\s*(?:\/\*\*|\*|\/\/)[ \t]+(.*)$/gm;
  const comments = listed('*.ts')
    .filter((path) => !path.includes('/generated/'))
    .flatMap((path) => [...read(path).matchAll(comment)].map(([, text = '']) => ({ path, text })));

  it('begin no sentence with What, Who, Of or Whoever, and have none of the filler words', () => {
    expect(comments.length).toBeGreaterThan(10_000);
    const refused = comments.filter(
      ({ text }) => fillers.test(text) || /(?:^|[.?!] )(?:What|Who|Of|Whoever)\b/.test(text),
    );
    expect(refused).toEqual([]);
  });
});

describe('a reader of sentences', () => {
  it.each([
    ['a b. C d.', ['a b.', 'C d.']],
    ['It reads `a.b. C`, e. g. twice. `x` follows.', ['It reads `, e. g. twice.', '` follows.']],
    ['See [the page. Now](a.md) or https://a.b/c. 2 follow.', ['See the page.', 'Now or ` 2 follow.']],
  ])('reads %j', (text, want) => {
    expect(sentencesIn(text)).toEqual(want);
  });

  it('counts words, and code as one', () => {
    expect(wordsOf(sentencesIn('It takes `a b c` of 20 MiB, at most — as ever.')[0] ?? '')).toBe(10);
  });

  it('reads paragraphs, items and cells by themselves, and no code', () => {
    const page =
      '# A title\n\nOne\nline.\n- two\n  more\n- three\n\n```sh\nno text\n```\n\n    nor here\n\n| four | five; six | `a`, `b` |\n\n> seven\n';
    expect(sentencesOf(page)).toEqual([
      { line: 3, text: 'One line.' },
      { line: 5, text: 'two more' },
      { line: 7, text: 'three' },
      { line: 15, text: 'four' },
      { line: 15, text: 'five' },
      { line: 15, text: 'six' },
      { line: 15, text: '`' },
      { line: 15, text: '`' },
      { line: 17, text: 'seven' },
    ]);
  });
});
