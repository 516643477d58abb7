import { Command } from 'commander';
import type { Launch } from '../launch.ts';
import { runCommand } from './run.ts';
import { workflowDeleteCommand, workflowDemoteCommand, workflowPromoteCommand } from './workflow-change.ts';
import { workflowGetCommand, workflowListCommand, workflowVersionsCommand } from './workflow-read.ts';
import { workflowRegisterCommand } from './workflow-register.ts';
import { workflowValidateCommand } from './workflow-validate.ts';

export function workflowCommand(launch: Launch): Command {
  const command = new Command('workflow').alias('wf').summary('define workflows').description('Defines workflows.');
  return command
    .addCommand(workflowValidateCommand(launch))
    .addCommand(workflowRegisterCommand(launch))
    .addCommand(workflowListCommand(launch))
    .addCommand(workflowGetCommand(launch))
    .addCommand(workflowVersionsCommand(launch))
    .addCommand(workflowDeleteCommand(launch))
    .addCommand(workflowPromoteCommand(launch))
    .addCommand(workflowDemoteCommand(launch))
    .addCommand(runCommand(launch));
}
