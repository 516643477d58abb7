import { Command } from 'commander';
import type { StreamName } from '../../lib/capture/captured-streams.ts';
import { logSources } from '../../lib/execution/log-source.ts';
import type { LogSink } from '../../lib/execution/read-logs.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { followLogs } from '../follow-logs.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import type { CommandContext } from '../command-context.ts';
import { showLogs } from '../show-logs.ts';

interface LogsOptions {
  readonly visit?: string;
  readonly step?: string;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly follow?: boolean;
}

export function logsCommand(launch: CliLaunch): Command {
  return new Command('logs')
    .summary('show what commands wrote')
    .description(
      'Shows the output of the commands of an execution. That of a running one comes from its pod. That of a ' +
        'finished one comes from the output store, also when the pod is gone.\n\nThe stdout of a command is printed on standard output and its ' +
        'stderr to standard error. With --stdout or --stderr only that stream is shown, on standard output, byte for ' +
        'byte. Headings go to standard error.',
    )
    .argument('<execution>', 'name or uid of the execution')
    .argument('[state]', 'only of this state')
    .option('--visit <number>', 'only of this visit of the state')
    .option('--step <name>', 'only of this step of a parallel state')
    .option('--stdout', 'only stdout')
    .option('--stderr', 'only stderr')
    .option('-f, --follow', 'continue until the execution ends, or the state that was named')
    .addHelpText(
      'after',
      examples(
        'windlass logs review-x7k2p',
        'windlass logs review-x7k2p build --visit 2 --stderr',
        'windlass logs fetch-9f3ab download --stdout > archive.tar',
        'windlass logs review-x7k2p -f',
      ),
    )
    .action(launch(logs));
}

const logs: Run<LogsOptions> = async (context, [name = '', state], options): Promise<ExitCode> => {
  const choice = { state, visit: visitOf(options.visit), step: options.step };
  const { executions, logs: own } = await context.backend();
  const execution = await executions.read(name);
  const deps = { ...context, logs: own, sink: sinkOf(context, options) };
  if (options.follow) return followLogs(deps, execution, choice);
  await showLogs(deps, execution, logSources(execution, choice));
  return ok;
};

function visitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new CliError('usage', `--visit '${text}' is not the number of a visit`, 'The first visit is 1.');
}

/** A single stream is printed on standard output, so that it can be redirected; two keep their own streams. */
function sinkOf({ terminal }: CommandContext, { stdout, stderr }: LogsOptions): LogSink {
  if (Boolean(stdout) === Boolean(stderr)) return (stream, bytes) => terminal.bytes(bytes, stream);
  const wanted: StreamName = stdout ? 'stdout' : 'stderr';
  return async (stream, bytes) => {
    if (stream === wanted) await terminal.bytes(bytes, 'stdout');
  };
}
