import type { Agent } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { ApiSpec } from '../../../crds/schema/api-spec.ts';
import type { EdgeGroup } from '../../../crds/schema/edge-group.ts';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import type { EdgeHost } from '../../../crds/schema/edge-host.ts';
import type { GitBinding } from '../../../crds/schema/git-binding.ts';
import type { StimulusRouter } from '../../../crds/schema/stimulus-router.ts';
import type { ToolWorkflow } from '../../../crds/schema/tool-workflow.ts';
import type { Volume } from '../../../crds/schema/volume.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { defineResource, type KubeObject } from '../../../lib/kube/index.ts';

const row = <T extends KubeObject>(kind: string, plural: string) =>
  defineResource<T>({ group: 'windlass.dev', version: 'v1', plural, kind, namespaced: true });

/** Spelt out here on purpose: tests speak to the API as a user would, not through the product's own tables. */
export const workflows = row<Workflow>('Workflow', 'workflows');
export const workflowExecutions = row<WorkflowExecution>('WorkflowExecution', 'workflowexecutions');
export const volumes = row<Volume>('Volume', 'volumes');
export const stimulusRouters = row<StimulusRouter>('StimulusRouter', 'stimulusrouters');
export const agents = row<Agent>('Agent', 'agents');
export const agentExecutions = row<AgentExecution>('AgentExecution', 'agentexecutions');
export const apiSpecs = row<ApiSpec>('ApiSpec', 'apispecs');
export const toolWorkflows = row<ToolWorkflow>('ToolWorkflow', 'toolworkflows');
export const edgeGroups = row<EdgeGroup>('EdgeGroup', 'edgegroups');
export const fleetRuns = row<FleetRun>('FleetRun', 'fleetruns');
export const edgeHosts = row<EdgeHost>('EdgeHost', 'edgehosts');
export const gitBindings = row<GitBinding>('GitBinding', 'gitbindings');
