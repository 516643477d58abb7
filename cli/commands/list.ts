import { Command, Option } from 'commander';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { formatAge, formatElapsed } from '../duration.ts';
import { type ExitCode, phaseNames } from '../exit-codes.ts';
import { examples, type Launch, ok, type Run } from '../launch.ts';
import { printedList } from '../print-object.ts';
import { type Column, tableLines } from '../table.ts';
import { workflowOf } from '../workflow-of.ts';

interface ListOptions {
  readonly allNamespaces?: boolean;
  readonly workflow?: string;
  readonly phase?: string;
  readonly selector?: string;
  readonly archived?: boolean;
}

export function listCommand(launch: Launch): Command {
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

const list: Run<ListOptions> = async (session, _, options): Promise<ExitCode> => {
  const { executions, words } = await session.door();
  const { allNamespaces: everywhere = false, ...filter } = options;
  const found = await executions.list({ everywhere, ...filter });
  const shown = found.toSorted(newestFirst);
  if (await printedList(session, shown)) return ok;
  if (shown.length === 0) {
    session.terminal.note(
      `no ${filter.archived === true ? 'archived ' : ''}executions ${everywhere ? 'in any namespace' : words.place}`,
    );
    return ok;
  }
  const columns = everywhere ? [namespaceColumn, ...columnsAt(session.clock.now())] : columnsAt(session.clock.now());
  for (const line of tableLines(columns, shown, session.format === 'wide')) session.terminal.out(line);
  return ok;
};

function newestFirst(a: WorkflowExecution, b: WorkflowExecution): number {
  const [first, second] = [a, b].map(({ metadata }) => metadata.creationTimestamp ?? '');
  if (first !== second) return (second ?? '') < (first ?? '') ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

const namespaceColumn: Column<WorkflowExecution> = {
  heading: 'NAMESPACE',
  cell: ({ metadata }) => metadata.namespace,
};

function columnsAt(now: number): Column<WorkflowExecution>[] {
  return [
    { heading: 'NAME', cell: ({ metadata }) => metadata.name },
    { heading: 'WORKFLOW', cell: workflowOf },
    { heading: 'PHASE', cell: ({ status }) => status?.phase ?? 'pending' },
    { heading: 'STATE', cell: ({ status }) => status?.current?.state ?? status?.state },
    { heading: 'TRANSITIONS', cell: ({ status }) => status?.transitions ?? 0 },
    { heading: 'AGE', cell: ({ metadata }) => formatAge(metadata.creationTimestamp, now) },
    { heading: 'VERSION', cell: ({ status, spec }) => status?.workflow?.version ?? spec.version, wide: true },
    { heading: 'ELAPSED', cell: (execution) => elapsed(execution, now), wide: true },
    { heading: 'REASON', cell: ({ status }) => status?.reason, wide: true },
    { heading: 'MESSAGE', cell: ({ status }) => status?.current?.waiting?.message ?? status?.message, wide: true },
    { heading: 'UID', cell: ({ metadata }) => metadata.uid, wide: true },
  ];
}

function elapsed({ status }: WorkflowExecution, now: number): string | undefined {
  if (status?.started_at === undefined) return undefined;
  const end = status.finished_at === undefined ? now : Date.parse(status.finished_at);
  return formatElapsed(end - Date.parse(status.started_at));
}
