/** Bounds of what servers of the Model Context Protocol may cost one process. */
export const mcpLimits = {
  /** Tools of one server; further ones are left out. */
  toolsPerServer: 128,
  pagesPerList: 20,
  /** Tools of all pages that are looked at. */
  toolsListed: 4_096,
  /** Length of the name that the server gives; `NAME.` of the server comes before it. */
  toolNameLength: 64,
  descriptionLength: 4_096,
  /** Bytes of the schema of one tool, as JSON. */
  schemaBytes: 32_768,
  /** Bytes of one HTTP answer when it is unpacked, an event stream included. */
  responseBytes: 4 * 1_024 * 1_024,
  /** Values of the JSON of one answer, and those among them in the first levels, where each costs its reader more. */
  values: 100_000,
  shallowValues: 4_096,
  /** Message, result, and list of contents or tools. */
  shallowLevels: 3,
  /** Bytes and values of what a server says of itself when a session begins. They are kept for as long as the session is. */
  greeting: { bytes: 65_536, values: 1_024 },
  /** Lines of one event stream; a message has two or more. */
  eventLines: 16_384,
  /** Bytes of an event stream that are read in one turn: a message of nine bytes may cost 50 µs. */
  turnBytes: 8_192,
  /** Bytes of an answer that needs no room of its own. */
  smallBytes: 65_536,
  /** Characters of the text of one answer. */
  answerLength: 1_048_576,
  headerBytes: 65_536,
  /** Sessions of all servers and tenants together; the one used longest ago gives way. */
  sessions: 500,
  sessionIdleMs: 300_000,
  /** Calls of one server at once, and those that wait; one tenant has four fifths at most. */
  calls: 32,
  waiting: 256,
  waitMs: 10_000,
  connectMs: 10_000,
  listMs: 15_000,
  callMs: 30_000,
  /** HTTP requests of one call at once: the call, and answers to questions of the server. */
  requestsPerCall: 16,
  /** For how long a request stays open behind the answer, or the end of its call. */
  afterAnswerMs: 1_000,
  listEveryMs: 60_000,
  listRetryMs: 5_000,
} as const;
