import { expect, it } from 'vitest';
import { launchNothing } from './launch.ts';
import { createProgram, withChildren } from './program.ts';

/** Standard error of a command line that is refused. */
async function refused(...typed: string[]): Promise<string> {
  const program = createProgram(launchNothing);
  let text = '';
  const writeErr = (piece: string): void => void (text += piece);
  for (const command of withChildren(program)) command.exitOverride().configureOutput({ writeErr });
  await expect(program.parseAsync(typed, { from: 'user' })).rejects.toThrow(/unknown/);
  return text;
}

it.each([
  [['submit', 'a.yaml'], "unknown command 'submit'\n(windlass has windlass run)\n"],
  [['stop', 'x'], "unknown command 'stop'\n(windlass has windlass cancel)\n"],
  [['lint', 'a.yaml'], "unknown command 'lint'\n(windlass has windlass validate)\n"],
  [['workflow', 'lint', 'a.yaml'], "unknown command 'lint'\n(windlass has windlass validate)\n"],
  [['run', 'hello', '-p', 'a=b'], "unknown option '-p'\n(windlass has --input)\n"],
  [['run', 'hello', '--param=a'], "unknown option '--param=a'\n(windlass has --input)\n"],
  [['list', '--status', 'failed'], "unknown option '--status'\n(windlass has --phase)\n"],
  [['workflow', 'register', '-f', 'a.yaml'], "unknown option '-f'\n(name the files without an option)\n"],
])('windlass %j names the word of windlass for that of another tool', async (typed, want) => {
  expect(await refused(...typed)).toContain(`error: ${want}`);
});

it('a word that is merely misspelt has the guess by its spelling', async () => {
  expect(await refused('lisst')).toContain('(Did you mean list?)');
  expect(await refused('get', 'x', '-p')).toBe("error: unknown option '-p'\nSee windlass get --help.\n");
});
