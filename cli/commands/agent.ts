import { Command } from 'commander';
import type { CliLaunch } from '../launch.ts';
import { agentDeleteCommand, agentGetCommand, agentListCommand, agentVersionsCommand } from './agent-read.ts';
import { agentRegisterCommand, agentValidateCommand } from './agent-register.ts';

export function agentCommand(launch: CliLaunch): Command {
  const command = new Command('agent').summary('define agents').description('Defines agents.');
  return command
    .addCommand(agentValidateCommand(launch))
    .addCommand(agentRegisterCommand(launch))
    .addCommand(agentListCommand(launch))
    .addCommand(agentGetCommand(launch))
    .addCommand(agentVersionsCommand(launch))
    .addCommand(agentDeleteCommand(launch));
}
