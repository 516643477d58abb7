import { describe, expect, it } from 'vitest';
import { growthOf, proportional } from '../test/support/processor-time.ts';
import { fencedBlock, fencedBlocks } from './fenced-block.ts';

const yaml = ['yaml', 'yml'];

describe('the fenced block of an answer', () => {
  it.each<[string, string, string | undefined]>([
    ['with words around it', 'Here:\n```yaml\na: 1\n```\nDone.', 'a: 1'],
    ['without a language', '```\na: 1\n```', 'a: 1'],
    ['with a language in capitals, and a blank', '```YML \n a: 1\n b: 2\n```', ' a: 1\n b: 2'],
    ['behind one of another language', '```ts\nlet a;\n```\n```yaml\na: 1\n```', 'a: 1'],
    [
      'with a fence inside',
      '```yaml\na: |\n  ```ts\n  let a;\n  ```\nb: 1\n```',
      'a: |\n  ```ts\n  let a;\n  ```\nb: 1',
    ],
    ['with nothing inside', '```yaml\n```', ''],
    ['behind a quoted fence', 'Use ``` to quote.\n```yaml\na: 1\n```', 'a: 1'],
    ['with a fence in the middle of a line', '```yaml\na: "```ts"\n```', 'a: "```ts"'],
    ['of four backticks', '````yaml\na: |\n```\n````', 'a: |\n```'],
    ['that is indented', '- so:\n  ```yaml\n  a: 1\n  ```\n', '  a: 1'],
    ['that ends in the middle of a line, as the last', '```yaml\na: "```"```\nDone.', 'a: "```"'],
    ['with a line of a fence and a language', '```yaml\na: |\n```ts\nb: 1\n```', 'a: |\n```ts\nb: 1'],
    ['with a fence that is deeper', '```yaml\na: |\n ```\nb: 1\n```', 'a: |\n ```\nb: 1'],
    ['that ends less deep', '  ```yaml\n  a: 1\n```\n', '  a: 1'],
    ['that ends with more backticks', '```yaml\na: 1\n````\n', 'a: 1'],
    ['of tildes', '~~~ yaml title="a"\na: |\n```\n~~\n~~~\n', 'a: |\n```\n~~'],
    ['that is not closed', '```yaml\na: 1', undefined],
    ['behind words', 'Here: ```yaml\na: 1\n```', undefined],
    ['that is no block', 'a: 1', undefined],
    ['of other languages alone', '```ts\nlet a;\n```', undefined],
  ])('is found %s', (_title, text, want) => {
    expect(fencedBlock(text, yaml)).toBe(want);
  });

  it('is one of several', () => {
    const text = '```\nlog\n```\n```json\n{}\n```\n```yaml\na: 1\n```';
    const found = [...fencedBlocks(text)].map(({ language, content }) => [language, content]);
    expect(found).toEqual([
      ['', 'log'],
      ['json', '{}'],
      ['yaml', 'a: 1'],
    ]);
  });

  it.each([
    ['three blanks deeper', '```json\n{}\n   ```\n', '{}'],
    ['four blanks deeper, as the last', '```json\n{}\n    ```\n', '{}\n    '],
    ['behind words', 'So ```json\n{}\n```\n', '{}'],
    ['behind a colon', 'So:```\n{}\n```\n', '{}'],
    ['behind words and a quotation', 'So `a` ```json\n{}\n```\n', '{}'],
    ['behind words that are no fence', 'So ```\n```json\n{}\n```\n', '{}'],
    ['behind a quoted fence', 'So ```a``` and:\n```json\n{}\n```\n', '{}'],
  ])('is found loosely %s', (_title, text, want) => {
    expect([...fencedBlocks(text, true)].map(({ content }) => content)).toEqual([want]);
  });

  it.each([
    ['a fence and empty lines', (size: number) => `\`\`\`${'\n'.repeat(size)}x`],
    ['fences alone', (size: number) => '```x\n'.repeat(size)],
    ['blocks of another language', (size: number) => '```x\n\n```\n'.repeat(size)],
    ['fences in one line', (size: number) => '```x '.repeat(size)],
    ['backticks and words in one line', (size: number) => `${'a`` '.repeat(size)}${'`'.repeat(size)}x \`\n`],
    ['backticks alone', (size: number) => `${'`'.repeat(size)}\n`],
    ['blanks', (size: number) => `${' '.repeat(size)}\n\`\`\`\n${'        \n'.repeat(size)}`],
  ])('is looked for in proportion to the text: %s', async (_title, textOf) => {
    expect(await growthOf(4_000, (size) => fencedBlock(textOf(size), yaml))).toBeLessThan(proportional);
    expect(await growthOf(4_000, (size) => [...fencedBlocks(textOf(size), true)])).toBeLessThan(proportional);
  });
});
