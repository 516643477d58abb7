import { Command, Option } from 'commander';
import type { ListAgentExecutionsReply } from '../../client/index.ts';
import { limits } from '../../crds/limits.ts';
import { allPages } from '../backends/http/all-pages.ts';
import { formatAge } from '../duration.ts';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedValue, serialised } from '../print-object.ts';
import { type Column, tableLines } from '../table.ts';

type Row = ListAgentExecutionsReply['executions'][number];
type Phase = Row['status'];
const phases: readonly Phase[] = ['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'];

interface ListOptions {
  readonly agent?: string;
  readonly phase?: Phase;
  readonly archived?: boolean;
}

export function execListCommand(launch: CliLaunch): Command {
  return new Command('list')
    .alias('ls')
    .summary('list executions of agents')
    .description('Lists executions of agents, the newest first. HTTP API only.')
    .option('--agent <agent>', 'only those of this agent, by name or id')
    .addOption(new Option('--phase <phase>', 'only those in this phase').choices([...phases]))
    .option('--archived', 'what the archive holds, also of executions that are gone')
    .addHelpText('after', examples('windlass exec list --agent reviewer', 'windlass exec list --phase running'))
    .action(launch(list));
}

export function execGetCommand(launch: CliLaunch): Command {
  return new Command('get')
    .summary('show one execution of an agent')
    .description('Shows an execution with its input and outcome, by default as YAML. HTTP API only.')
    .argument('<execution>', 'id or name of the execution')
    .addHelpText('after', examples('windlass exec get reviewer-0b9f2c1e11 -o json'))
    .action(launch(get));
}

export function execCancelCommand(launch: CliLaunch): Command {
  return new Command('cancel')
    .summary('stop an execution of an agent')
    .description('Stops an execution and its pod. Cancelling again changes nothing. HTTP API only.')
    .argument('<execution>', 'id or name of the execution')
    .option('--reason <text>', 'why')
    .addHelpText('after', examples("windlass exec cancel reviewer-0b9f2c1e11 --reason 'wrong branch'"))
    .action(launch(cancel));
}

const list: Run<ListOptions> = async (context, _, { agent, phase: status, archived }): Promise<ExitCode> => {
  const backend = await context.backend();
  const runs = backend.agentRuns();
  const rows = await allPages(async (cursor) => {
    const page = await runs.listAgentExecutions({ cursor, limit: limits.pageSizeMax, agent, status, archived });
    return { rows: page.executions, next: page.next_cursor };
  });
  if (await printedValue(context, rows)) return ok;
  if (context.format === 'name') {
    for (const { execution_id: id } of rows) context.terminal.out(id);
    return ok;
  }
  if (rows.length === 0)
    context.terminal.note(`no ${archived === true ? 'archived ' : ''}executions of agents ${backend.words.place}`);
  else
    for (const line of tableLines(columnsAt(context.clock.now()), rows, context.format === 'wide'))
      context.terminal.out(line);
  return ok;
};

const columnsAt = (now: number): Column<Row>[] => [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'AGENT', cell: ({ agent }) => agent },
  { heading: 'STATUS', cell: ({ status }) => status },
  { heading: 'ITERATIONS', cell: ({ iterations }) => iterations },
  { heading: 'TOOL CALLS', cell: ({ tool_calls: calls }) => calls },
  { heading: 'COST USD', cell: ({ cost_usd: cost }) => cost, wide: true },
  { heading: 'AGE', cell: ({ created_at: at }) => formatAge(at, now) },
  { heading: 'ID', cell: ({ execution_id: id }) => id },
];

const get: Run<object> = async (context, [id = '']): Promise<ExitCode> => {
  const backend = await context.backend();
  const execution = await backend.agentRuns().readAgentExecution({ execution_id: id });
  if (context.format === 'name') context.terminal.out(execution.execution_id);
  else if (!(await printedValue(context, execution))) context.terminal.out(await serialised(execution, 'yaml'));
  const { model, output_tokens: tokens = 0, cost_usd: cost } = execution;
  if (model !== undefined && tokens > 0 && cost === undefined)
    context.terminal.note(`cost unknown: the node configuration has no price of ${model}`);
  return ok;
};

const cancel: Run<{ readonly reason?: string }> = async (context, [id = ''], { reason }): Promise<ExitCode> => {
  const backend = await context.backend();
  const answer = await backend.agentRuns().cancelAgentExecution({ execution_id: id, body: { reason } });
  if (await printedValue(context, answer)) return ok;
  context.terminal.out(`${id} ${answer.status}`);
  return ok;
};
