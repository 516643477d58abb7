/** Every number of the specification and of the design, once, with its source. Units are in the names. */
export const limits = {
  /** spec 1 §2.6: default and ceiling of `max_total_transitions`. */
  transitionsDefault: 50,
  transitionsMax: 100,
  /** spec 1 §2.6: default and ceiling of `max_state_visits`. */
  stateVisitsDefault: 5,
  stateVisitsMax: 20,
  /** spec 1 §2.6: default of a state's `timeout`. */
  stateTimeoutDefault: '300s',
  /** requirements AMB-190: default of a state's `queue_timeout`. */
  queueTimeoutDefault: '1h',
  /**
   * requirements AMB-191: attempts that a state may make beyond `retry.max_attempts` for pods lost through no fault
   * of their own.
   */
  disruptionRetriesMax: 3,
  /** spec 1 §2.6: default of `resources.timeout`, the hard limit of a container. */
  containerTimeoutDefault: '5m',
  /** spec 1 §2.6: default working directory of a container. */
  workdirDefault: '/workspace',
  /** spec 1 §2.6: default `retry.max_attempts` (attempts in all) and `retry.backoff`. */
  retryAttemptsDefault: 1,
  retryBackoffDefault: '0s',
  /** Our ceiling for `retry.max_attempts`; the specification gives none. */
  retryAttemptsMax: 20,
  /** spec 1 §3.3, requirements AMB-085: the root has depth 0, a child of depth 11 is refused. */
  subworkflowDepthMax: 10,
  /** Our ceilings for agents that start agents: starts in a row, and executions under way below one first agent. */
  agentDepthMax: 3,
  agentFamilyMax: 32,
  /** requirements AMB-189: links of a chain in which the end of one execution starts the next one. */
  stimulusLinksMax: 10,
  /** Our ceiling for the executions that one root has started, itself or through others, and that are still there. */
  descendantsMax: 1_000,
  /** spec 1 §2.6, requirements AMB-079: bytes kept of each output stream. */
  outputStreamBytes: 1_048_576,
  /** Our ceiling for the size of a volume, 16 TiB; the specification gives none. */
  volumeSizeMb: 16 * 1024 * 1024,
  /** spec 1 §2.6: length of the name of a workflow; and of a state, a volume, a source. */
  nameLength: 63,
  /** Kubernetes: length of a uid. */
  uidLength: 36,
  /** Kubernetes: longest name of an object. */
  objectNameLength: 253,
  /** Versions that the status of a workflow lists, the newest; all that were stored can be run and are in the API's list. */
  workflowVersionsListed: 500,
  /** design §5: a Blackboard value whose JSON is larger is kept in the output store. */
  inlineValueBytes: 2_048,
  /** Parts of one value that the output store holds one by one, and bytes that their places take in status. */
  refsPerValue: 200,
  inlineRefsBytes: 32 * 1024,
  /** design §5: what all inline values of one status may take together; later ones go to the store. */
  inlineTotalBytes: 128 * 1024,
  /** Largest `final_output` that status holds inline; a larger one is in the store. */
  inlineFinalOutputBytes: 32 * 1024,
  /** design §5: largest status of a legal execution. */
  statusBytes: 256 * 1024,
  /** design §5: budget of the ConfigMap output store for one execution, in stored (compressed) bytes. */
  configMapStoreBytes: 32 * 1024 * 1024,
  /** Largest value that the output store takes, uncompressed: no reader takes more (what one template may load). */
  storedBlobBytes: 16 * 1024 * 1024,
  /** Objects, lists and members in one stored JSON value; each takes up to a hundred bytes of memory. */
  storedJsonParts: 1024 * 1024,
  /** design §5: default life of a finished execution. */
  executionTtlSecondsDefault: 24 * 3600,
  /** How long the object of an expired volume that was made for an execution is kept, to say what became of it. */
  expiredVolumeSeconds: 24 * 3600,
  /** spec 1 §2.6: judge defaults. */
  judgeTimeoutSecondsDefault: 60,
  judgePollIntervalMsDefault: 500,
  judgeWeightDefault: 1,
  minJudgesDefault: 1,
  consensusThresholdDefault: 0.7,
  agreementFactorDefault: 0.7,
  selfConfidenceFactorDefault: 0.3,
  /** spec 1 §8: how long an idempotency key is remembered. */
  idempotencySeconds: 24 * 3600,
  /** Our ceiling for the length of an idempotency key; the specification gives none. */
  idempotencyKeyLength: 1_024,
  /** spec 1 §2.4: default of a StimulusRouter's `confidence_threshold`. */
  confidenceThresholdDefault: 0.7,
  /** Our ceiling for the body of a webhook. */
  webhookBodyBytes: 10 * 1024 * 1024,
  /** Largest input of an execution as JSON: etcd takes 1.5 MiB for the object with its status. */
  executionInputBytes: 1024 * 1024,
  /**
   * Heap that the JSON of one request may take when it is parsed, by `jsonCost`: twelve times the largest text. Data
   * that people send takes less, and 1 MiB of `{}` takes more (design §11).
   */
  parsedJsonBytes: 12 * 1024 * 1024,
  /** requirements, appendix C: items a page of a list, by default and at most. */
  pageSizeDefault: 50,
  pageSizeMax: 200,
  /** Ours: characters of the words that a list is searched for. */
  searchLength: 256,
  /** Networks of a SecurityContext, and ports of each (ADR 0100; our own). */
  listedNetworks: 50,
  listedPorts: 16,
  /**
   * Characters of all texts of the lists of a SecurityContext, with `contextTextCharge` more for each: a replica of the gateway
   * keeps every context of every tenant (our own).
   */
  contextTextsLength: 64 * 1024,
  contextTextCharge: 32,
  /** An admission policy asks for each of them (ADR 0098); the API server bounds what the questions of one policy cost. */
  contextGitSecrets: 8,
  /** requirements AMB-154: what `?full=true` puts in its place, in bytes of the stored parts. */
  inlinedValuesBytes: 10 * 1024 * 1024,
  /** Largest depth of nested objects and lists in free JSON. */
  jsonDepth: 64,
  /** Sizes of lists and maps; they bound the cost of the admission rules. */
  states: 100,
  transitionsPerState: 20,
  steps: 50,
  judges: 20,
  volumes: 20,
  sharedVolumes: 20,
  signals: 500,
  /** Executions that run one again, as far as its status names them: the newest. */
  successors: 20,
  /** Warnings that a status keeps, and characters of one. */
  warnings: 20,
  /** So many of them may be about placeholders. */
  placeholderWarnings: 15,
  warningLength: 512,
  /** Responses of a Human state that its status lists, and the longest one listed: a hint, not the rules themselves. */
  answersListed: 20,
  answerLength: 128,
  mapEntries: 200,
  /** Finalizers and owners of an object of ours or of the pod of a step, beside our own finalizers (ADR 0141). */
  finalizers: 16,
  owners: 16,
  /** requirements AMB-178: labels and annotations of a manifest, as JSON, where Kubernetes refuses one of them. */
  givenMetadataBytes: 32 * 1024,
  /** Kubernetes: keys and values of all annotations of one object. */
  annotationBytes: 256 * 1024,
  commandElements: 200,
  /** Our ceilings for agents: tools of one, length of a tool's name, and of the text that one takes and gives. */
  agentTools: 100,
  toolNameLength: 128,
  /** Linux: a path, which file tools take. */
  toolPathLength: 4_096,
  /** Ours: patterns of spec.approval; asks of one execution; arguments that a person is shown, and what one says, in characters. */
  approvalPatterns: 50,
  agentAsks: 50,
  askArgumentsLength: 32_768,
  askFeedbackLength: 8_192,
  /** Ours: the sentence that says why a conversation waits. */
  agentWaitLength: 256,
  /**
   * Ours: the bytes of a call of a tool by a workflow. They are those of its arguments in UTF-8, and those of arguments
   * and answer together as the API server stores them. etcd takes 1.5 MiB for the object, which holds both.
   */
  toolCallArgumentsBytes: 262_144,
  toolCallArgumentsStoredBytes: 524_288,
  toolCallResultBytes: 786_432,
  agentInputLength: 262_144,
  agentOutputLength: 262_144,
  /** Longest verdict of a judge, in characters: one state reads those of all its judges in one turn. */
  judgeOutputLength: 65_536,
  templateLength: 65_536,
  /** Our ceilings for tools that tenants register (spec 3 §8: "not shown"); length of a description in characters. */
  toolDescriptionLength: 4_096,
  /** Ours: of a Script. */
  scriptLength: 131_072,
  scriptTags: 20,
  /** Ours: of a GitBinding; git takes longer ones, servers hardly do. */
  gitBindingNameLength: 59,
  gitUrlLength: 2_048,
  gitRefLength: 255,
  gitDepthMax: 100_000,
  gitMessageLength: 16_384,
  gitVolumeMbDefault: 1_024,
  gitRefreshSecondsMin: 60,
  toolSteps: 64,
  /** Characters of all body templates of one tool workflow: etcd takes 1.5 MiB for the object. */
  toolTemplatesLength: 512 * 1024,
  stepExtractors: 32,
  extractorLength: 1_024,
  /** Our ceiling for n of `RetryN`; a step without backoff asks an upstream so many times more. */
  stepRetriesMax: 20,
  operationIdLength: 256,
  apiUrlLength: 2_048,
  /** requirements AMB-196: a document inline in its object, in ConfigMaps beside it, and of one tenant together. */
  apiDocumentInlineBytes: 512 * 1024,
  apiDocumentBytes: 5 * 1024 * 1024,
  apiDocumentsTenantBytes: 64 * 1024 * 1024,
  /** ConfigMaps of one document, and compressed bytes of one of them: Kubernetes takes 1 MiB. */
  apiDocumentParts: 8,
  apiDocumentPartBytes: 768 * 1024,
  /**
   * Objects of the schema of a registered tool, and lists, and commas: a schema that `registeredSchemaBytes` has room for has fewer
   * (our own).
   */
  toolSchemaParts: 32 * 1024,
  /** Our bounds of the command of a CLI tool. */
  cliToolTimeoutSecondsDefault: 60,
  /** Leaves time for the start of the pod and for the answer within `toolCallSeconds`. */
  cliToolTimeoutSecondsMax: 450,
  /** Longest time of one call at the tool gateway. */
  toolCallSeconds: 600,
  cliToolFiles: 8,
  cliToolPathLength: 255,
  /** Our ceilings for edge hosts: labels of one, tools and paths that a daemon reports, length of such a path. */
  edgeLabels: 64,
  edgeLocalTools: 256,
  edgePathLength: 1_024,
  /** Our ceiling for the length of an image's reference; registries take 255 characters of path. */
  imageReferenceLength: 1_024,
  /** Our ceiling for the length of a quantity as Kubernetes writes it, such as `1.5Gi`. */
  quantityLength: 32,
  /** Below it no container of Linux starts: the runtimes ask for 6 MiB (requirements AMB-192, a warning). */
  memoryBytesMin: 6 * 1024 * 1024,
  /** Our ceilings for hosts and groups: a display name, tags of a host and their length, the length of a label's value. */
  edgeNameLength: 253,
  edgeTags: 50,
  edgeTagLength: 128,
  edgeLabelLength: 256,
  /**
   * Characters of the tags and labels that operators give one host, names of labels included, with `edgeTextCharge`
   * more for each tag and label. The API, the controllers and relays keep those of all hosts (our own).
   */
  edgeTextsLength: 4 * 1024,
  edgeTextCharge: 32,
  /**
   * The same for what a daemon reports: names of its tools, with `edgeToolCharge` more for each, so that 256 short ones
   * have room. And its labels, with `edgeTextCharge` more for each (our own).
   */
  edgeFactsLength: 4 * 1024,
  edgeToolCharge: 8,
  /** Our ceilings for a selector's lists and for the hosts that a group names. */
  edgeSelectorItems: 20,
  edgePinnedMembers: 1_000,
  /** Our ceiling for the hosts of one fleet run, and for those that it lists as skipped. */
  fleetTargets: 10_000,
  /** requirements AMB-103: defaults of a dispatch policy. */
  fleetConcurrencyDefault: 10,
  fleetDeadlineSecsDefault: 60,
  /** Our ceiling for the deadline of one command: a day. */
  fleetDeadlineSecsMax: 86_400,
  /** Our ceiling for the arguments of a fleet run, in bytes of JSON: each host gets them all. */
  fleetArgsBytes: 64 * 1024,
  /** requirements AMB-115: what a run's record keeps of each output stream of one host, and commands that a host lists. */
  fleetTailBytes: 4 * 1024,
  hostRecentCommands: 20,
  /** Parts of the record of one run in the output store. */
  fleetRecordParts: 250,
  /** Characters of the outcomes of a run that no part has: some 500, each of 19 characters at most. */
  fleetOpenOutcomesLength: 16_384,
  /** One change of a host's configuration that operators push, in bytes of JSON: the host takes no more (ADR 0068). */
  edgeConfigBytes: 256 * 1024,
  /** How long a fleet run that has ended is kept, where it does not say. */
  fleetRunTtlSecondsDefault: 7 * 24 * 3600,
} as const;
