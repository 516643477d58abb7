import { Argument, Command } from 'commander';
import { labels } from '../../crds/labels.ts';
import { namespaces } from '../../lib/kube/resource.ts';
import { type Completion, complete } from '../complete.ts';
import { completionScripts, type Shell, shells } from '../completion-scripts.ts';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import type { GlobalOptions, CommandContext } from '../command-context.ts';

export function completionCommand(launch: CliLaunch): Command {
  return new Command('completion')
    .summary('print the completion script of a shell')
    .description('Prints a script that completes commands, options, and names that the cluster knows.')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText(
      'after',
      examples(
        'source <(windlass completion bash)',
        'windlass completion zsh > ~/.zfunc/_windlass',
        'windlass completion fish > ~/.config/fish/completions/windlass.fish',
      ),
    )
    .action(launch(completion));
}

/**
 * The command that the scripts call at each press of the key, with the words typed so far, the last one being typed.
 */
export function completeCommand(launch: CliLaunch): Command {
  const command = new Command('__complete').argument('[words...]').allowUnknownOption().helpOption(false);
  const run: Run<object> = async (context, words) => {
    const program = root(command);
    const typed = words.map((word) => word ?? '');
    await print(context, complete(program, typed), typed.at(-1) ?? '');
    return ok;
  };
  return command.action(launch(run));
}

const completion: Run<object> = async ({ terminal }, [shell]): Promise<ExitCode> => {
  terminal.out(completionScripts[shell as Shell]);
  return ok;
};

function root(command: Command): Command {
  return command.parent ? root(command.parent) : command;
}

async function print(context: CommandContext, found: Completion, typed: string): Promise<void> {
  const names = found.names === undefined ? [] : await namesOf(context, found.names, found);
  const fitting = [...new Set([...found.words, ...names])].filter((word) => word.startsWith(typed));
  for (const word of fitting) context.terminal.out(word);
  if (found.files) context.terminal.out(':files');
}

type Names = NonNullable<Completion['names']>;
type Look = (
  context: CommandContext,
  options: GlobalOptions,
  before: readonly string[],
) => Promise<readonly (string | undefined)[]>;

/** An answer that takes longer comes too late for a user who waits at the key. */
const timeoutMs = 2_000;

const look: Readonly<Record<Names, Look>> = {
  execution: async ({ open }, options) => {
    const { executions } = await open.backend(options);
    return (await executions.list({ everywhere: false, timeoutMs })).map(({ metadata }) => metadata.name);
  },
  workflow: async ({ open }, options) => {
    const { workflows } = await open.backend(options);
    return (await workflows.list({ everywhere: false, timeoutMs })).map(({ name }) => name);
  },
  namespace: async ({ open }, options) => {
    const { kube } = await open.cluster(options);
    return (await kube.listAll(namespaces, { timeoutMs })).items.map(({ metadata }) => metadata.name);
  },
  tenant: async ({ open }, options) => {
    const { kube } = await open.cluster(options);
    const { items } = await kube.listAll(namespaces, { labelSelector: labels.tenant, timeoutMs });
    return items.map(({ metadata }) => metadata.labels?.[labels.tenant]);
  },
  state: async ({ open }, options, [name = '']) => {
    const { executions } = await open.backend(options);
    const { status } = await executions.read(name, { timeoutMs });
    return [...(status?.history ?? []).map(({ state }) => state), status?.current?.state];
  },
};

/** Never an error: a shell that completes must not print one. */
async function namesOf(context: CommandContext, names: Names, { before, values }: Completion): Promise<string[]> {
  try {
    const found = await look[names](context, values, before);
    return found.filter((name) => name !== undefined);
  } catch {
    return [];
  }
}
