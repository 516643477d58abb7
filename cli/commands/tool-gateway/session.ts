import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Command } from 'commander';
import { WindlassApiError } from '../../../client/index.ts';
import { parseTimeout } from '../../duration.ts';
import { CliError, type ExitCode } from '../../exit-codes.ts';
import { withGateway } from '../../tool-gateway/gateway-option.ts';
import { ed25519Key, type SessionFile } from '../../tool-gateway/session-file.ts';
import { examples, type CliLaunch, ok, repeatable, type Run } from '../../launch.ts';
import { printedValue } from '../../print-object.ts';
import type { CommandContext } from '../../command-context.ts';
import { type Column, tableLines } from '../../table.ts';

interface CreateOptions {
  readonly securityContext: string;
  readonly agent?: string;
  readonly tool?: readonly string[];
  readonly ttl: string;
  readonly out: string;
  readonly force?: boolean;
  readonly keyFile?: string;
  readonly sessionTokenFile?: string;
  readonly showToken?: boolean;
}

export function sessionCommand(launch: CliLaunch): Command {
  return new Command('session')
    .summary('make keys that sign calls')
    .description('Makes, lists and revokes sessions: keys that may sign calls of tools.')
    .addCommand(createCommand(launch))
    .addCommand(
      withGateway(new Command('list'))
        .alias('ls')
        .summary('list active sessions')
        .description('Lists the active sessions of the tenant. Tokens are never shown.')
        .addHelpText('after', examples('windlass gateway session list -o wide'))
        .action(launch(list)),
    )
    .addCommand(
      withGateway(new Command('revoke'))
        .summary('revoke a session')
        .description(
          'Revokes a session. No call of it begins after the command has ended; those under way are awaited.',
        )
        .argument('<execution>', 'execution id of the session')
        .addHelpText('after', examples('windlass gateway session revoke run-7'))
        .action(launch(revoke)),
    );
}

const createCommand = (launch: CliLaunch): Command =>
  withGateway(new Command('create'))
    .summary('make a session')
    .description(
      'Makes a key pair, asks the HTTP API (--server) for a token, and registers both at the tool gateway. Writes what ' +
        'signs calls to a file that you alone can read. The key never leaves this machine.',
    )
    .argument('<execution>', 'execution id, by which calls name the session')
    .option('--security-context <name>', 'what the session may do', 'default')
    .option('--agent <id>', 'names the caller in audit events; by default the execution id')
    .option('--tool <glob>', 'a tool that may be called; can be repeated; by default every tool', repeatable)
    .option('--ttl <duration>', 'how long the session lasts, at most 7d', '1h')
    .option('--out <file>', 'the file to write', 'session.json')
    .option('--force', 'replace the file')
    .option('--key-file <file>', 'your private Ed25519 key (PEM), instead of a new one')
    .option('--session-token-file <file>', 'a token of the SEAL issuer, instead of one that the API issues')
    .option('--show-token', 'also print the token on standard output')
    .addHelpText(
      'after',
      examples(
        "windlass gateway session create run-7 --security-context desk --tool 'orders.*'",
        'windlass gateway session create run-7 --ttl 15m --out run-7.json',
      ),
    )
    .action(launch(create));

const create: Run<CreateOptions> = async (context, [execution = ''], options): Promise<ExitCode> => {
  const { files, terminal } = context;
  const { out, force = false, keyFile } = options;
  if (!force) await assertAbsent(context, out);
  const ttlMs = parseTimeout(options.ttl);
  const pem = keyFile === undefined ? newKey() : await files.read(keyFile);
  const key = ed25519Key(pem, keyFile ?? 'the key');
  const backend = await context.gateway();
  const token = await tokenOf(context, options, ttlMs);
  const made = await backend.client
    .createSession({ body: bodyOf(context, execution, { ...options, ttlMs, token, key }) })
    .catch((error: unknown) => Promise.reject(taken(error, execution)));
  const { expires_at } = made;
  const file: SessionFile = {
    gateway: backend.address,
    execution_id: execution,
    expires_at,
    security_token: token,
    private_key: pem,
  };
  await files.writePrivate(out, `${JSON.stringify(file, null, 2)}\n`, { replace: force });
  if (options.showToken) terminal.out(token);
  if (await printedValue(context, made)) return ok;
  terminal.note(`session ${execution} made, until ${expires_at}; ${out} signs its calls`);
  terminal.note(`Call a tool: windlass tools call NAME --sign ${out}`);
  return ok;
};

interface Made extends CreateOptions {
  readonly ttlMs: number;
  readonly token: string;
  readonly key: KeyObject;
}

const bodyOf = ({ clock }: CommandContext, execution: string, made: Made) => ({
  execution_id: execution,
  agent_id: made.agent ?? execution,
  security_context: made.securityContext,
  public_key_b64: createPublicKey(made.key).export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
  security_token: made.token,
  expires_at: new Date(Math.floor((clock.now() + made.ttlMs) / 1_000) * 1_000).toISOString(),
  ...(made.tool === undefined ? {} : { allowed_tool_patterns: [...made.tool] }),
});

/** Found out before a session is made, which the execution has for good. */
async function assertAbsent({ files }: CommandContext, file: string): Promise<void> {
  const isThere = await files.read(file).then(
    () => true,
    () => false,
  );
  if (isThere) throw new CliError('usage', `${file} exists`, 'Give --force to replace it, or another name with --out.');
}

const newKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

async function tokenOf(context: CommandContext, options: CreateOptions, ttlMs: number): Promise<string> {
  const { sessionTokenFile: file, securityContext } = options;
  if (file !== undefined) return (await context.files.read(file)).trim();
  const ttl = Math.ceil(ttlMs / 1_000);
  const body = { security_context: securityContext, ttl_seconds: ttl };
  return (await (await context.gateway()).api().issueSealToken({ body })).security_token;
}

/** An execution keeps the session that it has, also when that is revoked. */
function taken(error: unknown, execution: string): unknown {
  if (!(error instanceof WindlassApiError) || error.status !== 409) return error;
  const hint = 'Take another execution id: one has a single session, also after that was revoked.';
  return new CliError('conflict', `the execution ${execution} has a session already`, hint);
}

type Row = Awaited<
  ReturnType<Awaited<ReturnType<CommandContext['gateway']>>['client']['listSessions']>
>['items'][number];

const columns: readonly Column<Row>[] = [
  { heading: 'EXECUTION', cell: ({ execution_id }) => execution_id },
  { heading: 'AGENT', cell: ({ agent_id }) => agent_id },
  { heading: 'CONTEXT', cell: ({ security_context }) => security_context },
  { heading: 'EXPIRES', cell: ({ expires_at }) => expires_at },
  { heading: 'TOOLS', cell: ({ allowed_tool_patterns: patterns }) => patterns.join(','), wide: true },
];

const list: Run<object> = async (context): Promise<ExitCode> => {
  const { client } = await context.gateway();
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listSessions({ cursor });
    rows.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  if (await printedValue(context, rows)) return ok;
  if (context.format === 'name') for (const { execution_id } of rows) context.terminal.out(execution_id);
  else if (rows.length === 0) context.terminal.note('no active sessions');
  else for (const line of tableLines(columns, rows, context.format === 'wide')) context.terminal.out(line);
  return ok;
};

const revoke: Run<object> = async (context, [execution = '']): Promise<ExitCode> => {
  const { client } = await context.gateway();
  const answer = await client.revokeSession({ execution_id: execution }).catch((error: unknown) => {
    if (!(error instanceof WindlassApiError) || error.status !== 404) throw error;
    const hint = 'List active ones: windlass gateway session list';
    throw new CliError('not_found', `there is no session of the execution ${execution}`, hint);
  });
  if (await printedValue(context, answer)) return ok;
  context.terminal.out(context.format === 'name' ? execution : `session ${execution} revoked`);
  return ok;
};
