import { Command } from 'commander';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { StartRequest } from '../backends/backend.ts';
import { parseTimeout } from '../duration.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { assertInput } from '../input-problems.ts';
import { examples, type CliLaunch, ok, type Run, repeatable } from '../launch.ts';
import { parsePairs } from '../parse-pairs.ts';
import { printedObject } from '../print-object.ts';
import { type InputOptions, readInput } from '../run-input.ts';
import { waitToEnd, watchToEnd } from '../run-to-end.ts';
import type { CommandContext } from '../command-context.ts';

interface RunOptions extends InputOptions {
  readonly intent?: string;
  readonly blackboard?: readonly string[];
  readonly version?: string;
  readonly name?: string;
  readonly ttl?: string;
  readonly wait?: boolean;
  readonly watch?: boolean;
  readonly timeout?: string;
}

export function runCommand(launch: CliLaunch): Command {
  return new Command('run')
    .summary('start a workflow')
    .description(
      'Starts a workflow of this namespace or, failing that, a global one. The input is checked against its ' +
        'input_schema before anything is created.\n\nA value that is JSON is taken as JSON, anything else is a ' +
        'string: n=3 is a number, n=\'"3"\' is a string. An input that is no object becomes {input: …}.',
    )
    .argument('<workflow>', 'name or uid of the workflow')
    .option(
      '-i, --input <key=value>',
      'one key of the input; may be repeated; or once, the whole input as JSON',
      repeatable,
    )
    .option(
      '--input-file <file>',
      'the input as JSON or YAML; - reads standard input; --input overrides keys of an object',
    )
    .option('--intent <text>', 'the purpose in natural language, {{intent}} in templates')
    .option('--blackboard <key=value>', 'one key that seeds the Blackboard; may be repeated', repeatable)
    .option('--version <version>', 'a stored version instead of the newest')
    .option('--name <name>', 'name of the execution; by default the name of the workflow and a suffix')
    .option('--ttl <duration>', 'delete the execution this long after its end')
    .option('--wait', 'wait for the end and print the output')
    .option('-w, --watch', 'show the states until the end, then the output')
    .option('--timeout <duration>', 'with --wait: give up waiting after this time')
    .addHelpText(
      'after',
      examples(
        'windlass run hello --input name=Ada --watch',
        'windlass run review --input-file input.yaml --input dry_run=true --wait --timeout 10m',
        "windlass run sum --input '[1, 2, 3]'",
        "windlass run triage --intent 'find the slow query' --blackboard owner=dba -o name",
      ),
    )
    .action(launch(run));
}

const run: Run<RunOptions> = async (context, [name = ''], options): Promise<ExitCode> => {
  assertTogether(options);
  const timeoutMs = options.timeout === undefined ? undefined : parseTimeout(options.timeout);
  const input = await readInput(context.files, options);
  const backend = await context.backend();
  const workflow = await backend.workflows.read(name, options.version);
  await assertInput(workflow.spec.input_schema, input ?? {});
  const created = await backend.executions.start({ ...requestOf(options), workflow, input });
  if (!options.wait && !options.watch) return started(context, created);
  context.terminal.note(`execution ${created.metadata.name} started`);
  if (options.watch) return watchToEnd(context, created);
  return waitToEnd(context, created, timeoutMs);
};

function requestOf({ intent, version, name, ttl, blackboard }: RunOptions): Omit<StartRequest, 'workflow' | 'input'> {
  return {
    version,
    intent,
    name,
    blackboard: blackboard && parsePairs(blackboard, '--blackboard'),
    ttlSeconds: ttl === undefined ? undefined : Math.ceil(parseTimeout(ttl) / 1000),
  };
}

function assertTogether({ wait, watch, timeout }: RunOptions): void {
  if (wait && watch) throw new CliError('usage', '--wait and --watch exclude each other', 'Keep one of them.');
  if (timeout !== undefined && !wait) throw new CliError('usage', '--timeout bounds --wait', 'Add --wait.');
}

/** Says that an execution began, and how to watch it. */
export async function started(context: CommandContext, created: WorkflowExecution): Promise<ExitCode> {
  const { words } = await context.backend();
  if (await printedObject(context, created)) return ok;
  const { name } = created.metadata;
  context.terminal.out(`execution ${name} started`);
  if (context.terminal.live) context.terminal.note(`Watch it: windlass get ${name} --watch${words.flags}`);
  return ok;
}
