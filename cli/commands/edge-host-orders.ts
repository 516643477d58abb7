import { Command } from 'commander';
import { hostIdOf } from '../edge/names.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedValue } from '../print-object.ts';
import { readInput } from '../run-input.ts';

export function drainCommand(launch: CliLaunch): Command {
  return new Command('drain')
    .summary('let a host end its commands and get no more')
    .description('No run targets the host any more, and it ends the commands that it has. HTTP API only.')
    .argument('<host>', 'name or id of the host')
    .option('--undo', 'let runs target the host again; restart its daemon as well')
    .addHelpText('after', examples('windlass edge hosts drain build-7', 'windlass edge hosts drain build-7 --undo'))
    .action(launch(drain));
}

export function pushConfigCommand(launch: CliLaunch): Command {
  return new Command('push-config')
    .summary('change labels and security contexts of a host')
    .description(
      "Sends a JSON merge patch over labels and security_contexts of the host's own configuration. HTTP API only.",
    )
    .argument('<host>', 'name or id of the host')
    .requiredOption('-f, --file <path>', 'YAML or JSON with labels or security_contexts; - for standard input')
    .option('--version-name <name>', 'names the change; default: a new one')
    .addHelpText('after', examples('windlass edge hosts push-config build-7 -f change.yaml'))
    .action(launch(pushConfig));
}

export function shutdownCommand(launch: CliLaunch): Command {
  return new Command('shutdown')
    .summary('stop the daemon of a host')
    .description('Commands under way get the grace, are then cancelled, and the daemon ends. HTTP API only.')
    .argument('<host>', 'name or id of the host')
    .option('--grace <seconds>', 'time for commands under way, 0 to 3600; default: 30')
    .option('--yes', 'do it')
    .addHelpText('after', examples('windlass edge hosts shutdown build-7 --grace 60 --yes'))
    .action(launch(shutdown));
}

const drain: Run<{ readonly undo?: boolean }> = async (context, [name = ''], { undo = false }): Promise<ExitCode> => {
  const edge = (await context.backend()).edge();
  const id = await hostIdOf(edge, name);
  const host = await (undo ? edge.resumeEdgeHost({ id }) : edge.drainEdgeHost({ id }));
  if (await printedValue(context, host)) return ok;
  const done = undo ? `host ${host.name} is a target again` : `host ${host.name} drains`;
  context.terminal.out(context.format === 'name' ? id : done);
  return ok;
};

interface PushOptions {
  readonly file: string;
  readonly versionName?: string;
}

const pushConfig: Run<PushOptions> = async (context, [name = ''], { file, versionName }): Promise<ExitCode> => {
  const config = (await readInput(context.files, { inputFile: file })) ?? {};
  const edge = (await context.backend()).edge();
  const id = await hostIdOf(edge, name);
  const named = versionName === undefined ? {} : { version: versionName };
  const pushed = await edge.pushEdgeConfig({ id, body: { config, ...named } });
  if (await printedValue(context, { node_id: id, ...pushed })) return ok;
  context.terminal.out(context.format === 'name' ? id : `host ${name} was sent configuration ${pushed.version}`);
  return ok;
};

interface ShutdownOptions {
  readonly grace?: string;
  readonly yes?: boolean;
}

const shutdown: Run<ShutdownOptions> = async (context, [name = ''], { grace, yes }): Promise<ExitCode> => {
  if (yes !== true) throw new CliError('usage', `shutting ${name} down ends its daemon`, 'Add --yes to do it.');
  const body = graceOf(grace);
  const edge = (await context.backend()).edge();
  const id = await hostIdOf(edge, name);
  await edge.shutDownEdgeHost({ id, body });
  if (await printedValue(context, { node_id: id, shut_down: true })) return ok;
  context.terminal.out(context.format === 'name' ? id : `host ${name} shuts down`);
  return ok;
};

/** Absent: the server's default. */
function graceOf(grace: string | undefined): { readonly grace_secs?: number } {
  if (grace === undefined) return {};
  const seconds = Number(grace);
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= 3_600) return { grace_secs: seconds };
  throw new CliError('usage', `--grace ${grace} is no number of seconds`, 'Give a whole number from 0 to 3600.');
}
