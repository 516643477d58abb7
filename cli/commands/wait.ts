import { Command, Option } from 'commander';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Phase } from '../../crds/schema/workflow-execution-status.ts';
import { finished } from '../../lib/execution/finished.ts';
import { parseTimeout } from '../duration.ts';
import { type ExitCode, exitCodeOfPhase, exitCodes, phaseNames } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedObject } from '../print-object.ts';
import { interrupted, waitFor, waitToEnd } from '../run-to-end.ts';

interface WaitOptions {
  readonly timeout?: string;
  readonly for?: Phase;
}

export function waitCommand(launch: CliLaunch): Command {
  return new Command('wait')
    .summary('wait until an execution ends or reaches a phase')
    .description(
      'Waits until an execution ends and prints its output; the exit code tells how it ended. With --for it waits for ' +
        'that phase instead, and an end in another phase is an error.',
    )
    .argument('<execution>', 'name or uid of the execution')
    .option('--timeout <duration>', 'give up after this time, such as 90s, 5m or 1h30m')
    .addOption(new Option('--for <phase>', 'wait for this phase').choices(phaseNames))
    .addHelpText(
      'after',
      examples('windlass wait review-x7k2p --timeout 10m', 'windlass wait review-x7k2p --for waiting'),
    )
    .action(launch(wait));
}

const wait: Run<WaitOptions> = async (context, [name = ''], options): Promise<ExitCode> => {
  const timeoutMs = options.timeout === undefined ? undefined : parseTimeout(options.timeout);
  const backend = await context.backend();
  const execution = await backend.executions.read(name);
  const phase = options.for;
  if (phase === undefined) return waitToEnd(context, execution, timeoutMs);
  const until = (latest: WorkflowExecution) => phaseOf(latest) === phase || finished(latest);
  const reached = await waitFor(context, execution, { until, timeoutMs });
  if (reached === undefined) return interrupted(context, backend, execution);
  const end = phaseOf(reached);
  const { name: shown } = execution.metadata;
  if (end === phase) {
    if (!(await printedObject(context, reached))) context.terminal.out(`${shown} is ${phase}`);
    return ok;
  }
  context.terminal.note(`error: ${shown} ended as ${end} and will never be ${phase}`);
  return end === 'completed' ? exitCodes.conflict : exitCodeOfPhase(end);
};

const phaseOf = (execution: WorkflowExecution): Phase => execution.status?.phase ?? 'pending';
