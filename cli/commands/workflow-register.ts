import { Command, Option } from 'commander';
import { conditionTypes } from '../../crds/conditions.ts';
import { globalNamespace } from '../../crds/labels.ts';
import type { Condition } from '../../crds/schema/condition.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { workflows } from '../../lib/kinds.ts';
import { registerWorkflow } from '../../lib/registration/index.ts';
import { parseTimeout } from '../duration.ts';
import { CliError, type ExitCode, exitCodes } from '../exit-codes.ts';
import { examples, type Launch, ok, type Run } from '../launch.ts';
import { isUsable, readWorkflowFiles } from '../manifest-files.ts';
import { printedList } from '../print-object.ts';
import type { Session } from '../session.ts';
import { report } from './workflow-validate.ts';

interface RegisterOptions {
  readonly force?: boolean;
  readonly scope?: 'tenant' | 'global';
  readonly wait?: boolean;
  readonly timeout: string;
}

export function workflowRegisterCommand(launch: Launch): Command {
  return new Command('register')
    .summary('create or update workflows')
    .description(
      'Creates or updates workflows from files in either form. All files are checked first; when one has a problem, ' +
        'nothing is written. Registering the same content again changes nothing. A version that exists with other ' +
        'content is refused, unless forced.',
    )
    .argument('<file...>', 'files or directories; - reads standard input')
    .option('--force', 'replace a version that exists with other content')
    .addOption(new Option('--scope <scope>', `global writes to ${globalNamespace}`).choices(['tenant', 'global']))
    .option('--wait', 'wait until the controller has accepted them')
    .option('--timeout <duration>', 'with --wait: give up after this time', '30s')
    .addHelpText(
      'after',
      examples('windlass workflow register review.yaml --wait', 'windlass workflow register workflows/ --scope global'),
    )
    .action(launch(register));
}

const register: Run<RegisterOptions> = async (session, paths, options): Promise<ExitCode> => {
  const timeoutMs = parseTimeout(options.timeout);
  const found = await readWorkflowFiles(
    session,
    paths.filter((path) => path !== undefined),
  );
  const usable = found.filter(isUsable);
  if (usable.length < found.length) {
    report(session, found);
    return exitCodes.failed;
  }
  const { kube, namespace: own } = await session.cluster();
  const namespace = options.scope === 'global' ? globalNamespace : own;
  const written: Workflow[] = [];
  for (const { workflow } of usable) {
    const { kind, object } = await registerWorkflow({ kube }, workflow, { namespace, force: options.force === true });
    if (options.wait) await accepted(session, object, timeoutMs);
    if (session.format === undefined || session.format === 'wide') {
      session.terminal.out(`workflow ${object.metadata.name} ${object.spec.version} ${kind} in ${namespace}`);
    }
    written.push(object);
  }
  await printedList(session, written);
  return ok;
};

const lookAgainMs = 200;

/** Resolves when the controller has accepted this generation; throws what it refuses, or a timeout. */
async function accepted(session: Session, { metadata }: Workflow, timeoutMs: number): Promise<void> {
  const { kube } = await session.cluster();
  const deadline = session.clock.now() + timeoutMs;
  const { name, namespace, generation = 0 } = metadata;
  for (;;) {
    const verdict = readyOf(await kube.get(workflows, { namespace, name }), generation);
    if (verdict?.status === 'True') return;
    if (verdict?.status === 'False') {
      throw new CliError('failed', `workflow ${name} was refused: ${verdict.reason}: ${verdict.message}`);
    }
    if (session.interrupted.aborted || session.clock.now() >= deadline) {
      throw new CliError('timeout', `no controller has looked at workflow ${name}`, 'Do the controllers run?');
    }
    await session.clock.sleep(lookAgainMs, session.interrupted);
  }
}

/** The condition Ready, where it speaks of this generation or a later one. */
function readyOf({ status }: Workflow, generation: number): Condition | undefined {
  const ready = status?.conditions?.find(({ type }) => type === conditionTypes.ready);
  return ready !== undefined && (ready.observedGeneration ?? -1) >= generation ? ready : undefined;
}
