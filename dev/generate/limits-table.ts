import { limits } from '../../crds/limits.ts';
import { expressionLimits } from '../../lib/expression/limits.ts';
import { bodyLimits } from '../../lib/http/in-flight.ts';
import { modelLimits } from '../../lib/models/limits.ts';
import { nodeConfigLimits } from '../../lib/node-config/schema.ts';
import { schemaLimits } from '../../lib/json-schema/limits.ts';
import { templateLimits } from '../../lib/template/limits.ts';
import { prices, workLimits } from '../../lib/work/limits.ts';

type LimitKey = keyof typeof limits;
type NumberKey = { [Key in LimitKey]: (typeof limits)[Key] extends number ? Key : never }[LimitKey];

/** A ceiling that a user can meet. */
export interface LimitRow {
  /** The bounded value, in the words of the field. */
  readonly what: string;
  readonly most: number;
  /** Its name in crds/limits.ts, where that has it. */
  readonly key?: LimitKey;
  /** Unit of the number; empty where `what` says it. */
  readonly unit: string;
  /** The message that names the ceiling, or the part of it that is always the same; `…` marks the variable part. */
  readonly says: string;
  /** Effect beyond it where nothing is refused; then `says` is empty. */
  readonly otherwise?: string;
}

export interface LimitGroup {
  readonly title: string;
  readonly rows: readonly LimitRow[];
}

const row = (what: string, most: number | NumberKey, unit: string, says: string): LimitRow =>
  typeof most === 'number' ? { what, most, unit, says } : { what, most: limits[most], key: most, unit, says };
const items = (what: string, most: number | NumberKey): LimitRow =>
  row(what, most, 'items', 'must have at most … items');
const entries = (what: string, most: NumberKey): LimitRow => row(what, most, 'entries', 'must have at most … entries');
const characters = (what: string, most: number | NumberKey): LimitRow =>
  row(what, most, 'characters', 'must have at most … characters');

const definition: LimitGroup = {
  title: 'A workflow',
  rows: [
    entries('`states`', 'states'),
    items('`transitions` of a state', 'transitionsPerState'),
    items('`steps` of a ParallelContainerRun', 'steps'),
    items('`agents` of a ParallelAgents', 'judges'),
    items('`volumes` of a container', 'volumes'),
    items('`storage.shared_volumes`', 'sharedVolumes'),
    items('`command`', 'commandElements'),
    entries('`env`, `context`, `output_template`', 'mapEntries'),
    entries('`labels` of a manifest, and `annotations`', 'mapEntries'),
    row(
      '`labels` and `annotations` of a manifest as JSON, where Kubernetes refuses one of them',
      'givenMetadataBytes',
      'bytes',
      'at most … are kept',
    ),
    row('`max_total_transitions`', 'transitionsMax', '', 'must be at most …, not …'),
    row('`max_state_visits`', 'stateVisitsMax', '', 'must be at most …, not …'),
    row('`retry.max_attempts`', 'retryAttemptsMax', '', 'must be at most …, not …'),
    row('`size_limit_mb` of a volume', 'volumeSizeMb', 'MiB', 'must be at most …, not …'),
    characters('Names of states, steps, volumes and sources', 'nameLength'),
    characters('A template', 'templateLength'),
    characters('`image`', 'imageReferenceLength'),
    characters('`resources.memory`', 'quantityLength'),
    row('Levels of a value in `context`', 'jsonDepth', 'levels', 'is nested deeper than … levels'),
  ],
};

const templates: LimitGroup = {
  title: 'Templates, expressions and schemas',
  rows: [
    row('A template', templateLimits.tokens, 'tokens', 'the template has more than … tokens; split it'),
    row('Blocks in each other', templateLimits.blockDepth, 'levels', 'more than … nested blocks or else branches'),
    row('Parentheses in each other', templateLimits.callDepth, 'levels', 'more than … nested parentheses'),
    row(
      'A rendered text',
      templateLimits.renderedLength,
      'characters',
      'the rendered text is longer than … characters',
    ),
    row(
      'Work of one state, as text that it stores',
      Math.floor(workLimits.turn / prices.storedByte),
      'bytes',
      'takes too much work for one turn of the controllers',
    ),
    row(
      'Work of checking one definition, as tokens of all its templates',
      Math.floor(workLimits.registration / prices.token),
      'tokens',
      'takes too much work for one turn of the controllers',
    ),
    row('Levels of a value that is read, printed or written', 'jsonDepth', 'levels', 'is nested deeper than … levels'),
    characters('`expression`', expressionLimits.length),
    row(
      'Parentheses and negations of an `expression` in each other',
      expressionLimits.depth,
      'levels',
      'more than … nested parentheses and negations',
    ),
    row(
      'Schemas within `input_schema` or `output_schema`',
      schemaLimits.subschemas,
      'schemas',
      'the schema has more than … schemas within it',
    ),
    row('Values of a schema', schemaLimits.size, 'values', 'a schema has at most … values'),
    row('Levels of a schema', schemaLimits.depth, 'levels', 'nested at most … levels'),
    row(
      'Different patterns of a schema',
      schemaLimits.patterns,
      'patterns',
      'the schema has more than … different patterns',
    ),
    row('Entries of an `enum` or `required`', schemaLimits.listEntries, 'entries', 'a list of at most …'),
  ],
};

const execution: LimitGroup = {
  title: 'An execution',
  rows: [
    row('Input, as JSON', 'executionInputBytes', 'bytes', 'its input may have … bytes'),
    row('Levels of the input', 'jsonDepth', 'levels', 'is nested deeper than … levels'),
    entries('`blackboard` at the start', 'mapEntries'),
    items('`signals`', 'signals'),
    row(
      'Executions under one root that are still there',
      'descendantsMax',
      'executions',
      'would be one of more than … executions',
    ),
    row(
      'Executions in a chain, each started by the end of the one before',
      'stimulusLinksMax',
      'links',
      'the chain is … links long',
    ),
    row('Subworkflows in each other', 'subworkflowDepthMax', 'levels', 'would be nested more than … levels deep'),
    row(
      'One argument or variable of a command',
      128 * 1024 - 1,
      'bytes',
      'has … bytes and a process takes …; pass large values through a file on a volume',
    ),
    row('Kept standard output, and standard error', 'outputStreamBytes', 'bytes', 'stdout_truncated'),
    row('Rendered `arguments` of call_tool', 'toolCallArgumentsBytes', 'bytes', 'bytes and a call takes …'),
    row(
      'The same, as the API server stores them',
      'toolCallArgumentsStoredBytes',
      'bytes',
      'bytes when they are stored',
    ),
    row('Answer of a tool, as the API server stores it', 'toolCallResultBytes', 'bytes', 'stdout_truncated'),
    row('Outputs in ConfigMaps, compressed', 'configMapStoreBytes', 'bytes', 'OutputBudgetExceeded'),
    row('One stored output', 'storedBlobBytes', 'bytes', 'OutputBudgetExceeded'),
    row('The status of an execution', 'statusBytes', 'bytes', 'StatusTooLarge'),
    {
      ...row('`final_output` in full, in an answer', 'inlinedValuesBytes', 'bytes', ''),
      otherwise: 'nothing: what has no room stays a reference',
    },
  ],
};

const agents: LimitGroup = {
  title: 'An agent',
  rows: [
    items('`tools`', 'agentTools'),
    characters('Name of a tool', 'toolNameLength'),
    row('Agents that start one another in a row', 'agentDepthMax', 'starts', 'which may start none'),
    row(
      'Executions under way below one first agent',
      'agentFamilyMax',
      'executions',
      'executions that this agent and those below it started',
    ),
    items('`approval.tools`', 'approvalPatterns'),
    row('Calls of an execution that a person is asked about', 'agentAsks', 'calls', 'ApprovalsExceeded'),
    row('Arguments of such a call', 'askArgumentsLength', 'characters', 'ArgumentsTooLong'),
    row('Reason of a person', 'askFeedbackLength', 'characters', 'feedback or reason: at most … characters'),
    characters('Input of an execution', 'agentInputLength'),
    characters('Final text of an execution', 'agentOutputLength'),
    row('Verdict of a judge', 'judgeOutputLength', 'characters', 'characters and a verdict takes …'),
  ],
};

const requests: LimitGroup = {
  title: 'A request to the HTTP API',
  rows: [
    row(
      'Memory that the JSON of a body takes',
      'parsedJsonBytes',
      'bytes',
      'it would take more than … bytes of memory',
    ),
    row('Levels of a body', 'jsonDepth', 'levels', 'is nested deeper than … levels'),
    row('Body of a webhook, as it is sent and as it is decoded', 'webhookBodyBytes', 'bytes', 'is larger than … bytes'),
    row(
      'Content of a stimulus, as of a decoded webhook',
      'executionInputBytes',
      'bytes',
      'an execution holds at most …',
    ),
    row('An idempotency key', 'idempotencyKeyLength', 'characters', 'characters; at most … are allowed'),
    row('Items a page', 'pageSizeMax', 'items', 'more than … counts as …'),
  ],
};

const models: LimitGroup = {
  title: 'Models and the node configuration',
  rows: [
    row('The file of the node configuration', nodeConfigLimits.fileBytes, 'bytes', 'bytes; at most … are read'),
    items('`llm_providers`', nodeConfigLimits.providers),
    items('`models` of a provider', nodeConfigLimits.modelsPerProvider),
    row('Text of an answer', modelLimits.contentLength, 'characters', 'sent content of more than … characters'),
    row('Tool calls of an answer', modelLimits.toolCalls, 'calls', 'sent more than … tool calls'),
    row(
      'Arguments of a tool call',
      modelLimits.argumentsLength,
      'characters',
      'sent a tool call with more than … characters of arguments',
    ),
    row('One event of a streamed answer', modelLimits.eventBytes, 'bytes', 'sent … of more than … bytes'),
    row('Silence within an answer', modelLimits.idleMs / 1_000, 'seconds', 'sent nothing for … seconds'),
    row('Time of an answer', modelLimits.requestMs / 1_000, 'seconds', 'did not finish its answer within … seconds'),
  ],
};

const tools: LimitGroup = {
  title: 'Tools that tenants register',
  rows: [
    items('`steps` of a ToolWorkflow', 'toolSteps'),
    row(
      '`body_template` of all steps together',
      'toolTemplatesLength',
      'characters',
      'the body templates of all steps have more than … characters',
    ),
    entries('`extractors` of a step', 'stepExtractors'),
    characters('The JSONPath of an extractor', 'extractorLength'),
    row(
      'Bodies and answers over 64 KiB of the signed calls of one tenant that are under way in a replica',
      Math.floor((bodyLimits.signed * 4) / 5),
      'bytes',
      'large bodies and answers of the signed calls of one tenant have at most … bytes in a replica',
    ),
    row('n of `RetryN`', 'stepRetriesMax', '', 'with n from 0 to …'),
    characters('`operation_id`', 'operationIdLength'),
    characters('`server_url`, `token_url`, `audience`', 'apiUrlLength'),
    characters('`description` of a tool or an API', 'toolDescriptionLength'),
    row('`document` in an ApiSpec', 'apiDocumentInlineBytes', 'bytes', 'must have at most … characters'),
    row('A document, over HTTP', 'apiDocumentBytes', 'bytes', 'the document has … bytes; at most … are taken'),
    row(
      'Compressed documents of one tenant beside their objects',
      'apiDocumentsTenantBytes',
      'bytes',
      'the documents of this tenant would take … bytes; at most … are kept',
    ),
    items('ConfigMaps of one document', 'apiDocumentParts'),
    characters('`code` of a Script', 'scriptLength'),
    items('`tags` of a Script', 'scriptTags'),
    characters('`repo_url` of a GitBinding', 'gitUrlLength'),
    characters('`ref` of a GitBinding', 'gitRefLength'),
    characters('`request.message` of a GitBinding', 'gitMessageLength'),
    row('`depth` of a GitBinding', 'gitDepthMax', 'commits', 'must be at most …, not …'),
    row('`refresh_seconds` of a GitBinding, at least', 'gitRefreshSecondsMin', 's', 'must be at least …'),
    row('Name of a GitBinding', 'gitBindingNameLength', 'characters', 'label must have at most … characters'),
    row('`timeout_seconds` of a CliTool', 'cliToolTimeoutSecondsMax', 's', 'must be at most …, not …'),
    items('`networks` of a SecurityContext', 'listedNetworks'),
    items('`ports` of one of the `networks`', 'listedPorts'),
    items('`git_secrets` of a SecurityContext', 'contextGitSecrets'),
    items('`files` of a CliTool', 'cliToolFiles'),
    characters('A path that a file tool takes', 'toolPathLength'),
    characters('`path` of a file of a CliTool', 'cliToolPathLength'),
  ],
};

const edge: LimitGroup = {
  title: 'Edge hosts, groups and fleet runs',
  rows: [
    characters('`name` of a host or a group', 'edgeNameLength'),
    items('`tags` of a host, and `AllOf`', 'edgeTags'),
    characters('A tag', 'edgeTagLength'),
    characters('The value of a label', 'edgeLabelLength'),
    items('`tools`, `tags` and `labels` of a selector', 'edgeSelectorItems'),
    items('`pinned_members` of a group', 'edgePinnedMembers'),
    row('Hosts of one fleet run', 'fleetTargets', 'hosts', 'a run takes at most …'),
    row('`args` of a fleet run as JSON', 'fleetArgsBytes', 'bytes', 'bytes of JSON; at most … are allowed'),
    row(
      '`config` pushed to a host, as JSON',
      'edgeConfigBytes',
      'bytes',
      'has more than … bytes of JSON; push it in parts',
    ),
    row('`per_target_deadline_secs`', 'fleetDeadlineSecsMax', 'seconds', 'must be at most …, not …'),
    {
      ...row('`stdout_tail` and `stderr_tail` of a host', 'fleetTailBytes', 'bytes', ''),
      otherwise: 'nothing: only the end is kept',
    },
    {
      ...row('`recent_commands` of a host', 'hostRecentCommands', 'commands', ''),
      otherwise: 'nothing: only the newest are kept',
    },
    row(
      '`config` that operators push to a host',
      'edgeConfigBytes',
      'bytes',
      'has more than … bytes of JSON; push it in parts',
    ),
    entries('`labels` of a host', 'edgeLabels'),
    items('`local_tools` and `mount_points` of a daemon', 'edgeLocalTools'),
    characters('One of the `mount_points`', 'edgePathLength'),
  ],
};

/** Every ceiling of ours that a user can meet, by what meets it (requirements AMB-192). */
export const limitGroups: readonly LimitGroup[] = [
  definition,
  templates,
  execution,
  agents,
  models,
  tools,
  edge,
  requests,
];

/**
 * The other keys of `crds/limits.ts`: defaults, which the pages of their fields show; bounds of Kubernetes; and
 * values that move from one place to another without anything being refused.
 */
export const notMet: readonly (keyof typeof limits)[] = [
  'apiDocumentPartBytes',
  'cliToolTimeoutSecondsDefault',
  'gitVolumeMbDefault',
  'transitionsDefault',
  'stateVisitsDefault',
  'stateTimeoutDefault',
  'containerTimeoutDefault',
  'workdirDefault',
  'retryAttemptsDefault',
  'retryBackoffDefault',
  'executionTtlSecondsDefault',
  'judgeTimeoutSecondsDefault',
  'judgePollIntervalMsDefault',
  'judgeWeightDefault',
  'minJudgesDefault',
  'consensusThresholdDefault',
  'agreementFactorDefault',
  'selfConfidenceFactorDefault',
  'confidenceThresholdDefault',
  'pageSizeDefault',
  'objectNameLength',
  'workflowVersionsListed',
  'inlineValueBytes',
  'inlineTotalBytes',
  'inlineFinalOutputBytes',
  'statusBytes',
  'idempotencySeconds',
  'storedJsonParts',
  'memoryBytesMin',
  'expiredVolumeSeconds',
  'queueTimeoutDefault',
  'disruptionRetriesMax',
  'inlineRefsBytes',
  'placeholderWarnings',
  'warningLength',
  'answersListed',
  'answerLength',
  'uidLength',
  'annotationBytes',
  'refsPerValue',
  'successors',
  'warnings',
  'fleetConcurrencyDefault',
  'fleetDeadlineSecsDefault',
  'fleetRecordParts',
  'fleetRunTtlSecondsDefault',
];
