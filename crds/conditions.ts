/** Condition types and every reason with the sentence that the troubleshooting page starts from. */
export const conditionTypes = {
  ready: 'Ready',
  succeeded: 'Succeeded',
  finished: 'Finished',
  credentialsFound: 'CredentialsFound',
} as const;

/** Reasons of the condition `Succeeded` of an execution, of failed visits and of Events. */
export const executionReasons = {
  Pending: 'The execution has been accepted and has not begun.',
  WorkflowNotReady: 'The workflow exists and its definition has not been accepted yet, or was refused.',
  WorkflowNotFound: 'No workflow of that name or uid is here or in the global namespace, or it is being deleted.',
  VersionNotFound: 'The workflow has no stored version of that number.',
  InvalidInput: 'The start input does not satisfy input_schema, or is nested too deep.',
  InvalidOrigin: 'The execution that is to be run again is gone, has not ended, or never entered the state.',
  VolumesPending: 'The volumes of the workflow are being made.',
  VolumeFailed: 'A volume of the workflow could not be made.',
  VolumeNotFound: 'A volume_id names no Volume in the namespace of the execution.',
  VolumeExpired: 'An ephemeral volume that a state needs has expired.',
  Running: 'The execution is in a state that works.',
  WaitingForNode: 'A step waits for a node that has room for it.',
  WaitingForImage: 'A step waits for its image, which could not be pulled yet.',
  WaitingForContainer: 'A step waits for its container: for an image, a volume or the node.',
  WaitingForSignal: 'The execution is in a Human state and waits for a decision.',
  Completed: 'The execution reached a terminal state.',
  LastStateFailed: 'The execution reached a terminal state, and that state failed.',
  Cancelled: 'A caller cancelled the execution.',
  MaxStateVisitsExceeded: 'A state would have been entered more often than its max_state_visits.',
  MaxTransitionsExceeded: 'One transition more than max_total_transitions would have been taken.',
  NoMatchingTransition: 'No transition rule of the state matched its outcome.',
  SignalsFull: 'spec.signals holds as many answers as there may be, and none of them leads on from the Human state.',
  StateTimeout: 'The state took longer than its timeout.',
  NeverStarted:
    'A step did not start within queue_timeout or the timeout of its state, or a volume was not ready within an hour.',
  SubworkflowDepthExceeded: 'The child would be nested more than ten levels deep.',
  DescendantsExceeded: 'The execution that began it all has as many executions under it as there may be.',
  SubworkflowFailed: 'The child execution failed or was cancelled.',
  WaitingForAgent: 'An AgentExecution of the state has not started; the message says for what it waits.',
  AgentFailed: 'The AgentExecution failed, was cancelled or was deleted.',
  WaitingForTool: 'No replica of the API has taken the tool call of the state.',
  InvalidToolCall: 'The call_tool state names no tool, or its rendered arguments are no JSON object or too large.',
  ToolFailed: 'The tool that the state called answered with an error.',
  ToolRefused: 'The tool does not exist, the SecurityContext denies it, or its arguments are wrong; nothing ran.',
  ToolUnavailable: 'A service that the tool needs could not be reached; nothing ran.',
  OutcomeUnknown: 'The tool was called, and how the call ended is not known; look before it is called again.',
  InvalidAgentInput: 'The rendered input or intent of an agent is longer than an agent takes.',
  TooFewJudges: 'Fewer judges completed than min_judges_required, or all that are weighed have weight 0.',
  TemplateFailed: 'A template could not be rendered within its bounds.',
  ExpressionFailed: 'A custom expression could not be evaluated within its bounds.',
  WorkBudgetExceeded: 'One state needs too much work for one turn of the controllers.',
  NestedTooDeep: 'A value is nested deeper than 64 levels, which is as deep as JSON is taken anywhere.',
  InternalError:
    'An error of Windlass itself ended the execution; the message is for a bug report, and says where to look.',
  InvalidSubworkflowInput:
    "The rendered input of a Subworkflow does not satisfy the child's input_schema, or is nested too deep.",
  ExitCode: 'The command ended with an exit code other than 0.',
  CommandNotFound: 'The image has no such command.',
  ContainerTimeout: 'The command took longer than resources.timeout.',
  ImagePullFailed: 'The image could not be pulled.',
  ContainerStartFailed: 'The container could not be started.',
  PodRejected: 'The API server or the kubelet refused the pod.',
  Forbidden: 'The controllers lack a right in the namespace; is it a tenant?',
  Refused: 'The API server refused an object that the execution needs; the message is its own.',
  QuotaExceeded: 'The quota of the namespace has no room yet for what the execution needs.',
  PodDeleted: 'The pod was deleted before its outcome was known.',
  PodDrained: 'The Eviction API took the pod away, as the drain of a node does.',
  PodPreempted: 'A pod of higher priority took the place of this one.',
  PodEvicted: 'The kubelet evicted the pod, because its node ran short of memory, disk or processes.',
  StorageExceeded: 'The kubelet evicted the pod, because the step wrote more to local disk than it may.',
  OutOfMemory: 'The command used more memory than resources.memory.',
  NodeShutdown: 'The node that ran the pod shut down.',
  NodeLost: 'The node that ran the pod is gone, or does not answer.',
  CaptureFailed: 'Neither the runner nor its log says how the command ended.',
  OutputBudgetExceeded: 'The output store has no room left for this execution.',
  OutputNameTaken: 'A ConfigMap of another has the name of an output; the message names it. Delete it.',
  StatusTooLarge: 'The status of the execution would be larger than 256 KiB.',
  OutputLost: 'A stored output that the state needs is no longer in the output store.',
  StepsFailed: 'Steps of the parallel state failed.',
} as const;
export type ExecutionReason = keyof typeof executionReasons;

/** Reasons of the condition `Succeeded` of an AgentExecution and in its status, beside those of executions. */
export const agentExecutionReasons = {
  AgentNotFound:
    'No agent of that name or uid, or none that is to judge its answers, is here or in the global namespace; or it is being deleted.',
  AgentNotReady: 'The agent exists and its definition has not been accepted yet, or was refused.',
  Timeout: 'The agent gave no answer before its deadline.',
  OutputTooLarge: 'Kubernetes does not store the output together with the input; the message has their sizes.',
  WaitingForApproval: 'A tool call waits for the yes or no of a person.',
  WaitingForRoom: 'No replica of the API that may drive the conversation has memory left for it yet.',
  ProviderBusy: 'The provider of the model has no free request, or no tokens of the minute, for the tenant yet.',
  ProviderResting: 'The provider of the model failed, or asked for a pause; the question is sent when that is over.',
  WaitingForVersion:
    'A newer version of Windlass has written to the conversation, and no replica of that version drives it.',
  PodLost: 'The pod was taken away more often than three times through no fault of the agent.',
  PodFailed: 'The pod ended before the agent had an outcome.',
  OutcomePending:
    'The pod has ended, or the time is over. The outcome of the conversation is not stored yet, or the event bus does not say whether there is one.',
  IsolationUnavailable:
    'The node configuration has no RuntimeClass for the isolation that is asked for, or the cluster has none of that name.',
  NetworkRejected: 'The NetworkPolicy of the networks of the SecurityContext cannot be made.',
  RuntimeUnavailable: 'The node configuration has images of languages, and none of the one that the agent names.',
  InvalidMount: 'A volume would be mounted where the pod keeps files of its own.',
  UnknownAlias: 'The node configuration has no model of the alias that the agent names.',
  ProviderGone: 'The provider that began with the execution is no longer in the node configuration.',
  ProviderUnavailable: 'The provider of the model did not answer in time, or has too much to do, after all attempts.',
  ProviderRefused: 'The provider of the model refused the request: the message has its status and its words.',
  MalformedReply: 'The answer of the provider could not be read.',
  ContextTooLong: 'The conversation is longer than the model takes.',
  BudgetExceeded: 'The execution used up max_tokens or max_cost_usd.',
  PriceUnknown: 'The agent has max_cost_usd, and the node configuration has no price of its model.',
  NotAccepted:
    'Each of max_iterations answers had a score below validation.threshold, or broke output_schema; the message has the last score.',
  ValidationFailed: 'The judge of an answer or of a tool call gave no verdict.',
  QuestionsExceeded:
    'The model was asked as often as max_iterations and max_tool_calls permit: most of its tool calls were refused.',
  DefinitionLost: 'The version of the agent with which the execution began is gone.',
  SecurityContextNotFound: 'The SecurityContext that the agent names does not exist, or is being deleted.',
  GatewayUnavailable: 'The tool gateway did not list the tools that the agent names within a minute.',
  EventTooLarge: 'The instruction and the input are too long to begin a conversation; the message has their sizes.',
  ConversationTooLarge: 'The conversation holds more text than is kept of one.',
  ConversationLost:
    'The conversations of the tenant took more than their share, and the beginning of this one was dropped.',
} as const;
export type AgentExecutionReason = ExecutionReason | keyof typeof agentExecutionReasons;

/** Reasons of the condition `Succeeded` of a FleetRun and in its status. */
export const fleetRunReasons = {
  Pending: 'The run has not begun.',
  Running: 'The run is under way.',
  WaitingForRoom:
    'The controllers have no room for the run in memory: it waits for the end of other runs, or has waited for too long.',
  Completed: 'Every host has an outcome, even if some failed.',
  NoTargets: 'The target resolved to no connected host: the run is complete, and nothing ran.',
  Halted: 'As many hosts failed as the failure policy allows.',
  Cancelled: 'The run was cancelled.',
  EdgeUnavailable:
    'The one host of the target is offline or unknown; of a host: it went offline and did not come back.',
  RequireMinNotSatisfied: 'Fewer hosts resolved than require_min_targets asks for.',
  GroupNotFound: 'The namespace has no EdgeGroup with that uid.',
  NotFleetCapable: 'The tool works on one host at a time, and the target may mean several.',
  TooManyTargets: 'The target means more hosts than one run takes.',
  InvalidPolicy: 'The dispatch policy breaks a rule; the message names the field.',
  ArgumentsTooLarge: 'The arguments are larger than a run may send to each host.',
  NestedTooDeep: 'The arguments are nested deeper than 64 levels, which is as deep as JSON is taken anywhere.',
  NotATenant: 'The namespace is no tenant.',
  RecordLost: 'The stored targets or outcomes of the run are gone: it cannot be continued.',
  CommandShareUsed:
    'The commands of the run have no room beside those that the tenant has sent in two days; the message has the numbers.',
  BucketFull:
    'NATS has no room for commands or results of the run, or those of other tenants have it: it waits, or has waited for too long.',
  GatewayUnavailable: 'The run waits for the tool gateway, or has waited for too long.',
  EventBusUnavailable: 'The run waits for NATS, or has waited for too long.',
  RecordNotStored:
    'The API server stores no targets or outcomes of the run, such as for want of room in a quota: it waits, or has waited too long.',
  EdgeKeyMissing: 'The controllers have no WINDLASS_EDGE_KEY: they cannot sign commands.',
} as const;
export type FleetRunReason = keyof typeof fleetRunReasons;

/** Reasons of the condition `Ready` of a Workflow. */
export const workflowReasons = {
  Accepted: 'The definition is valid and stored as a revision.',
  InvalidDefinition: 'The definition breaks a rule; the message names the path.',
  VersionConflict: 'This version exists with other content.',
  NotATenant: 'The controllers have no rights in the namespace, because it was not made a tenant.',
  RevisionTaken: 'The ControllerRevision that would hold the definition has another owner.',
} as const;
export type WorkflowReason = keyof typeof workflowReasons;

/** Reasons of the condition `Ready` of a Volume. */
export const volumeReasons = {
  ClaimPending: 'The claim is being made, or that of an earlier volume is still being deleted.',
  ClaimRefused: 'The API server makes no claim, such as for want of room in a quota; it is asked again.',
  ClaimReady: 'The claim can be mounted.',
  ClaimFailed: 'The claim could not be made, was deleted, or has another owner.',
  VolumeExpired: 'The volume has expired; its data were deleted, unless spec.claim_name names their claim.',
} as const;
export type VolumeReason = keyof typeof volumeReasons;

/** Reasons of the condition `Ready` of a StimulusRouter; the first that applies is given, the message names them all. */
export const stimulusRouterReasons = {
  Accepted: 'Every route leads to a workflow, and the webhooks of its sources come here.',
  NotATenant: 'The namespace is no tenant: no stimulus comes here.',
  SourceTaken: 'Another router claimed a source earlier; the webhooks of that source go there.',
  WorkflowNotFound: 'No workflow of that name or uid is here or in the global namespace, or it is being deleted.',
  WorkflowNotReady: 'A workflow exists, and its definition has not been accepted yet, or was refused.',
  RouterAgentNotFound: 'No agent of that name or uid is here or in the global namespace, or it is being deleted.',
  RouterAgentNotReady: 'The router agent exists, and its definition has not been accepted yet, or was refused.',
} as const;
export type StimulusRouterReason = keyof typeof stimulusRouterReasons;

/** Reasons of the condition `Ready` of an ApiSpec. */
export const apiSpecReasons = {
  Accepted: 'The document was read, and tool workflows can call its operations.',
  NotATenant: 'The namespace is no tenant: nothing here is called.',
  NameTaken: 'An older ApiSpec that the tenant sees has the name; the message says where.',
  InvalidDefinition: 'A field of the object breaks a rule; the message names it.',
  DocumentMissing: 'A ConfigMap of document_parts is missing, or its bytes are not those of the document.',
  InvalidDocument: 'The document is no OpenAPI 3.0 or 3.1 document that can be used; the message names the place.',
} as const;
export type ApiSpecReason = keyof typeof apiSpecReasons;

/** Reasons of the condition `CredentialsFound` of an ApiSpec with credentials, and of ToolWorkflows that lack them. */
export const credentialsReasons = {
  CredentialFound: 'The Secret of the credentials has what their kind needs.',
  CredentialMissing:
    'Calls fail before they are sent: the Secret is missing, or lacks the label or a key; the message names them.',
} as const;
export type CredentialsReason = keyof typeof credentialsReasons;

/** Reasons of the condition `Ready` of a ToolWorkflow. */
export const toolWorkflowReasons = {
  Accepted: 'Agents can call the tool.',
  NotATenant: 'The namespace is no tenant: nothing here is called.',
  NameTaken: 'An older tool that the tenant sees has the name; the message says where.',
  InvalidDefinition: 'A field of the object breaks a rule; the message names it.',
  ApiSpecNotFound: 'No ApiSpec of that name or uid is here or in windlass-global.',
  ApiSpecNotReady: 'The ApiSpec exists, and its document was not accepted, or not yet.',
  OperationNotFound: 'The ApiSpec has no operation with the operation_id of a step.',
} as const;
export type ToolWorkflowReason = keyof typeof toolWorkflowReasons;

/** Reasons of the condition `Ready` of a CliTool. */
export const cliToolReasons = {
  Accepted: 'Agents can call the tool.',
  NotATenant: 'The namespace is no tenant: nothing here is called.',
  NameTaken: 'An older tool that the tenant sees has the name; the message says where.',
  InvalidDefinition: 'A field of the object breaks a rule; the message names it.',
  WorkflowPending: 'The Workflow that invocations run is being made, or was not judged yet.',
  WorkflowRefused: 'The Workflow that invocations run was refused; the message is its own.',
} as const;
export type CliToolReason = keyof typeof cliToolReasons;

/** Reasons of the condition `Ready` of a GitBinding. */
export const gitBindingReasons = {
  Pending: 'The binding has been accepted, and its first sync has not begun.',
  Working: 'A pod works on the binding; the tree from before is there until it has ended.',
  Synced: 'The tree is that of the commit in the status.',
  SyncFailed: 'The last sync failed; the message says why. The tree from before, if any, is unchanged.',
  GitUnavailable: 'The installation has no image with git: an operator sets git.image.',
  NotATenant: 'The namespace is no tenant: nothing is cloned here.',
  VolumeTaken: 'Another object has the name of the volume; delete it, or make a binding of another name.',
  VolumeFailed: 'The volume of the binding could not be made, or is gone.',
  VolumesPending: 'The volume of the binding is being made.',
  QuotaExceeded: 'The quota of the namespace has no room yet for the volume or the pod; it fails after an hour.',
} as const;
export type GitBindingReason = keyof typeof gitBindingReasons;

/** Reasons of Events that belong to no condition. */
export const eventReasons = {
  VolumeDeleted: 'A Volume was deleted, and its claim with it unless that was made elsewhere.',
  UnmatchedResponse: 'A signal matches no rule of the Human state that it answers; the state keeps waiting.',
  ExecutionNotArchived: 'An execution was deleted, its time long over, and the archive had not taken its record.',
  StimulusSent: 'The end of the execution started another one, as a StimulusRouter says.',
  StimulusRefused: 'The end of the execution started none; status.stimulus says why.',
  OutputsHeld: 'An execution cannot be deleted: its outputs are in S3, and the controllers have no bucket.',
  CommandsLeft: 'A fleet run was deleted, and commands of it may run on to their deadlines; the message says why.',
} as const;
export type EventReason = keyof typeof eventReasons;

/** Reasons in `status.stimulus`, beside those of executions: why an end that a route names starts nothing. */
export const stimulusReasons = {
  TooManyLinks: 'The chain of executions in which the end of one starts the next is ten links long.',
  ContentTooLarge: 'The final output does not fit into the input of an execution.',
  NameTaken: 'Another object has the name of the execution.',
  StimulusExpired: 'The execution could not be started before its origin had to be deleted.',
} as const;
export type StimulusReason = keyof typeof stimulusReasons;
