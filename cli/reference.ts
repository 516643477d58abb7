import type { Argument, Command, Option } from 'commander';
import { type ExitName, exitCodes, exitMeanings } from './exit-codes.ts';
import { launchNothing } from './launch.ts';
import { createProgram, pathOf, withChildren } from './program.ts';

/** The reference page of the command line, made from the tree of commands that also makes `--help`. */
export function cliReference(): string {
  const program = createProgram(launchNothing);
  const commands = program.commands.flatMap(withChildren).filter(isShown);
  return [
    '# Command line',
    '',
    '<!-- Generated from cli/ by "npm run generate". Change the sources there, not this file. -->',
    '',
    '`windlass` works straight against the Kubernetes API, with the rights of the kubeconfig. With',
    '`--server` it works through the HTTP API, with the rights of a token ([how](../cli.md)). Installed as `kubectl-windlass` on the',
    '`PATH` it is also `kubectl windlass`.',
    '',
    '## Options of every command',
    '',
    ...optionTable(program.options),
    '',
    '## Exit codes',
    '',
    '| Code | Meaning |',
    '| --- | --- |',
    ...Object.entries(exitCodes).map(([name, code]) => `| ${code} | ${cell(exitMeanings[name as ExitName])} |`),
    '',
    'An error is one line `error: …` on standard error, its facts below it, and a line that says what to do. With',
    '`WINDLASS_DEBUG` set the stack of an unexpected error is shown as well. Colours follow `NO_COLOR` and',
    '`FORCE_COLOR`.',
    ...commands.flatMap(commandSection),
    '',
  ].join('\n');
}

/** Groups such as `windlass tenant` have no page of their own: their commands do. */
function isShown(command: Command): boolean {
  return !command.name().startsWith('__') && command.commands.length === 0;
}

function commandSection(command: Command): string[] {
  const { options, registeredArguments: args } = command;
  return [
    '',
    `## ${pathOf(command)}`,
    '',
    command.description(),
    '',
    '```',
    `${pathOf(command)} ${command.usage()}`,
    '```',
    ...(args.length > 0 ? ['', '| Argument | Meaning |', '| --- | --- |', ...args.map(argumentRow)] : []),
    ...(options.length > 0 ? ['', ...optionTable(options)] : []),
    ...exampleLines(command),
  ];
}

function argumentRow(argument: Argument): string {
  const choices = argument.argChoices ? `: ${argument.argChoices.join(', ')}` : '';
  return `| \`${argument.name()}\` | ${cell(argument.description + choices)} |`;
}

function optionTable(options: readonly Option[]): string[] {
  return ['| Option | Meaning |', '| --- | --- |', ...options.filter(({ hidden }) => !hidden).map(optionRow)];
}

function optionRow({ flags, description, argChoices, defaultValue }: Option): string {
  const choices = argChoices ? `: ${argChoices.join(', ')}` : '';
  const preset = defaultValue === undefined ? '' : `; default ${String(defaultValue)}`;
  return `| \`${flags}\` | ${cell(description + choices + preset)} |`;
}

/** The examples of `--help`, which commander prints when it is asked for the text after the options. */
function exampleLines(command: Command): string[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const lines = help.split('\nExamples:\n')[1]?.trimEnd().split('\n') ?? [];
  return lines.length === 0 ? [] : ['', '```sh', ...lines.map((line) => line.trim()), '```'];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
