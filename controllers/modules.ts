import { agentExecutionModule } from './agent-execution/module.ts';
import { agentModule } from './agent/module.ts';
import { apiSpecModule } from './registered-tools/api-spec-module.ts';
import { cliToolModule } from './registered-tools/cli-tool-module.ts';
import { toolWorkflowModule } from './registered-tools/tool-workflow-module.ts';
import { executionModule } from './execution/module.ts';
import { gitBindingModule } from './git-binding/module.ts';
import type { Module } from './runtime/module.ts';
import { fleetRunModule } from './fleet-run/module.ts';
import { stimulusRouterModule } from './stimulus-router/module.ts';
import { volumeModule } from './volume/module.ts';
import { workflowModule } from './workflow/module.ts';

/** Every kind that this process reconciles. A new kind is a folder with a module, and a line here. */
export const modules: readonly Module[] = [
  workflowModule,
  executionModule,
  volumeModule,
  stimulusRouterModule,
  agentModule,
  agentExecutionModule,
  fleetRunModule,
  apiSpecModule,
  toolWorkflowModule,
  cliToolModule,
  gitBindingModule,
];
