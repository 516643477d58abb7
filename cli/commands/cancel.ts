import { Command } from 'commander';
import type { Cancel } from '../../crds/schema/workflow-execution.ts';
import { commitCancel } from '../../lib/decision/commit-cancel.ts';
import type { ExitCode } from '../exit-codes.ts';
import { findExecution } from '../find-execution.ts';
import { examples, type Launch, ok, type Run } from '../launch.ts';
import { printedObject } from '../print-object.ts';

interface CancelOptions {
  readonly reason?: string;
}

export function cancelCommand(launch: Launch): Command {
  return new Command('cancel')
    .summary('stop an execution')
    .description(
      'Stops an execution, its child executions and their pods. It is recorded who did it. Cancelling again changes ' +
        'nothing; an execution that has ended cannot be cancelled.',
    )
    .argument('<execution>', 'name or uid of the execution')
    .option('--reason <text>', 'why')
    .addHelpText('after', examples("windlass cancel review-x7k2p --reason 'wrong branch'"))
    .action(launch(cancel));
}

const cancel: Run<CancelOptions> = async (session, [name = ''], { reason }): Promise<ExitCode> => {
  const { kube, namespace } = await session.cluster();
  const [execution, user] = await Promise.all([findExecution({ kube, namespace }, name), kube.whoAmI()]);
  const at = new Date(session.clock.now()).toISOString();
  const wanted: Cancel = { by: user.username, at, ...(reason === undefined ? {} : { reason }) };
  const earlier = execution.spec.cancel;
  const cancelled = await commitCancel(kube, execution, wanted);
  if (await printedObject(session, cancelled)) return ok;
  const by = earlier ? ` was already cancelled by ${earlier.by} at ${earlier.at}` : ' cancelled';
  session.terminal.out(`${execution.metadata.name}${by}`);
  return ok;
};
