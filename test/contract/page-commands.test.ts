import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Command } from 'commander';
import { launchNothing } from '../../cli/launch.ts';
import { createProgram } from '../../cli/program.ts';

const root = resolve(import.meta.dirname, '../..');
const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: root })
  .toString()
  .split('\n')
  .filter((path) => path !== '' && !/^(docs\/adr\/|CHANGELOG)/.test(path));

/** Commands of a page in their order: those of `sh` blocks, and those behind a prompt. Continued lines are one. */
function commandsOf(page: string): readonly string[] {
  const text = readFileSync(resolve(root, page), 'utf8').replaceAll(/^ {3}/gm, '');
  const blocks = [...text.matchAll(/^```(sh|bash|console)\n(.*?)^```/gms)];
  return blocks.flatMap(([, language, block = '']) => {
    const lines = block.replaceAll(/\\\n\s*/g, '').split('\n');
    return language === 'console' ? lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2)) : lines;
  });
}

/** Variables that each shell has, or that a remark of the page explains. */
const known = new Set(['HOME', 'PATH', 'RANDOM', 'KUBECONFIG', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME']);

/** Pages whose first sentences say that they continue in the shell of another page. */
const continues: Readonly<Record<string, string>> = {
  'docs/billing.md': 'docs/api.md',
  'docs/stimuli.md': 'docs/api.md',
};

function undefinedVariables(page: string): readonly string[] {
  const before = continues[page];
  const defined = new Set(known);
  const missing: string[] = [];
  for (const command of [...(before === undefined ? [] : commandsOf(before)), ...commandsOf(page)]) {
    // Single quotes keep a shell from expanding; `"'"$x"'"` leaves them for a moment.
    const expanded = command.replaceAll(/"'("\$\w+")'"/g, '$1').replaceAll(/'[^']*'/g, "''");
    for (const [, name = ''] of expanded.matchAll(/\$\{?([A-Za-z_]\w*)/g)) if (!defined.has(name)) missing.push(name);
    for (const [, name = ''] of command.matchAll(/(?:^|[\s(])([A-Za-z_]\w*)=/g)) defined.add(name);
    for (const [, name = ''] of command.matchAll(/^read (?:-\w+ )*(\w+)/g)) defined.add(name);
  }
  return missing;
}

const program = createProgram(launchNothing);

/** The command that the first words name, and whether all of them are names of commands. */
function commandOf(words: readonly string[]): { readonly command: Command; readonly stray: string | undefined } {
  let command: Command = program;
  for (const [index, word] of words.entries()) {
    const previous = words[index - 1] ?? '';
    // Options of every command may come before the name; all but those of `windlass` itself come behind it.
    if (
      word.startsWith('-') ||
      /^(-n|--(namespace|context|kubeconfig|server|tenant|token-file|output)|-o)$/.test(previous)
    )
      continue;
    const below = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (below === undefined) return { command, stray: command.commands.length > 0 ? word : undefined };
    command = below;
  }
  return { command, stray: undefined };
}

/** Names of commands and options in a line of a page that `windlass` does not have. */
function unknownWords(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|[\s(`])windlass ((?:[^|;&`)'"]|'[^']*'|"[^"]*")+)/g)].flatMap(([, text = '']) => {
    const [own = ''] = text.split(/ -- | [#>2]/, 1);
    const words = own.split(/\s+/).filter(Boolean);
    const { command, stray } = commandOf(words);
    const known = new Set([...program.options, ...command.options].flatMap(({ long, short }) => [long, short]));
    const options = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split('=', 1)[0] ?? '');
    const isDefault = command !== program && command.commands.some((one) => one.name() === 'list');
    return [
      ...(stray === undefined || isDefault ? [] : [`${line}: no command ${stray}`]),
      ...options.filter((option) => !isDefault && !known.has(option)).map((option) => `${line}: no option ${option}`),
    ];
  });
}

describe('commands of the pages', () => {
  it.each(['README.md', 'docs/gateway.md', 'docs/edge.md', 'examples/order-desk/README.md'])(
    '%s is for pasting, so it has commands',
    (page) => expect(commandsOf(page).length).toBeGreaterThan(5),
  );

  it.each(pages.filter((page) => !page.startsWith('docs/reference/')))(
    '%s defines a variable before it uses it',
    (page) => {
      expect(undefinedVariables(page)).toEqual([]);
    },
  );

  it.each(pages)('%s names commands and options that windlass has', (page) => {
    const commands = commandsOf(page)
      .map((command) => command.replace(/(^|\s)#\s.*$/, ''))
      .filter((command) => !/npx |nats |helm |kubectl |source |login=|install /.test(command));
    expect(commands.flatMap(unknownWords)).toEqual([]);
  });

  it.each(pages)('%s lets curl show the body of an error', (page) => {
    const calls = commandsOf(page).filter((command) => /(^|[\s($|])curl\s/.test(command) && !command.startsWith('#'));
    expect(calls.filter((command) => !command.includes('--fail-with-body'))).toEqual([]);
  });

  it.each(pages)('%s writes keys and tokens to files that only their owner reads', (page) => {
    const writes = commandsOf(page).filter((command) => />\s*\S*(token|key\.pem|\.key|secret)\b/.test(command));
    expect(writes.filter((command) => !command.includes('umask 077'))).toEqual([]);
  });
});
