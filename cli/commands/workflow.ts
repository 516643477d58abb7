import { Command } from 'commander';
import type { CliLaunch } from '../launch.ts';
import { runCommand } from './run.ts';
import { workflowDeleteCommand, workflowDemoteCommand, workflowPromoteCommand } from './workflow-change.ts';
import { workflowKustomizeCommand } from './workflow-kustomize.ts';
import { workflowGetCommand, workflowListCommand, workflowVersionsCommand } from './workflow-read.ts';
import { workflowRegisterCommand } from './workflow-register.ts';
import { workflowSchemaCommand } from './workflow-schema.ts';
import { workflowSimulateCommand } from './workflow-simulate.ts';
import { workflowValidateCommand } from './workflow-validate.ts';

export function workflowCommand(launch: CliLaunch): Command {
  const command = new Command('workflow').alias('wf').summary('define workflows').description('Defines workflows.');
  return command
    .addCommand(workflowValidateCommand(launch))
    .addCommand(workflowSimulateCommand(launch))
    .addCommand(workflowRegisterCommand(launch))
    .addCommand(workflowListCommand(launch))
    .addCommand(workflowGetCommand(launch))
    .addCommand(workflowVersionsCommand(launch))
    .addCommand(workflowDeleteCommand(launch))
    .addCommand(workflowPromoteCommand(launch))
    .addCommand(workflowDemoteCommand(launch))
    .addCommand(workflowKustomizeCommand(launch))
    .addCommand(workflowSchemaCommand(launch))
    .addCommand(runCommand(launch));
}
