import { describe, expect, it } from 'vitest';
import { noOutput } from '../step-pods/step.ts';
import { gitLimits } from './limits.ts';
import { readGitAnswer } from './read-answer.ts';

const commit = 'a'.repeat(40);
const read = (stdout: string) => readGitAnswer({ ...noOutput, exitCode: 0, stdout });
const padded = (length: number): string => {
  const bare = JSON.stringify({ diff: '' }).length;
  return JSON.stringify({ ok: true, commit, diff: 'x'.repeat(length - bare) });
};

describe('readAnswer', () => {
  it.each([
    [
      `{"ok":true,"commit":"${commit}","branch":"main","changed":true,"ahead":false,"bytes":7}`,
      { branch: 'main', bytes: 7 },
    ],
    [`{"ok":true,"commit":"${commit}","changed":false,"ahead":true}`, { ahead: true }],
  ])('takes the tree from %s', (stdout, tree) =>
    expect(read(stdout)).toMatchObject({ kind: 'done', tree: { commit, ...tree } }),
  );

  it('keeps what status and diff found as JSON', () => {
    const stdout = `{"ok":true,"commit":"${commit}","changes":[{"kind":"M","path":"a"}],"truncated":true}`;
    expect(read(stdout)).toMatchObject({ output: '{"changes":[{"kind":"M","path":"a"}],"truncated":true}' });
  });

  it.each([
    ['{"ok":false,"error":"TIMEOUT","message":"too long"}', { exitCode: 0 }, 'TIMEOUT: too long'],
    ['no JSON', { exitCode: 0 }, 'HELPER_FAILED: it ended with exit code 0'],
    [
      '',
      { exitCode: 137, failure: { reason: 'OutOfMemory', message: 'too much memory' } } as const,
      'OutOfMemory: too much memory',
    ],
    ['', { exitCode: 0, lost: 'no log' }, 'HELPER_FAILED: no log'],
    ['{"ok":true}', { exitCode: 0 }, 'GIT_FAILED: '],
  ])('%j with %j is a failure', (stdout, outcome, want) => {
    const end = readGitAnswer({ ...noOutput, ...outcome, stdout });
    expect(end.kind === 'failed' && `${end.error}: ${end.message}`).toBe(want);
  });

  it.each([
    [gitLimits.outputLength - 1, 'done'],
    [gitLimits.outputLength, 'done'],
    [gitLimits.outputLength + 1, 'failed'],
  ])('an answer of %i characters is %s', (length, kind) => expect(read(padded(length)).kind).toBe(kind));
});
