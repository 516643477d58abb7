import { Command } from 'commander';
import type { CliLaunch } from '../launch.ts';
import { edgeGroupsCommand } from './edge-groups.ts';
import { edgeHostsCommand } from './edge-hosts.ts';
import { edgeRunCommand } from './edge-run.ts';
import { edgeCancelCommand, edgeRunsCommand } from './edge-runs.ts';
import { edgeTokenCommand } from './edge-token.ts';

export function edgeCommand(launch: CliLaunch): Command {
  const command = new Command('edge')
    .summary('enroll hosts and run tools on them')
    .description('Enrolls hosts, groups them and runs tools over them. Uses the HTTP API only: give --server.');
  return command
    .addCommand(edgeTokenCommand(launch))
    .addCommand(edgeHostsCommand(launch))
    .addCommand(edgeGroupsCommand(launch))
    .addCommand(edgeRunCommand(launch))
    .addCommand(edgeRunsCommand(launch))
    .addCommand(edgeCancelCommand(launch));
}
