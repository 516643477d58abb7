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
    ['that is not closed', '```yaml\na: 1', undefined],
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
    ['a fence and empty lines', (size: number) => `\`\`\`${'\n'.repeat(size)}x`],
    ['fences alone', (size: number) => '```x\n'.repeat(size)],
    ['blocks of another language', (size: number) => '```x\n\n```\n'.repeat(size)],
    ['fences in one line', (size: number) => '```x '.repeat(size)],
    ['backticks alone', (size: number) => `${'`'.repeat(size)}\n`],
    ['blanks', (size: number) => `${' '.repeat(size)}\n\`\`\`\n${'        \n'.repeat(size)}`],
  ])('is looked for in proportion to the text: %s', async (_title, textOf) => {
    expect(await growthOf(4_000, (size) => fencedBlock(textOf(size), yaml))).toBeLessThan(proportional);
  });
});
