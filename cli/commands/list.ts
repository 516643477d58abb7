import { Command, Option } from 'commander';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { columnsAt, namespaceColumn } from '../execution-columns.ts';
import { type ExitCode, phaseNames } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedList } from '../print-object.ts';
import { tableLines } from '../table.ts';

interface ListOptions {
  readonly allNamespaces?: boolean;
  readonly workflow?: string;
  readonly phase?: string;
  readonly selector?: string;
  readonly archived?: boolean;
}

export function listCommand(launch: CliLaunch): Command {
  return new Command('list')
    .alias('ls')
    .summary('list executions, the newest first')
    .description('Lists executions, the newest first.')
    .option('-A, --all-namespaces', 'of every namespace')
    .option('--workflow <name>', 'only of this workflow')
    .addOption(new Option('--phase <phase>', 'only in this phase').choices(phaseNames))
    .option('-l, --selector <labels>', 'only with these labels, as KEY=VALUE,…')
    .option('--archived', 'what the archive holds, also of executions that are gone (with --server)')
    .addHelpText(
      'after',
      examples('windlass list --phase waiting', 'windlass list -A -o wide', 'windlass list --workflow review -o name'),
    )
    .action(launch(list));
}

const list: Run<ListOptions> = async (context, _, options): Promise<ExitCode> => {
  const { executions, words } = await context.backend();
  const { allNamespaces: everywhere = false, ...filter } = options;
  const found = await executions.list({ everywhere, ...filter });
  const shown = found.toSorted(newestFirst);
  if (await printedList(context, shown)) return ok;
  if (shown.length === 0) {
    context.terminal.note(
      `no ${filter.archived === true ? 'archived ' : ''}executions ${everywhere ? 'in any namespace' : words.place}`,
    );
    return ok;
  }
  const columns = everywhere ? [namespaceColumn, ...columnsAt(context.clock.now())] : columnsAt(context.clock.now());
  for (const line of tableLines(columns, shown, context.format === 'wide')) context.terminal.out(line);
  return ok;
};

function newestFirst(a: WorkflowExecution, b: WorkflowExecution): number {
  const [first, second] = [a, b].map(({ metadata }) => metadata.creationTimestamp ?? '');
  if (first !== second) return (second ?? '') < (first ?? '') ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
