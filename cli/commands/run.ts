import { Command } from 'commander';
import { apiVersion, labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { specOfVersion } from '../../lib/registration/index.ts';
import { parseTimeout } from '../duration.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { findWorkflow, workflowName } from '../find-workflow.ts';
import { assertInput } from '../input-problems.ts';
import { examples, type Launch, ok, type Run, repeatable } from '../launch.ts';
import { namespaceFlag } from '../namespace-flag.ts';
import { parsePairs } from '../parse-pairs.ts';
import { printedObject } from '../print-object.ts';
import { type InputOptions, readInput } from '../run-input.ts';
import { waitToEnd, watchToEnd } from '../run-to-end.ts';
import type { Session } from '../session.ts';

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

export function runCommand(launch: Launch): Command {
  return new Command('run')
    .summary('start a workflow')
    .description(
      'Starts a workflow of this namespace or, failing that, a global one. The input is checked against its ' +
        'input_schema before anything is created.\n\nA value that is JSON is taken as JSON, anything else is a ' +
        'string: n=3 is a number, n=\'"3"\' is a string.',
    )
    .argument('<workflow>', 'name or uid of the workflow')
    .option('-i, --input <key=value>', 'one key of the input; may be repeated', repeatable)
    .option('--input-file <file>', 'the input as a JSON or YAML object; - reads standard input; --input overrides keys')
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
        "windlass run triage --intent 'find the slow query' --blackboard owner=dba -o name",
      ),
    )
    .action(launch(run));
}

const run: Run<RunOptions> = async (session, [name = ''], options): Promise<ExitCode> => {
  assertTogether(options);
  const timeoutMs = options.timeout === undefined ? undefined : parseTimeout(options.timeout);
  const input = await readInput(session.files, options);
  const { kube, namespace } = await session.cluster();
  const workflow = await findWorkflow({ kube, namespace }, name);
  const spec = await specOfVersion(kube, workflow, options.version);
  await assertInput(spec.input_schema, input ?? {});
  const created = await kube.create(
    workflowExecutions,
    executionOf(workflowName(workflow), { ...options, namespace, input, objectName: workflow.metadata.name }),
  );
  if (!options.wait && !options.watch) return started(session, created);
  session.terminal.note(`execution ${created.metadata.name} started`);
  if (options.watch) return watchToEnd(session, created.metadata);
  return waitToEnd(session, created.metadata, timeoutMs);
};

interface ExecutionOptions extends Omit<RunOptions, 'input'> {
  readonly namespace: string;
  readonly objectName: string;
  readonly input: WorkflowExecution['spec']['input'];
}

/** The object to create. Without a name the API server adds a suffix of its own to the workflow's. */
export function executionOf(workflow: string, options: ExecutionOptions): WorkflowExecution {
  const { namespace, input, intent, version, name } = options;
  const ttl = options.ttl === undefined ? undefined : Math.ceil(parseTimeout(options.ttl) / 1000);
  const blackboard = options.blackboard && parsePairs(options.blackboard, '--blackboard');
  const named = name === undefined ? { name: '', generateName: `${options.objectName}-` } : { name };
  return {
    apiVersion,
    kind: 'WorkflowExecution',
    metadata: { ...named, namespace, labels: { [labels.workflow]: options.objectName } },
    spec: defined({ workflow, version, input, intent, blackboard, ttl_seconds_after_finished: ttl }),
  };
}

function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

function assertTogether({ wait, watch, timeout }: RunOptions): void {
  if (wait && watch) throw new CliError('usage', '--wait and --watch exclude each other', 'Keep one of them.');
  if (timeout !== undefined && !wait) throw new CliError('usage', '--timeout bounds --wait', 'Add --wait.');
}

async function started(session: Session, created: WorkflowExecution): Promise<ExitCode> {
  if (await printedObject(session, created)) return ok;
  const { name } = created.metadata;
  session.terminal.out(`execution ${name} started`);
  if (session.terminal.live)
    session.terminal.note(`Watch it: windlass get ${name} --watch${namespaceFlag(created.metadata)}`);
  return ok;
}
