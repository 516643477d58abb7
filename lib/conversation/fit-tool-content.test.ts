import { describe, expect, it } from 'vitest';
import { costRatio, proportional } from '../../test/support/processor-time.ts';
import { conversationLimits } from './limits.ts';
import { fitToolContent } from './fit-tool-content.ts';

const most = conversationLimits.toolContentLength;

describe('the answer of a tool for a model', () => {
  it.each([
    [most - 1, true],
    [most, true],
    [most + 1, false],
    [4 * most, false],
  ])('of %i characters is whole: %s', (length, isWhole) => {
    const content = fitToolContent('x'.repeat(length));
    expect(content === 'x'.repeat(length)).toBe(isWhole);
    expect(content.length).toBeLessThanOrEqual(most);
    expect(content.length).toBeGreaterThanOrEqual(most - 8);
  });

  it('says how much is missing', () => {
    const content = fitToolContent('x'.repeat(most + 1_000));
    const [, left = ''] = /\n\[cut: (\d+) more characters\]$/.exec(content) ?? [];
    expect(content.replace(/\n\[cut.*$/, '').length + Number(left)).toBe(most + 1_000);
  });

  it('TOOL-CMD-03 remains one object with the exit code, where the streams are long', () => {
    const answer = { stdout: 'o'.repeat(300_000), stderr: 'warned', exit_code: 3 };
    const content = fitToolContent(JSON.stringify(answer));
    expect(content.length).toBeLessThanOrEqual(most);
    expect(JSON.parse(content)).toEqual({
      stdout: expect.stringMatching(/^o{100000,}\n\[cut: \d+ more characters\]$/),
      stderr: 'warned',
      exit_code: 3,
    });
  });

  it('counts control characters as the six bytes that they take', () => {
    for (const content of ['\u0001'.repeat(most), JSON.stringify({ stdout: '\u0001'.repeat(most) })]) {
      const bytes = Buffer.byteLength(JSON.stringify(fitToolContent(content)));
      expect(bytes).toBeLessThanOrEqual(conversationLimits.toolContentBytes);
      expect(bytes).toBeGreaterThan(conversationLimits.toolContentBytes / 8);
    }
  });

  it('loses the end of an object that is long by its structure', () => {
    const content = fitToolContent(JSON.stringify({ rows: Array.from({ length: 100_000 }, (_, row) => row) }));
    expect(content.length).toBeLessThanOrEqual(most);
    expect(content).toMatch(/\[cut: \d+ more characters\]$/);
  });

  it('splits no character', () => {
    expect(fitToolContent('😀'.repeat(most)).isWellFormed()).toBe(true);
  });

  it.each(['😀'.repeat(200_000), '\\ud83d\\ude00'.repeat(40_000), '\\\\ud83d\\"'.repeat(40_000)])(
    'is an object that can be read where its text has pairs and escapes (%#)',
    (text) => {
      for (const shift of ['', 'x', 'xx', 'xxx', 'xxxx', 'xxxxx', 'xxxxxx', 'xxxxxxx']) {
        const content = fitToolContent(`{ "a":  "${shift}${text}",\n\n  "exit_code": 3 }`);
        const value = JSON.parse(content) as { readonly a: string };
        expect(content.length).toBeLessThanOrEqual(most);
        expect(value.a.isWellFormed()).toBe(true);
        const [mark = '', left = ''] = /\n\[cut: (\d+) more characters\]$/.exec(value.a) ?? [];
        const whole = JSON.parse(`"${shift}${text}"`) as string;
        expect(whole).toBe(value.a.slice(0, -mark.length) + whole.slice(-Number(left)));
        expect(value).toMatchObject({ exit_code: 3 });
      }
    },
  );

  it('is no object where it was none: spaces between two numbers remain', () => {
    const content = fitToolContent(`{"n": [1  2], "a": "${'x'.repeat(most)}"}`);
    expect(content).toMatch(/^\{"n": \[1 {2}2\]/);
  });

  it('loses its end where it is nested deeper than JSON can be written', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const content = fitToolContent(`{"a":${open.repeat(150_000)}1${close.repeat(150_000)}}`);
      expect(content.length).toBeLessThanOrEqual(most);
      expect(content).toMatch(/\[cut: \d+ more characters\]$/);
    }
  });

  const large = 4 * 1_048_576;
  const numbers = `{"a":[${'1,'.repeat(large / 2)}1]}`;
  it.each([
    ['numbers', numbers],
    ['objects', `{"a":[${'{"id":1,"n":"x"},'.repeat(large / 16)}1]}`],
    ['long texts', `{"a":[${`"${'x'.repeat(1_100)}",`.repeat(large / 1_100)}1]}`],
    ['texts with quotes', `{"a":"${'\\"'.repeat(large / 2)}"}`],
    ['control characters', `{"a":"${'\\u0001'.repeat(large / 6)}"}`],
    ['spaces', `{"a":${' '.repeat(large)}1}`],
    ['spaces and numbers', `{"a":[${'1,  '.repeat(large / 4)}1]}`],
  ])(
    'takes no more time than to read and write as many numbers a few times, where it is made of %s',
    async (_what, text) => {
      const once = (): string => JSON.stringify(JSON.parse(numbers));
      expect(await costRatio(() => fitToolContent(text), once)).toBeLessThan(proportional);
    },
    60_000,
  );
});
