import { Command, Option } from 'commander';
import type { WorkflowScope } from '../../lib/workflow-lookup/scope.ts';
import type { Moved } from '../backends/backend.ts';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedValue } from '../print-object.ts';
import type { CommandContext } from '../command-context.ts';
import { scopeOption } from './scope-option.ts';

interface MoveOptions<To extends WorkflowScope> {
  readonly to?: To;
  readonly force?: boolean;
}

export function workflowDeleteCommand(launch: CliLaunch): Command {
  return new Command('delete')
    .summary('delete a workflow')
    .description('Deletes a workflow with all its versions. Executions under way keep the content of their start.')
    .argument('<workflow>', 'name or uid of the workflow')
    .addOption(scopeOption('only if it has this scope'))
    .addHelpText('after', examples('windlass workflow delete review', 'windlass workflow delete review --scope global'))
    .action(launch(remove));
}

export function workflowPromoteCommand(launch: CliLaunch): Command {
  return new Command('promote')
    .summary('let more people run a workflow')
    .description(
      'Moves a workflow with all its versions to a wider scope; through the HTTP API only. By name it is the one of ' +
        'the nearest narrower scope. Executions under way are not touched.',
    )
    .argument('<workflow>', 'name or uid of the workflow')
    .addOption(new Option('--to <scope>', 'the scope to move to; by default global').choices(['tenant', 'global']))
    .option('--force', 'also over another workflow of that name')
    .addHelpText('after', examples('windlass workflow promote review', 'windlass workflow promote review --to tenant'))
    .action(launch(promote));
}

export function workflowDemoteCommand(launch: CliLaunch): Command {
  return new Command('demote')
    .summary('let fewer people run a workflow')
    .description(
      'Moves a workflow with all its versions to a narrower scope; through the HTTP API only. By name it is the one of ' +
        'the nearest wider scope. Executions under way are not touched.',
    )
    .argument('<workflow>', 'name or uid of the workflow')
    .addOption(new Option('--to <scope>', 'the scope to move to; by default tenant').choices(['user', 'tenant']))
    .option('--force', 'also over another workflow of that name')
    .addHelpText('after', examples('windlass workflow demote review', 'windlass workflow demote review --to user'))
    .action(launch(demote));
}

const remove: Run<{ readonly scope?: WorkflowScope }> = async (context, [name = ''], { scope }): Promise<ExitCode> => {
  const { workflows } = await context.backend();
  const deleted = await workflows.delete(name, scope);
  if (await printedValue(context, { workflow: deleted, deleted: true })) return ok;
  context.terminal.out(context.format === 'name' ? deleted : `workflow ${deleted} deleted`);
  return ok;
};

const promote: Run<MoveOptions<'tenant' | 'global'>> = async (context, [name = ''], { to, force = false }) => {
  const { workflows } = await context.backend();
  return printMove(context, await workflows.promote(name, { to, force }));
};

const demote: Run<MoveOptions<'user' | 'tenant'>> = async (context, [name = ''], { to, force = false }) => {
  const { workflows } = await context.backend();
  return printMove(context, await workflows.demote(name, { to, force }));
};

async function printMove(context: CommandContext, moved: Moved): Promise<ExitCode> {
  if (await printedValue(context, moved)) return ok;
  context.terminal.out(`workflow ${moved.name} ${moved.version} is now at ${moved.scope} scope`);
  return ok;
}
