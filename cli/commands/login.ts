import { Command } from 'commander';
import { CliError, type ExitCode, exitCodes } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import type { LoginOptions } from '../login/accounts.ts';
import { printedValue } from '../print-object.ts';

export function loginCommand(launch: CliLaunch): Command {
  return new Command('login')
    .summary('log in to a server')
    .description(
      'Logs you in to the HTTP API of --server, through the provider that it trusts. Open the link that is shown, on ' +
        'this machine or another, and check the code. The login is kept below $XDG_CONFIG_HOME/windlass (by default ' +
        '~/.config/windlass), where only you can read it, and renewed without a word. Programs set WINDLASS_TOKEN or ' +
        'give --token-file instead. WINDLASS_SERVER replaces --server, and NODE_EXTRA_CA_CERTS names a file with the ' +
        'certificates of an authority of your own.',
    )
    .option('--issuer <url>', 'OpenID Connect provider; by default the one that the server names')
    .option(
      '--client-id <id>',
      'public client of the provider, with the device grant; by default the one that the server names, with --issuer windlass-cli',
    )
    .option(
      '--scope <scopes>',
      'scopes to ask for, with blanks between them; by default those that the server names, with --issuer "openid offline_access"',
    )
    .option('--audience <audience>', 'audience of the token, such as windlass, where the provider needs one')
    .addHelpText(
      'after',
      examples(
        'windlass login --server https://windlass.example.com',
        'WINDLASS_SERVER=https://windlass.example.com windlass login  # the same',
        'windlass login --server https://windlass.example.com --issuer https://id.example.com --client-id cli --audience windlass',
      ),
    )
    .action(launch(login));
}

export function logoutCommand(launch: CliLaunch): Command {
  return new Command('logout')
    .summary('end a login')
    .description('Revokes the login at --server, and deletes it.')
    .addHelpText('after', examples('windlass logout --server https://windlass.example.com'))
    .action(launch(logout));
}

export function whoamiCommand(launch: CliLaunch): Command {
  return new Command('whoami')
    .summary('show who you are')
    .description('Shows whom the server takes you for: the API server of Kubernetes, or the API of --server.')
    .addHelpText('after', examples('windlass whoami', 'windlass whoami --server https://windlass.example.com -o json'))
    .action(launch(whoami));
}

const login: Run<LoginOptions> = async (context, _, options): Promise<ExitCode> => {
  const { terminal, interrupted, open } = context;
  const server = open.server(context.options);
  const accounts = await open.accounts();
  try {
    const made = await accounts.login(server, options, ({ link, code }) => {
      terminal.note(`Open ${link}`);
      terminal.note(`The code is ${code}, where it is asked for or shown`);
    });
    const problem = await accounts.problemWith(made, context.options.tenant);
    if (problem !== undefined) terminal.note(`warning: ${server} does not take this login: ${problem}`);
    const { nameOf } = await import('../login/token-claims.ts');
    terminal.out(`logged in to ${server} as ${nameOf(made.accessToken)}`);
    if (context.options.server !== undefined) terminal.note(`Go there by default: export WINDLASS_SERVER=${server}`);
    return ok;
  } catch (error) {
    if (!interrupted.aborted) throw error;
    terminal.note('interrupted: not logged in');
    return exitCodes.interrupted;
  }
};

const logout: Run<object> = async ({ terminal, open, options }): Promise<ExitCode> => {
  const server = open.server(options);
  const accounts = await open.accounts();
  if (!(await accounts.logout(server))) throw new CliError('not_found', `not logged in to ${server}`);
  terminal.out(`logged out of ${server}`);
  return ok;
};

const whoami: Run<object> = async (context): Promise<ExitCode> => {
  const backend = await context.backend();
  const { user, facts } = await backend.whoAmI();
  if (await printedValue(context, { user, ...facts })) return ok;
  context.terminal.out(user);
  if (context.format === 'name') return ok;
  const width = Math.max(0, ...Object.keys(facts).map((name) => name.length));
  for (const [name, fact] of Object.entries(facts)) context.terminal.out(`  ${name.padEnd(width)}  ${fact}`);
  return ok;
};
