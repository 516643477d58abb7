import { describe, expect, it } from 'vitest';
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
});
