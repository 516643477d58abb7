import { edgeGroup, edgeHost, fleetRun } from './edge-kinds.ts';
import {
  age,
  type KindDefinition,
  type PrinterColumn,
  readyColumns,
  readyMessage,
  whyColumns,
} from './kind-definition.ts';
import { limits } from './limits.ts';
import { AgentSpec, AgentStatus } from './schema/agent.ts';
import { SecurityContextSpec, SecurityContextStatus } from './schema/security-context.ts';
import { ApiSpecSpec, ApiSpecStatus } from './schema/api-spec.ts';
import { CliToolSpec, CliToolStatus } from './schema/cli-tool.ts';
import { AgentExecutionSpec, AgentExecutionStatus } from './schema/agent-execution.ts';
import { GitBindingSpec, GitBindingStatus } from './schema/git-binding.ts';
import { ScriptSpec, ScriptStatus } from './schema/script.ts';
import { ToolCallSpec, ToolCallStatus } from './schema/tool-call.ts';
import { StimulusRouterSpec, StimulusRouterStatus } from './schema/stimulus-router.ts';
import { ToolWorkflowSpec, ToolWorkflowStatus } from './schema/tool-workflow.ts';
import { VolumeSpec, VolumeStatus } from './schema/volume.ts';
import { WorkflowSpec, WorkflowStatus } from './schema/workflow.ts';
import { WorkflowExecutionSpec } from './schema/workflow-execution.ts';
import { WorkflowExecutionStatus } from './schema/workflow-execution-status.ts';

const workflow: KindDefinition = {
  kind: 'Workflow',
  singular: 'workflow',
  plural: 'workflows',
  shortNames: ['wf'],
  description:
    'A finite state machine whose states run agents, containers, commands, human decisions, panels of judges or ' +
    'other workflows. The object is the newest version; earlier ones are ControllerRevisions.',
  spec: WorkflowSpec,
  status: WorkflowStatus,
  nameLength: limits.nameLength,
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.spec.version' },
    { name: 'Initial', type: 'string', jsonPath: '.spec.initial_state', priority: 1 },
    ...readyColumns,
    age,
    readyMessage,
  ],
};

const workflowExecution: KindDefinition = {
  kind: 'WorkflowExecution',
  singular: 'workflowexecution',
  plural: 'workflowexecutions',
  shortNames: ['wfx'],
  description: 'One run of a workflow. It keeps the version it began with and ends completed, failed or cancelled.',
  spec: WorkflowExecutionSpec,
  status: WorkflowExecutionStatus,
  columns: [
    { name: 'Workflow', type: 'string', jsonPath: '.spec.workflow' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Succeeded', type: 'string', jsonPath: '.status.conditions[?(@.type=="Succeeded")].status' },
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Transitions', type: 'integer', jsonPath: '.status.transitions' },
    age,
    { name: 'Version', type: 'string', jsonPath: '.status.workflow.version', priority: 1 },
    ...whyColumns,
  ],
};

const volume: KindDefinition = {
  kind: 'Volume',
  singular: 'volume',
  plural: 'volumes',
  shortNames: ['wvol'],
  description: 'Storage that workflows share. Its uid is the volume_id of a manifest.',
  spec: VolumeSpec,
  status: VolumeStatus,
  nameLength: limits.nameLength,
  columns: [
    { name: 'Class', type: 'string', jsonPath: '.spec.storage_class' },
    { name: 'Size MiB', type: 'integer', jsonPath: '.spec.size_limit_mb' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Claim', type: 'string', jsonPath: '.status.claim_name' },
    { name: 'Expires', type: 'string', jsonPath: '.spec.expires_at', priority: 1 },
    age,
    readyMessage,
  ],
};

const stimulusRouter: KindDefinition = {
  kind: 'StimulusRouter',
  singular: 'stimulusrouter',
  plural: 'stimulusrouters',
  shortNames: ['srt'],
  description:
    'Which workflow the stimuli of a tenant start, by their source. A source that webhooks can name belongs to the ' +
    'tenant that claimed it first.',
  spec: StimulusRouterSpec,
  status: StimulusRouterStatus,
  columns: [
    { name: 'Routes', type: 'integer', jsonPath: '.status.routes' },
    { name: 'Agent', type: 'string', jsonPath: '.spec.router_agent' },
    ...readyColumns,
    age,
    readyMessage,
  ],
};

const agent: KindDefinition = {
  kind: 'Agent',
  singular: 'agent',
  plural: 'agents',
  shortNames: ['wagent'],
  description:
    'A model with an instruction, tools and bounds. The object is the newest version; earlier ones are ' +
    'ControllerRevisions.',
  spec: AgentSpec,
  status: AgentStatus,
  nameLength: limits.nameLength,
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.spec.version' },
    { name: 'Model', type: 'string', jsonPath: '.status.model' },
    ...readyColumns,
    age,
    readyMessage,
  ],
};

const agentExecution: KindDefinition = {
  kind: 'AgentExecution',
  singular: 'agentexecution',
  plural: 'agentexecutions',
  shortNames: ['wax'],
  description: 'One run of an agent. It keeps the version it began with and ends completed, failed or cancelled.',
  spec: AgentExecutionSpec,
  status: AgentExecutionStatus,
  columns: [
    { name: 'Agent', type: 'string', jsonPath: '.status.agent.name' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Iterations', type: 'integer', jsonPath: '.status.iterations' },
    { name: 'Tools', type: 'integer', jsonPath: '.status.tool_calls' },
    age,
    ...whyColumns,
    { name: 'Asked', type: 'string', jsonPath: '.spec.agent', priority: 1 },
    { name: 'Owner', type: 'string', jsonPath: '.metadata.ownerReferences[0].name', priority: 1 },
  ],
};

const toolCall: KindDefinition = {
  kind: 'ToolCall',
  singular: 'toolcall',
  plural: 'toolcalls',
  shortNames: ['wtc'],
  description:
    'One call of a tool by a state of a workflow. The controllers make it, a replica of the API runs it at most once, and ' +
    'it is deleted with the execution.',
  spec: ToolCallSpec,
  status: ToolCallStatus,
  columns: [
    { name: 'Tool', type: 'string', jsonPath: '.spec.tool' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Execution', type: 'string', jsonPath: '.spec.parent.name' },
    { name: 'State', type: 'string', jsonPath: '.spec.parent.state' },
    age,
    { name: 'Context', type: 'string', jsonPath: '.spec.security_context', priority: 1 },
    ...whyColumns,
  ],
};

const securityContext: KindDefinition = {
  kind: 'SecurityContext',
  singular: 'securitycontext',
  plural: 'securitycontexts',
  shortNames: ['wsc'],
  description: 'Tools, paths, hosts and commands that the agents and sessions which name it may use.',
  spec: SecurityContextSpec,
  status: SecurityContextStatus,
  // An absent field has its default, which `kubectl explain` tells.
  columns: [
    { name: 'Tools', type: 'string', jsonPath: '.spec.tools' },
    { name: 'Denied', type: 'string', jsonPath: '.spec.deny_list', priority: 1 },
    { name: 'Network', type: 'string', jsonPath: '.spec.network' },
    { name: 'Calls', type: 'integer', jsonPath: '.spec.max_calls' },
    { name: 'Tier', type: 'string', jsonPath: '.spec.tier', priority: 1 },
    age,
  ],
};

/** The name that agents and operators use, where Kubernetes takes it for no object; the object then has a name of a hash. */
const registeredName: PrinterColumn = { name: 'Tool', type: 'string', jsonPath: '.spec.name' };

const apiSpec: KindDefinition = {
  kind: 'ApiSpec',
  singular: 'apispec',
  plural: 'apispecs',
  shortNames: ['wapi'],
  description:
    'An HTTP API whose operations tool workflows call: its OpenAPI document, its address and its credentials.',
  spec: ApiSpecSpec,
  status: ApiSpecStatus,
  nameLength: limits.nameLength,
  columns: [
    { ...registeredName, name: 'Api' },
    { name: 'Operations', type: 'integer', jsonPath: '.status.operations' },
    { name: 'Server', type: 'string', jsonPath: '.status.server' },
    { name: 'Credentials', type: 'string', jsonPath: '.spec.credentials.kind', priority: 1 },
    ...readyColumns,
    age,
    readyMessage,
  ],
};

const toolWorkflow: KindDefinition = {
  kind: 'ToolWorkflow',
  singular: 'toolworkflow',
  plural: 'toolworkflows',
  shortNames: ['wtool'],
  description:
    'A tool that calls operations of one ApiSpec in a chain. Agents call it by name through the tool gateway.',
  spec: ToolWorkflowSpec,
  status: ToolWorkflowStatus,
  nameLength: limits.nameLength,
  columns: [
    registeredName,
    { name: 'Spec', type: 'string', jsonPath: '.status.api_spec' },
    { name: 'Steps', type: 'integer', jsonPath: '.status.steps' },
    ...readyColumns,
    age,
    readyMessage,
  ],
};

const cliTool: KindDefinition = {
  kind: 'CliTool',
  singular: 'clitool',
  plural: 'clitools',
  shortNames: ['wcli'],
  description: 'A tool that runs a command in a container. Agents call it by name through the tool gateway.',
  spec: CliToolSpec,
  status: CliToolStatus,
  nameLength: limits.nameLength,
  columns: [
    registeredName,
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Timeout', type: 'integer', jsonPath: '.spec.timeout_seconds' },
    ...readyColumns,
    age,
    readyMessage,
  ],
};

const script: KindDefinition = {
  kind: 'Script',
  singular: 'script',
  plural: 'scripts',
  shortNames: ['wscript'],
  description: 'Code that agents keep for later and find by name and tag. Nothing runs it by itself.',
  spec: ScriptSpec,
  status: ScriptStatus,
  columns: [
    { name: 'Title', type: 'string', jsonPath: '.spec.name' },
    { name: 'Language', type: 'string', jsonPath: '.spec.language' },
    age,
    { name: 'Tags', type: 'string', jsonPath: '.spec.tags', priority: 1 },
  ],
};

const gitBinding: KindDefinition = {
  kind: 'GitBinding',
  singular: 'gitbinding',
  plural: 'gitbindings',
  shortNames: ['wgit'],
  description: 'A repository of a git server, cloned into a volume of the tenant and kept there.',
  spec: GitBindingSpec,
  status: GitBindingStatus,
  nameLength: limits.gitBindingNameLength,
  columns: [
    { name: 'Repository', type: 'string', jsonPath: '.spec.repo_url' },
    { name: 'Branch', type: 'string', jsonPath: '.status.branch' },
    { name: 'Commit', type: 'string', jsonPath: '.status.commit', priority: 1 },
    ...readyColumns,
    { name: 'Synced', type: 'date', jsonPath: '.status.synced_at' },
    age,
    readyMessage,
  ],
};

export type { KindDefinition };

/** Every kind of the API group, in the order of the reference pages. */
export const kinds: readonly KindDefinition[] = [
  workflow,
  workflowExecution,
  volume,
  stimulusRouter,
  agent,
  agentExecution,
  toolCall,
  securityContext,
  apiSpec,
  toolWorkflow,
  cliTool,
  script,
  gitBinding,
  edgeGroup,
  fleetRun,
  edgeHost,
];
