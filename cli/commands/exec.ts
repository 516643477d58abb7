import { Command } from 'commander';
import type { CliLaunch } from '../launch.ts';
import { execCancelCommand, execGetCommand, execListCommand } from './exec-read.ts';
import { execLogsCommand, execRunCommand, execWatchCommand } from './exec-run.ts';

export function execCommand(launch: CliLaunch): Command {
  const command = new Command('exec')
    .summary('run agents')
    .description('Runs agents, watches them and reads what they said. Uses the HTTP API only: give --server.');
  return command
    .addCommand(execRunCommand(launch))
    .addCommand(execListCommand(launch))
    .addCommand(execGetCommand(launch))
    .addCommand(execLogsCommand(launch))
    .addCommand(execWatchCommand(launch))
    .addCommand(execCancelCommand(launch));
}
