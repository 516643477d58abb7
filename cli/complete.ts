import type { Command, Option } from 'commander';

/** Candidates at the cursor: words, names the cluster knows, or files. */
export interface Completion {
  readonly words: readonly string[];
  readonly names?: 'execution' | 'workflow' | 'tenant' | 'namespace' | 'state';
  readonly files?: boolean;
  /** Positional arguments before the cursor, for names that depend on them. */
  readonly before: readonly string[];
  /** Values of options before the cursor, such as `namespace`, by their name in commander. */
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Candidates that may follow the words typed so far, the last of which is being typed and may be empty. Pure: it
 * reads the tree of commands only; its caller looks names up.
 */
export function complete(program: Command, typed: readonly string[]): Completion {
  const current = typed.at(-1) ?? '';
  const { command, operands, waiting, values } = walk(program, typed.slice(0, -1));
  const chain = [command, ...ancestors(command)];
  if (waiting) return { ...valuesOf(waiting), before: operands, values };
  if (current.startsWith('-')) {
    const shown = chain.flatMap(({ options }) => options).filter(({ hidden }) => !hidden);
    const flags = shown.flatMap(({ short, long }) => [long, short]);
    return { words: [...flags.filter((flag) => flag !== undefined), '--help'], before: operands, values };
  }
  const subcommands = visible(command).map((child) => child.name());
  return { words: subcommands, ...argumentOf(command, operands), before: operands, values };
}

interface Place {
  readonly command: Command;
  readonly operands: readonly string[];
  /** The option whose value is being typed. */
  readonly waiting: Option | undefined;
  readonly values: Readonly<Record<string, string>>;
}

function walk(program: Command, words: readonly string[]): Place {
  let command = program;
  let waiting: Option | undefined;
  const operands: string[] = [];
  const values: Record<string, string> = {};
  for (const word of words) {
    if (waiting !== undefined) {
      values[waiting.attributeName()] = word;
      waiting = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      waiting = optionAwaitingValue(command, word);
      continue;
    }
    const child = command.commands.find((candidate) => isCalled(candidate, word));
    if (child === undefined) operands.push(word);
    command = child ?? command;
  }
  return { command, operands, waiting, values };
}

function isCalled(command: Command, word: string): boolean {
  return command.name() === word || command.aliases().includes(word);
}

/** The option of this flag where its value is still to come. */
function optionAwaitingValue(command: Command, word: string): Option | undefined {
  const option = word.includes('=') ? undefined : optionOf(command, word);
  return option?.required || option?.optional ? option : undefined;
}

function optionOf(command: Command, word: string): Option | undefined {
  const options = [command, ...ancestors(command)].flatMap((each) => each.options);
  return options.find(({ short, long }) => word === long || word === short);
}

function ancestors(command: Command): Command[] {
  return command.parent ? [command.parent, ...ancestors(command.parent)] : [];
}

function visible(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help');
}

const namesOfOption: Readonly<Record<string, Completion['names']>> = {
  '--namespace': 'namespace',
  '--release-namespace': 'namespace',
  '--workflow': 'workflow',
  '--state': 'state',
  '--from': 'state',
};
const fileOptions = new Set(['--kubeconfig', '--input-file', '--token-file']);

function valuesOf({ argChoices, long = '' }: Option): Pick<Completion, 'words' | 'names' | 'files'> {
  if (argChoices) return { words: argChoices };
  return { words: [], names: namesOfOption[long ?? ''], files: fileOptions.has(long ?? '') };
}

const namesOfArgument: Readonly<Record<string, Completion['names']>> = {
  execution: 'execution',
  workflow: 'workflow',
  slug: 'tenant',
  state: 'state',
};

function argumentOf(
  command: Command,
  operands: readonly string[],
): Pick<Completion, 'names' | 'files'> & {
  readonly words?: readonly string[];
} {
  const declared = command.registeredArguments;
  const argument = declared[operands.length] ?? declared.findLast(({ variadic }) => variadic);
  if (argument === undefined) return {};
  if (argument.argChoices) return { words: argument.argChoices };
  if (argument.name() === 'slug' && command.name() === 'create') return {};
  return { names: namesOfArgument[argument.name()], files: argument.name() === 'file' };
}
