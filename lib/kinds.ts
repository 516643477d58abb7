import { group, version } from '../crds/labels.ts';
import type { Agent } from '../crds/schema/agent.ts';
import type { SecurityContext } from '../crds/schema/security-context.ts';
import type { ToolCall } from '../crds/schema/tool-call.ts';
import type { AgentExecution } from '../crds/schema/agent-execution.ts';
import type { ApiSpec } from '../crds/schema/api-spec.ts';
import type { CliTool } from '../crds/schema/cli-tool.ts';
import type { EdgeGroup } from '../crds/schema/edge-group.ts';
import type { FleetRun } from '../crds/schema/fleet-run.ts';
import type { EdgeHost } from '../crds/schema/edge-host.ts';
import type { GitBinding } from '../crds/schema/git-binding.ts';
import type { Script } from '../crds/schema/script.ts';
import type { StimulusRouter } from '../crds/schema/stimulus-router.ts';
import type { ToolWorkflow } from '../crds/schema/tool-workflow.ts';
import type { Volume } from '../crds/schema/volume.ts';
import type { Workflow } from '../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { defineResource } from './kube/resource.ts';

/** Where our kinds live in the API. */
export const workflows = defineResource<Workflow>({
  group,
  version,
  plural: 'workflows',
  kind: 'Workflow',
  namespaced: true,
});
export const workflowExecutions = defineResource<WorkflowExecution>({
  group,
  version,
  plural: 'workflowexecutions',
  kind: 'WorkflowExecution',
  namespaced: true,
});
export const volumes = defineResource<Volume>({ group, version, plural: 'volumes', kind: 'Volume', namespaced: true });
export const stimulusRouters = defineResource<StimulusRouter>({
  group,
  version,
  plural: 'stimulusrouters',
  kind: 'StimulusRouter',
  namespaced: true,
});
export const agents = defineResource<Agent>({ group, version, plural: 'agents', kind: 'Agent', namespaced: true });
export const agentExecutions = defineResource<AgentExecution>({
  group,
  version,
  plural: 'agentexecutions',
  kind: 'AgentExecution',
  namespaced: true,
});
export const toolCalls = defineResource<ToolCall>({
  group,
  version,
  plural: 'toolcalls',
  kind: 'ToolCall',
  namespaced: true,
});
export const securityContexts = defineResource<SecurityContext>({
  group,
  version,
  plural: 'securitycontexts',
  kind: 'SecurityContext',
  namespaced: true,
});
export const apiSpecs = defineResource<ApiSpec>({
  group,
  version,
  plural: 'apispecs',
  kind: 'ApiSpec',
  namespaced: true,
});
export const toolWorkflows = defineResource<ToolWorkflow>({
  group,
  version,
  plural: 'toolworkflows',
  kind: 'ToolWorkflow',
  namespaced: true,
});
export const cliTools = defineResource<CliTool>({
  group,
  version,
  plural: 'clitools',
  kind: 'CliTool',
  namespaced: true,
});
export const edgeGroups = defineResource<EdgeGroup>({
  group,
  version,
  plural: 'edgegroups',
  kind: 'EdgeGroup',
  namespaced: true,
});
export const fleetRuns = defineResource<FleetRun>({
  group,
  version,
  plural: 'fleetruns',
  kind: 'FleetRun',
  namespaced: true,
});
export const edgeHosts = defineResource<EdgeHost>({
  group,
  version,
  plural: 'edgehosts',
  kind: 'EdgeHost',
  namespaced: true,
});
export const scripts = defineResource<Script>({ group, version, plural: 'scripts', kind: 'Script', namespaced: true });
export const gitBindings = defineResource<GitBinding>({
  group,
  version,
  plural: 'gitbindings',
  kind: 'GitBinding',
  namespaced: true,
});
