import { describe, expect, it } from 'vitest';
import { growthOf, proportional } from '../test/support/processor-time.ts';
import { fencedBlock } from './fenced-block.ts';

const yaml = { languages: ['yaml', 'yml'], end: '\n```' };

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
    ['that is not closed', '```yaml\na: 1', undefined],
    ['that is no block', 'a: 1', undefined],
    ['of other languages alone', '```ts\nlet a;\n```', undefined],
  ])('is found %s', (_title, text, want) => {
    expect(fencedBlock(text, yaml)).toBe(want);
  });

  it('ends at any fence where no other end is named', () => {
    expect(fencedBlock('```json\n{}```', { languages: ['json'] })).toBe('{}');
  });

  it.each([
    ['a fence and empty lines', (size: number) => `\`\`\`${'\n'.repeat(size)}x`],
    ['fences alone', (size: number) => '```x\n'.repeat(size)],
    ['blocks of another language', (size: number) => '```x\n\n```\n'.repeat(size)],
  ])('is looked for in proportion to the text: %s', async (_title, textOf) => {
    expect(await growthOf(4_000, (size) => fencedBlock(textOf(size), yaml))).toBeLessThan(proportional);
  });
});
