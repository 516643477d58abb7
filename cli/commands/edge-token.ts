import { Command } from 'commander';
import { parseTimeout } from '../duration.ts';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedValue } from '../print-object.ts';
import { textWidth } from '../text-width.ts';

interface TokenOptions {
  readonly name?: string;
  readonly ttl?: string;
  readonly team?: string;
  readonly qr?: boolean;
}

export function edgeTokenCommand(launch: CliLaunch): Command {
  return new Command('token')
    .summary('issue a token that enrolls one host')
    .description(
      'Issues a token with which one host enrolls, once. The token is printed here and nowhere else. HTTP API only.',
    )
    .option('--name <name>', 'display name of the host')
    .option('--ttl <duration>', 'how long the token can be used, at most 15m; by default 15m')
    .option('--team <tenant>', 'tenant of a team that you administer; by default your own tenant')
    .option('--qr', 'draw the token as a QR code instead of printing it')
    .addHelpText(
      'after',
      examples('(umask 077 && windlass edge token --name build-7 >token)', 'windlass edge token --ttl 5m --qr'),
    )
    .action(launch(token));
}

const token: Run<TokenOptions> = async (context, _, { name, ttl, team, qr }): Promise<ExitCode> => {
  const seconds = ttl === undefined ? undefined : Math.ceil(parseTimeout(ttl) / 1_000);
  const backend = await context.backend();
  const body = { name, ttl_seconds: seconds, team_tenant_id: team };
  const issued = await backend.edge().issueEnrollmentToken({ body });
  if (await printedValue(context, issued)) return ok;
  const { terminal } = context;
  const code = qr === true ? await drawn(issued.qr_payload) : [];
  const width = Math.max(0, ...code.map(textWidth));
  if (width > terminal.columns()) {
    terminal.note(
      `the QR code is ${width} columns wide, and the terminal has ${terminal.columns()}: here is the token`,
    );
  }
  if (code.length > 0 && width <= terminal.columns()) for (const line of code) terminal.out(line);
  else terminal.out(issued.token);
  terminal.note(`usable once, until ${issued.expires_at}; on the host:`);
  terminal.note(`windlass-edge enroll --token-file FILE --endpoint ${issued.controller_endpoint}`);
  return ok;
};

/** Two rows of the code in one line of text, with the quiet zone that scanners need. */
async function drawn(payload: string): Promise<readonly string[]> {
  const { renderUnicodeCompact } = await import('uqr');
  return renderUnicodeCompact(payload, { ecc: 'L', border: 2 }).split('\n');
}
