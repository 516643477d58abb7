import { Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { launchNothing } from '../../cli/launch.ts';
import { createProgram, withChildren } from '../../cli/program.ts';
import { createEdgeProgram } from '../../edge/program.ts';
import type { World } from '../../edge/world.ts';
import { commandsOf, pages, read } from './support/pages.ts';

const word = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|\$\([^)]*\)|\\.|[^\s"'|&;<>()\\])+|\|\||&&|[0-9]?>>?|[|&;<>()]/g;

/** Words of each call of a program in a line, without its name, up to a pipe, a redirection or a comment. */
function callsOf(program: string, line: string): string[][] {
  const words: string[] = line.replace(/(^|\s)#.*$/, '').match(word) ?? [];
  const inner = words.flatMap((part) => (/^[A-Z_]*=?"?\$\((.*)\)"?$/.exec(part)?.[1] ?? '').split('\n'));
  const starts = words.flatMap((part, at) => (part === program && isStart(words[at - 1]) ? [at] : []));
  const own = starts.map((at) => {
    const rest = words.slice(at + 1);
    const end = rest.findIndex((part) => /^(?:\|\||&&|[0-9]?>>?|[|&;<>()])$/.test(part));
    return (end === -1 ? rest : rest.slice(0, end)).map((part) => part.replaceAll(/^["']|["']$/g, ''));
  });
  return [...own, ...inner.filter((text) => text !== '').flatMap((text) => callsOf(program, text))];
}

const isStart = (before: string | undefined): boolean =>
  before === undefined || /^(?:\|\||&&|[|&;(]|[A-Z_]+=.*)$/.test(before);

/** The same tree, which reads a command line and does nothing. */
const programs: Readonly<Record<string, () => Command>> = {
  windlass: () => createProgram(launchNothing),
  'windlass-edge': () => {
    const program = createEdgeProgram({ version: '0' } as World);
    for (const command of program.commands) command.action(() => undefined);
    return program;
  },
};

/** Why the program does not take these words; undefined where it does. */
async function problemOf(program: string, words: readonly string[]): Promise<string | undefined> {
  const tree = programs[program]?.() ?? new Command();
  const silent = { writeOut: () => undefined, writeErr: () => undefined, outputError: () => undefined };
  for (const command of withChildren(tree)) command.exitOverride().configureOutput(silent);
  try {
    await tree.parseAsync([...words], { from: 'user' });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? undefined : error.message;
  }
}

const calls = pages.flatMap((page) =>
  commandsOf(page).flatMap((line) =>
    Object.keys(programs).flatMap((program) =>
      callsOf(program, line).map((words) => ({ page, program, words, call: [program, ...words].join(' ') })),
    ),
  ),
);

/** Commands that a sentence names, as in `windlass logs --follow`: arguments may be left out. */
const spans = pages.flatMap((page) =>
  [
    ...read(page)
      .replaceAll(/^ *```[^]*?^ *```$/gm, '')
      .matchAll(/`((windlass(?:-edge)?) [^`\n]+)`/g),
  ].flatMap(([, line = '', program = '']) => callsOf(program, line).map((words) => ({ page, program, words, line }))),
);

describe('a command of a page', () => {
  it('is one of many', () => {
    expect(calls.filter(({ program }) => program === 'windlass').length).toBeGreaterThan(50);
    expect(spans.length).toBeGreaterThan(30);
    expect(calls.filter(({ program }) => program === 'windlass-edge').length).toBeGreaterThan(5);
  });

  it.each(calls)('$page: $call', async ({ program, words }) => {
    expect(await problemOf(program, words)).toBeUndefined();
  });

  it.each(spans)('$page names: $line', async ({ program, words }) => {
    const problem = await problemOf(
      program,
      words.filter((part) => part !== '…'),
    );
    expect(problem ?? 'complete').toMatch(
      /^(?:complete|\(outputHelp\)|error: missing required argument|error: option .* argument missing|error: required option)/,
    );
  });

  it('is refused where the program has no such option or word', async () => {
    expect(await problemOf('windlass', ['run', 'x', '--no-such'])).toMatch('unknown option');
    expect(await problemOf('windlass-edge', ['runs'])).toMatch('unknown command');
  });
});

describe('docs/edge-daemon.md', () => {
  const page = read('docs/edge-daemon.md');
  const options = (programs['windlass-edge']?.() ?? new Command()).commands.flatMap((command) =>
    command.options.map(({ long }) => [command.name(), long ?? ''] as const),
  );

  it.each(options)('has the option of windlass-edge %s: %s', (_command, option) => {
    expect(page).toMatch(new RegExp(`${option}\\b`));
  });
});
