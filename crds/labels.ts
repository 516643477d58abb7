/** API group, version and every label, annotation and finalizer that Windlass puts on objects (design, "Names"). */
export const group = 'windlass.dev';
export const version = 'v1';
export const apiVersion = `${group}/${version}`;

export const labels = {
  /** On a namespace: the tenant's slug. */
  tenant: 'windlass.dev/tenant',
  /** On pods, claims and blobs: the execution they belong to, by object name (hashed when longer than a label). */
  execution: 'windlass.dev/execution',
  executionUid: 'windlass.dev/execution-uid',
  state: 'windlass.dev/state',
  visit: 'windlass.dev/visit',
  attempt: 'windlass.dev/attempt',
  step: 'windlass.dev/step',
  /** On executions and revisions: the workflow's object name. */
  workflow: 'windlass.dev/workflow',
  workflowUid: 'windlass.dev/workflow-uid',
  /** On revisions of agents, as the two above are on those of workflows. */
  agent: 'windlass.dev/agent',
  agentUid: 'windlass.dev/agent-uid',
  /** On the pods of an AgentExecution: its object name (hashed when longer than a label). */
  agentExecution: 'windlass.dev/agent-execution',
  /** On a revision: hash of its version, which is no legal label itself. */
  version: 'windlass.dev/version',
  /** On a workflow of user scope, and on its revisions: hash of the user who alone may run it. */
  user: 'windlass.dev/user',
  /** On child executions: the uid of the parent execution. */
  parentUid: 'windlass.dev/parent-uid',
  /** On executions that a stimulus started: its id and its source. */
  stimulus: 'windlass.dev/stimulus',
  stimulusSource: 'windlass.dev/stimulus-source',
  /** On the workflow of a CLI tool and on the executions of its calls: uid of the CliTool. */
  cliTool: 'windlass.dev/cli-tool',
  /** On the pods of a GitBinding: its object name. */
  gitBinding: 'windlass.dev/git-binding',
  managedBy: 'app.kubernetes.io/managed-by',
} as const;

/**
 * By the kind of the owner of a step pod: the label with the owner's name. A deletion that orphans pods leaves nothing else. The
 * policy `step-pods` guards these labels.
 */
export const ownerNameLabels = {
  WorkflowExecution: labels.execution,
  AgentExecution: labels.agentExecution,
  GitBinding: labels.gitBinding,
} as const;

export const annotations = {
  /** The manifest's name where it is no valid object name (requirements AMB-089). */
  name: 'windlass.dev/name',
  /** `"true"` lets an update replace a version that exists with other content. */
  force: 'windlass.dev/force',
  /** On a workflow of user scope: the user in clear, for people. */
  user: 'windlass.dev/user',
  /** On a workflow whose manifest has labels or annotations that Kubernetes refuses: all of them as JSON (AMB-178). */
  given: 'windlass.dev/given-metadata',
  /** On a workflow that moved from another scope: uids it had before, the oldest first, with commas between them. */
  formerIds: 'windlass.dev/former-ids',
  /** On a ControllerRevision: SHA-256 of the canonical spec. */
  specHash: 'windlass.dev/spec-hash',
  /** On a ControllerRevision: its version in clear. */
  version: 'windlass.dev/version',
  /** On a ControllerRevision that came along when its workflow moved: when it was first registered. */
  registeredAt: 'windlass.dev/registered-at',
  /** On a pod: the names of its state and step, which labels cannot always hold. */
  state: 'windlass.dev/state',
  step: 'windlass.dev/step',
  /** On an execution that was started over HTTP: the subject of the token. */
  startedBy: 'windlass.dev/started-by',
  /** On an execution that was started with an Idempotency-Key: SHA-256 of the request. */
  request: 'windlass.dev/request',
  /** On an execution that a stimulus with an idempotency key started: the key of its reservation. */
  reservation: 'windlass.dev/reservation',
  /**
   * On an execution that the end of another one started (AMB-189): the name of that one, and the uid of the one that began
   * the chain. On it and on its children: how many links of the chain are behind it.
   */
  linkedFrom: 'windlass.dev/linked-from',
  linkRoot: 'windlass.dev/link-root',
  linkDepth: 'windlass.dev/link-depth',
  /** On an AgentExecution: the installation whose API drives its conversation. */
  drivenBy: 'windlass.dev/driven-by',
  /** On an AgentExecution that is claimed: the tenant whose log has its conversation, and the last place before it. */
  conversation: 'windlass.dev/conversation',
  /** On an execution that an agent started, and on what it starts: uid of the first agent, and the starts in between. */
  agentRoot: 'windlass.dev/agent-root',
  agentDepth: 'windlass.dev/agent-depth',
  /** On the namespace of a tenant: sources of webhooks that come to it and to no other, with commas between them. */
  webhookSources: 'windlass.dev/webhook-sources',
  /** On a Volume that was made for an execution: its name in the workflow, which may be no object name (AMB-179). */
  volume: 'windlass.dev/volume',
  /** On a ConfigMap of the output store: SHA-256 of the value, for people. */
  blob: 'windlass.dev/blob',
} as const;

/** Held by a step's pod until its output is stored (design §6). */
export const captureFinalizer = 'windlass.dev/capture';
/** Finalizer of an execution whose outputs Kubernetes cannot collect (design §5, the S3 store). */
export const outputsFinalizer = 'windlass.dev/outputs';
/** Held by a finished execution that could not be archived at once (requirements AMB-174). */
export const archiveFinalizer = 'windlass.dev/archive';
/** Held by a fleet run while its commands may be under way (ADR 0104). */
export const commandsFinalizer = 'windlass.dev/commands';

export const ourFinalizers: readonly string[] = [
  archiveFinalizer,
  captureFinalizer,
  commandsFinalizer,
  outputsFinalizer,
];
export const ourLabels: readonly string[] = Object.values(labels);
/** Also that of `kubectl apply`, which counts as none of the user's own. */
export const ourAnnotations: readonly string[] = [
  ...Object.values(annotations),
  'kubectl.kubernetes.io/last-applied-configuration',
];

/** Namespace of workflows, agents and registered tools that all tenants share (design §3). It belongs to no tenant. */
export const globalNamespace = 'windlass-global';
export const systemNamespace = 'windlass-system';
