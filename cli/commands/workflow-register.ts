import { Command } from 'commander';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowScope } from '../../lib/workflow-lookup/scope.ts';
import { workflowName } from '../../lib/manifest/object-name.ts';
import type { Backend } from '../backends/backend.ts';
import { parseTimeout } from '../duration.ts';
import { CliError, type ExitCode, exitCodes } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { isUsable, readWorkflowFiles } from '../manifest-files.ts';
import { noteWarnings } from '../note-warnings.ts';
import { printedList } from '../print-object.ts';
import type { CommandContext } from '../command-context.ts';
import { scopeOption } from './scope-option.ts';
import { noteProblems } from './workflow-validate.ts';

interface RegisterOptions {
  readonly force?: boolean;
  readonly scope?: WorkflowScope;
  readonly wait?: boolean;
  readonly timeout: string;
}

export function workflowRegisterCommand(launch: CliLaunch): Command {
  return new Command('register')
    .summary('create or update workflows')
    .description(
      'Creates or updates workflows from files in either form. All files are checked first; when one has a problem, ' +
        'nothing is written. Registering the same content again changes nothing. A version that exists with other ' +
        'content is refused, unless forced.',
    )
    .argument('<file...>', 'files or directories; - reads standard input')
    .option('--force', 'replace a version that exists with other content')
    .addOption(scopeOption('whom they are for: you, your tenant (the default) or every tenant'))
    .option('--wait', 'wait until the controller has accepted them')
    .option('--timeout <duration>', 'with --wait: give up after this time', '30s')
    .addHelpText(
      'after',
      examples('windlass workflow register review.yaml --wait', 'windlass workflow register workflows/ --scope global'),
    )
    .action(launch(register));
}

const register: Run<RegisterOptions> = async (context, paths, options): Promise<ExitCode> => {
  const timeoutMs = parseTimeout(options.timeout);
  const found = await readWorkflowFiles(context, paths);
  const usable = found.filter(isUsable);
  if (usable.length < found.length) {
    noteProblems(context, found);
    return exitCodes.failed;
  }
  const backend = await context.backend();
  const { scope = 'tenant', force = false } = options;
  const written: Workflow[] = [];
  for (const { workflow } of usable) {
    const { result, workflow: object, where, warnings } = await backend.workflows.register(workflow, { scope, force });
    noteWarnings(context.terminal, `workflow ${workflowName(object.metadata)}`, warnings);
    if (options.wait) await accepted(context, backend, object, timeoutMs);
    if (context.format === undefined || context.format === 'wide') {
      context.terminal.out(`workflow ${workflowName(object.metadata)} ${object.spec.version} ${result} ${where}`);
    }
    written.push(object);
  }
  await printedList(context, written);
  return ok;
};

const lookAgainMs = 200;

/** Resolves when the controllers have accepted what was registered; throws what they refuse, or a timeout. */
async function accepted(
  context: CommandContext,
  backend: Backend,
  workflow: Workflow,
  timeoutMs: number,
): Promise<void> {
  const deadline = context.clock.now() + timeoutMs;
  const name = workflowName(workflow.metadata);
  for (;;) {
    const verdict = await backend.workflows.verdict(workflow);
    if (verdict?.accepted) return;
    if (verdict !== undefined) {
      throw new CliError('failed', `workflow ${name} was refused: ${verdict.reason}: ${verdict.message}`);
    }
    if (context.interrupted.aborted || context.clock.now() >= deadline) {
      throw new CliError('timeout', `no controller has looked at workflow ${name}`, 'Do the controllers run?');
    }
    await context.clock.sleep(lookAgainMs, context.interrupted);
  }
}
