import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import type { CliToolSpec } from '../../crds/schema/cli-tool.ts';
import { validateSpec } from '../../crds/validators.ts';
import { checkCliTool } from './check-cli-tool.ts';
import { startSeconds, workflowSpecOf } from './workflow-of.ts';

const aTool = (more: Partial<CliToolSpec> = {}): CliToolSpec => ({
  description: 'Counts.',
  input_schema: { type: 'object', properties: { text: { type: 'string' } } },
  image: 'busybox',
  command: ['wc', '-w'],
  ...more,
});
const commandIn = (tool: CliToolSpec): unknown => {
  const state = workflowSpecOf(tool).states['run'];
  return state?.kind === 'ContainerRun' ? state.command : undefined;
};
const pathsOf = (tool: CliToolSpec): string[] => checkCliTool(tool).map(({ path }) => path);

describe('the command of a CLI tool', () => {
  it('is that of the tool where it has neither stdin nor files', () => {
    expect(commandIn(aTool())).toEqual(['wc', '-w']);
  });

  it('is fed what it has of both, each text as one argument behind its flag', () => {
    const stdin = '{{input.text}}';
    const files = [{ path: 'a/b.txt', content: '--stdin' }];
    const command = ['/windlass/runner', 'feed', '--stdin', stdin, '--file', 'a/b.txt', '--stdin', '--', 'wc', '-w'];
    expect(commandIn(aTool({ stdin, files }))).toEqual(command);
    expect(commandIn(aTool({ stdin: '' }))).toEqual(['/windlass/runner', 'feed', '--stdin', '', '--', 'wc', '-w']);
  });

  it('is another version with another stdin', () => {
    const versions = [aTool(), aTool({ stdin: 'a' }), aTool({ stdin: 'b' })].map(
      (tool) => workflowSpecOf(tool).version,
    );
    expect(new Set(versions).size).toBe(3);
  });
});

describe('the check of a CLI tool', () => {
  it('names the field of a template that cannot be read', () => {
    const broken = '{{#if input.text}}';
    expect(pathsOf(aTool({ stdin: broken }))).toEqual(['spec.stdin']);
    const files = [
      { path: 'a', content: 'x' },
      { path: 'b', content: broken },
    ];
    expect(pathsOf(aTool({ files }))).toEqual(['spec.files[1].content']);
    expect(pathsOf(aTool({ stdin: 'x', command: ['wc', broken] }))).toEqual(['spec.command[1]']);
    expect(pathsOf(aTool({ command: ['wc', broken] }))).toEqual(['spec.command[1]']);
    expect(pathsOf(aTool({ stdin: '{{input.text}}', files: [{ path: 'a', content: '{{input.text}}' }] }))).toEqual([]);
  });

  it('refuses two files of one path, and a file below another', () => {
    const file = (path: string) => ({ path, content: '' });
    expect(pathsOf(aTool({ files: [file('a'), file('b'), file('a')] }))).toEqual(['spec.files[2].path']);
    expect(pathsOf(aTool({ files: [file('a/b'), file('a')] }))).toEqual(['spec.files[0].path']);
    expect(pathsOf(aTool({ files: [file('a'), file('ab'), file('c/a')] }))).toEqual([]);
  });

  it.each([
    [195, []],
    [196, ['spec.command']],
  ])('counts what a stdin adds to %i elements of the command', (count, paths) => {
    const command = Array.from({ length: count }, () => 'x');
    expect(pathsOf(aTool({ command, stdin: 'a' }))).toEqual(paths);
  });
});

describe('the time of a command', () => {
  const max = limits.cliToolTimeoutSecondsMax;
  const timesOf = (timeout_seconds?: number) => {
    const state = workflowSpecOf(aTool(timeout_seconds === undefined ? {} : { timeout_seconds })).states['run'];
    return state?.kind === 'ContainerRun' ? [state.resources?.timeout, state.timeout] : undefined;
  };

  it('ends, with the start of its pod, half a minute before the call of the tool', () => {
    expect(max + startSeconds + 30).toBe(limits.toolCallSeconds);
    expect(timesOf(max)).toEqual([`${max}s`, `${limits.toolCallSeconds - 30}s`]);
    expect(timesOf()).toEqual(['60s', '180s']);
  });

  it.each([
    [max - 1, []],
    [max, []],
    [max + 1, [`spec.timeout_seconds: must be at most ${max}, not ${max + 1}`]],
    [0, ['spec.timeout_seconds: must be at least 1, not 0']],
  ])('may be %i seconds, or is refused with the bound', (timeout_seconds, want) => {
    const problems = validateSpec.CliTool(aTool({ timeout_seconds }));
    expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual(want);
  });
});

describe('the time of a tool that is stored', () => {
  const max = limits.cliToolTimeoutSecondsMax;
  it.each([
    [max - 1, []],
    [max, []],
    [max + 1, ['spec.timeout_seconds']],
    [3_600, ['spec.timeout_seconds']],
  ])('of %i seconds is a problem of %j, with the bound and what to do', (timeout_seconds, want) => {
    const problems = checkCliTool(aTool({ timeout_seconds }));
    expect(problems.map(({ path }) => path)).toEqual(want);
    for (const { message } of problems)
      expect(message).toMatch(/^must be at most 450, not \d+: .* register the tool anew/);
  });
});

describe('the path of a file', () => {
  const isRight = (path: string): boolean =>
    validateSpec.CliTool(aTool({ files: [{ path, content: '' }] })).length === 0;

  it.each(['a', 'a/b.txt', '.env', 'a/.b/c', 'A-1_b.c', '-x', 'a..b', 'x'.repeat(255)])('may be %s', (path) => {
    expect(isRight(path)).toBe(true);
  });

  it.each([
    '',
    '/a',
    '..',
    '.',
    'a/..',
    '../a',
    'a/../b',
    './a',
    'a//b',
    'a/',
    '..a',
    '{{input.x}}',
    'a b',
    'a\n',
    'a\0',
  ])('may not be %j', (path) => {
    expect(isRight(path)).toBe(false);
  });

  it('has 255 characters, and a tool eight files', () => {
    expect(isRight('x'.repeat(256))).toBe(false);
    const files = (count: number) => Array.from({ length: count }, (_, index) => ({ path: `f${index}`, content: '' }));
    expect([8, 9].map((count) => validateSpec.CliTool(aTool({ files: files(count) })).length === 0)).toEqual([
      true,
      false,
    ]);
  });

  it('comes with a content of 65,536 characters at most, as stdin has', () => {
    const long = (length: number) => 'x'.repeat(length);
    const valid = [65_536, 65_537].map((length) => [
      validateSpec.CliTool(aTool({ stdin: long(length) })).length === 0,
      validateSpec.CliTool(aTool({ files: [{ path: 'a', content: long(length) }] })).length === 0,
    ]);
    expect(valid).toEqual([
      [true, true],
      [false, false],
    ]);
  });
});
