import { Command } from 'commander';
import type { PendingApproval } from '../backends/backend.ts';
import { formatAge } from '../duration.ts';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedValue } from '../print-object.ts';
import { type Column, tableLines } from '../table.ts';

export function approvalsCommand(launch: CliLaunch): Command {
  return new Command('approvals')
    .summary('list what waits for a decision')
    .description(
      'Lists the executions of workflows and agents that wait for a decision and what they ask, the longest waiting first.',
    )
    .addHelpText('after', examples('windlass approvals', 'windlass approvals -o name | xargs -n 1 windlass approve'))
    .action(launch(approvals));
}

const approvals: Run<object> = async (context): Promise<ExitCode> => {
  const { executions, calls, words } = await context.backend();
  const asked = await Promise.all([executions.questions(), calls.questions()]);
  const questions = asked.flat().toSorted((a, b) => (a.since < b.since ? -1 : 1));
  if (await printedValue(context, questions)) return ok;
  if (context.format === 'name') {
    for (const { execution } of questions) context.terminal.out(execution);
    return ok;
  }
  if (questions.length === 0) context.terminal.note(`nothing waits for a decision ${words.place}`);
  const columns = columnsAt(context.clock.now());
  const lines = questions.length === 0 ? [] : tableLines(columns, questions, context.format === 'wide');
  for (const line of lines) context.terminal.out(line);
  return ok;
};

function columnsAt(now: number): Column<PendingApproval>[] {
  return [
    { heading: 'EXECUTION', cell: ({ execution }) => execution },
    { heading: 'STATE', cell: ({ state }) => state },
    { heading: 'WAITING', cell: ({ since }) => formatAge(since, now) },
    { heading: 'PROMPT', cell: ({ prompt }) => prompt },
    { heading: 'UID', cell: ({ execution_id: id }) => id, wide: true },
  ];
}
