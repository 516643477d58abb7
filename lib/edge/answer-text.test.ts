import { describe, expect, it } from 'vitest';
import { answerText } from './answer-text.ts';

describe('the answer of a tool that puts nothing out', () => {
  it.each<[string, unknown, string]>([
    ['facts', { os: 'linux', cpus: 2 }, '{"os":"linux","cpus":2}\n'],
    ['a text', { content: 'two\nlines\n' }, 'two\nlines\n'],
    ['a text without a line end, which was cut', { content: 'end', truncated: true }, 'end\n'],
    ['content that is no text', { content: 7 }, '{"content":7}\n'],
    ['an empty text', { content: '' }, ''],
    ['the output of a command', { stdout: '', stderr: 'x', exit_code: 1 }, ''],
    ['the end of a command without output', { exit_code: 3, truncated: true }, ''],
    ['nothing', {}, ''],
    ['no payload', undefined, ''],
  ])('is a text: %s', (_what, payload, want) => {
    expect(answerText(payload)).toBe(want);
  });
});
