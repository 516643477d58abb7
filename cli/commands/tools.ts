import { Command } from 'commander';
import { WindlassApiError } from '../../client/index.ts';
import { CliError, type ExitCode, exitCodes } from '../exit-codes.ts';
import { withGateway } from '../tool-gateway/gateway-option.ts';
import type { GatewayToolRow } from '../tool-gateway/kinds.ts';
import { judgedTools, type JudgedTool } from '../tool-gateway/judged-tools.ts';
import { readSessionFile } from '../tool-gateway/session-file.ts';
import { examples, type CliLaunch, ok, repeatable, type Run } from '../launch.ts';
import { printedValue } from '../print-object.ts';
import { type InputOptions, readInput } from '../run-input.ts';
import type { CommandContext } from '../command-context.ts';
import { type Column, tableLines } from '../table.ts';

interface ListOptions {
  readonly query?: string;
  readonly source?: string;
  readonly securityContext?: string;
}

interface CallOptions extends InputOptions {
  readonly sign?: string | true;
  readonly dryRun?: boolean;
}

export function toolsCommand(launch: CliLaunch): Command {
  return new Command('tools')
    .summary('list and call tools')
    .description('Lists the tools of the tool gateway, and calls them.')
    .addCommand(
      withGateway(new Command('list'))
        .alias('ls')
        .summary('list tools')
        .description(
          'Lists the tools that the tenant sees: built-in ones, tool workflows, CLI tools and those of MCP servers. READY is ' +
            'the verdict of the controllers on a tool workflow or CLI tool, with the reason where it is not True.',
        )
        .option('--query <words>', 'only tools whose name and description hold each of these words')
        .option('--source <source>', 'only tools of this source: workflow, cli, builtin or mcp')
        .option('--security-context <name>', 'only tools that this security context permits')
        .addHelpText('after', examples('windlass tools list', 'windlass tools list --source workflow -o wide'))
        .action(launch(list)),
    )
    .addCommand(callCommand(launch, 'windlass tools call'));
}

/** The same command under two names. */
export const callCommand = (launch: CliLaunch, words: string): Command =>
  withGateway(new Command('call'))
    .summary('call a tool')
    .description(
      'Signs one call with the key of a session, sends it to the tool gateway, and prints the answer. Exit code 1 says ' +
        'that the tool itself failed.',
    )
    .argument('<tool>', 'name of the tool')
    .option('--sign [file]', 'the file of the session that signs; by default session.json')
    .option('-i, --input <key=value>', 'an argument; can be repeated; JSON where it is JSON', repeatable)
    .option('--input-file <file>', 'arguments from a JSON or YAML file; - reads standard input')
    .option('--dry-run', 'print the envelope, and send nothing')
    .addHelpText(
      'after',
      examples(
        `${words} orders.place --sign session.json -i customer=ada -i item=tea -i quantity=2`,
        `${words} orders.place --sign --input-file order.json -o json`,
      ),
    )
    .action(launch(call));

const columns: readonly Column<JudgedTool>[] = [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'SOURCE', cell: ({ source }) => source },
  { heading: 'READY', cell: ({ ready }) => ready },
  { heading: 'DESCRIPTION', cell: ({ description }) => description, wide: true },
];

const list: Run<ListOptions> = async (context, _args, { query: q, source, securityContext }): Promise<ExitCode> => {
  const { client } = await context.gateway();
  // The server knows the sources, and names them where it is given another.
  const filter = { q, source: source as GatewayToolRow['source'], security_context: securityContext };
  const rows: GatewayToolRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools({ ...filter, cursor }).catch((error: unknown) => {
      if (!(error instanceof WindlassApiError) || error.status !== 404 || securityContext === undefined) throw error;
      throw new CliError('not_found', error.message, 'List them: windlass gateway context list');
    });
    rows.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  if (await printedValue(context, rows)) return ok;
  if (context.format === 'name') for (const { name } of rows) context.terminal.out(name);
  else if (rows.length === 0) context.terminal.note('no tools');
  else {
    const judged = await judgedTools(client, rows);
    for (const line of tableLines(columns, judged, context.format === 'wide')) context.terminal.out(line);
  }
  return ok;
};

const call: Run<CallOptions> = async (context, [tool = ''], { sign, dryRun, ...input }): Promise<ExitCode> => {
  if (sign === undefined) {
    const hint = 'Give --sign FILE; make one: windlass gateway session create EXECUTION --out FILE';
    throw new CliError('usage', '--sign is missing: the file of the session that signs the call', hint);
  }
  const file = sign === true ? 'session.json' : sign;
  const { session: signer, key } = await readSessionFile(context.files, file);
  const args = (await readInput(context.files, input)) ?? {};
  const { signEnvelope } = await import('../../lib/envelope/sign-envelope.ts');
  const now = context.clock.now();
  const { execution_id: executionId, security_token: token } = signer;
  const body = signEnvelope(key, { executionId, token, tool, arguments: args, id: 1, now });
  if (dryRun) {
    context.terminal.out(JSON.stringify(body));
    return ok;
  }
  const { createGatewayClient } = await import('../../client/index.ts');
  // The envelope is all that proves who calls: no token of an operator is sent.
  const client = createGatewayClient({ server: context.options.gateway ?? signer.gateway, attempts: 1, timeoutMs });
  const answer = await client
    .invokeTool({ body }, { signal: context.interrupted })
    .catch((error: unknown) => Promise.reject(refused(error, file)));
  return shown(context, answer.result, answer);
};

/** Hint for a refused envelope: no token has expired. The gateway says in words alone which link of its chain refused. */
function refused(error: unknown, file: string): unknown {
  if (!(error instanceof WindlassApiError) || !error.error.startsWith('rpc_')) return error;
  const { status, message } = error;
  const again = `Make another session: windlass gateway session create EXECUTION --out ${file} --force`;
  if (status === 401 || /^the session (is not active|has expired)/.test(message))
    return new CliError('cluster', message, again);
  if (message.startsWith('UnknownTool: '))
    return new CliError('not_found', message, 'List what there is: windlass tools list');
  if (status === 403)
    return new CliError('cluster', message, 'List what is permitted: windlass tools list --security-context NAME');
  const list = 'See the tools and their arguments: windlass tools list -o yaml';
  if (status === 404) return new CliError('not_found', message, list);
  return status < 429 ? new CliError('usage', message, list) : error;
}

/** Timeout of one call; the gateway ends it after ten minutes. */
const timeoutMs = 620_000;

interface Result {
  readonly content: readonly { readonly text: string }[];
  readonly isError: boolean;
}

async function shown(context: CommandContext, { content, isError }: Result, answer: unknown): Promise<ExitCode> {
  const text = content.map((one) => one.text).join('\n');
  if (!(await printedValue(context, answer))) {
    if (isError) context.terminal.note(`error: the tool failed: ${text}`);
    else context.terminal.out(text);
  }
  return isError ? exitCodes.failed : ok;
}
