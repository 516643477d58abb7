/** Bounds of edge mode (spec 2 §3, §4.1, §8; requirements AMB-011, AMB-096, AMB-112). */
export const edgeLimits = {
  /** One message of a stream, either way. */
  messageBytes: 4 * 1_048_576,
  /** An unary request of an enrollment or a rotation. */
  unaryBytes: 64 * 1024,
  /** A token of any kind, in characters. */
  tokenLength: 4_096,
  /** Length of a UUID: a node id, a stream id, a command id. */
  uuidLength: 36,
  /** How far the clock of a daemon may be from ours, either way. */
  skewMs: 300_000,
  /** spec 2 §4.2: life of an enrollment token, default and longest. */
  enrollmentSeconds: 900,
  /** AMB-112: life of a node security token, and how long an old key counts beside a new one. */
  nodeTokenMs: 24 * 3_600_000,
  overlapMs: 300_000,
  /** spec 2 §4.1, defaults: how often a daemon says that it lives; after more than which silence it is Unhealthy. */
  heartbeatMs: 30_000,
  staleMs: 90_000,
  /** No server may ask for heartbeats that come more seldom. */
  heartbeatMostMs: 3_600_000,
  /** design §14: how long a stream may be away before its host is Disconnected. */
  disconnectGraceMs: 10_000,
  /** Between AttestNode and ChallengeNode. */
  attestationMs: 60_000,
  /** spec 2 §5: calls of AttestNode a minute and address. */
  attestationsPerMinute: 5,
  /** Size limit of a command to a daemon: a request over the bus holds it. */
  argsBytes: 256 * 1024,
  /** Result of a command beside which nothing else is kept: what one message of a stream of the bus takes. */
  payloadBytes: 512 * 1024,
  /** The same as JSON, in which a control character takes six bytes: a message of the bus has at most 1 MiB. */
  payloadJsonBytes: 960 * 1024,
  /** Fields of it on the wire, at all levels together: reading as many takes less than half of the 100 ms of a turn. */
  payloadFields: 32_768,
  /** Text of an error and of a reason. */
  messageLength: 4_096,
  /** Output of one command that is passed on while it runs. */
  progressBytes: 64 * 1024,
  /** Messages of it: a command that writes letter by letter is no flood of the bus. */
  progressChunks: 1_024,
  /** Size limits of a daemon's report about itself: its message, which has three bytes a character at most, and the parts of it. */
  reportBytes: 512 * 1024,
  localTools: 256,
  mountPoints: 256,
  labels: 64,
  nameLength: 253,
  /** All of it as JSON, mount points included: each change is a version of the host's object in the store. */
  capabilitiesBytes: 16 * 1024,
} as const;
