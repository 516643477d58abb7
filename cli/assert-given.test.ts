import { describe, expect, it } from 'vitest';
import { assertGiven } from './assert-given.ts';
import { CliError } from './exit-codes.ts';
import type { CliLaunch } from './launch.ts';
import { createProgram, withChildren } from './program.ts';

/** The error for a command line before anything is done; undefined: none. */
async function said(...line: readonly string[]): Promise<string | undefined> {
  const launch: CliLaunch =
    () =>
    async (...values) =>
      assertGiven(values.at(-1) as Parameters<typeof assertGiven>[0]);
  const program = createProgram(launch);
  for (const command of withChildren(program)) command.exitOverride();
  try {
    await program.parseAsync(line, { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof CliError && error.exit === 'usage') return error.message;
    throw error;
  }
}

describe('a command line', () => {
  it.each<[line: string[], want: string]>([
    [['get', ''], '<execution> is empty'],
    [['workflow', 'get', ''], '<workflow> is empty'],
    [['logs', 'demo-1', ''], '<state> is empty'],
    [['get', '.'], "'.' is not a name"],
    [['run', '..'], "'..' is not a name"],
    [['-n', '', 'list'], '--namespace is empty'],
    [['--server', '', 'list'], '--server is empty'],
    [['list', '--workflow', ''], '--workflow is empty'],
    [['stimulus', 'send', 'x', '--key', ''], '--key is empty'],
    [['-n', 'A/b', 'list'], "'A/b' is not a valid name of a namespace"],
    [['-n', 'a'.repeat(64), 'list'], `'${'a'.repeat(64)}' is not a valid name of a namespace`],
  ])('%j is refused, as a variable was not set', async (line, want) => {
    expect(await said(...line)).toBe(want);
  });

  it.each([
    [['get', 'demo-1']],
    [['-n', 'a', 'list']],
    [['-n', 'a'.repeat(63), 'list']],
    [['approve', 'demo-1', '--feedback', '']],
    [['workflow', 'validate', '.']],
    [['logs', 'demo-1']],
    [['__complete', '--', '']],
  ])('%j is not', async (line) => {
    expect(await said(...line)).toBeUndefined();
  });
});
