/** Our ceilings for calls to models; the specification gives none. */
export const modelLimits = {
  /** Text of one answer, in UTF-16 units, and its tool calls. */
  contentLength: 1_048_576,
  toolCalls: 128,
  /** Name of the model that answered, as a provider gives it; `spec.result.model` of an execution takes no longer one. */
  modelNameLength: 253,
  argumentsLength: 1_048_576,
  /** Arguments of all calls of one answer. */
  allArgumentsLength: 4_194_304,
  /** One event of a stream, and everything that a stream sends. */
  eventBytes: 8_388_608,
  streamBytes: 134_217_728,
  /** Body of a refusal that is read, and how much of it a message shows. */
  refusalBytes: 65_536,
  refusalShown: 300,
  requestMs: 600_000,
  idleMs: 60_000,
  /** Longest wait before another attempt, however long a provider asks for. */
  retryWaitMs: 60_000,
  /**
   * Requests that may wait for one provider: more than one replica drives conversations (`api/agents/drivers/room.ts`), each of which asks once
   * at a time. They wait for as long as their executions have: a turn that comes late is no failure of the provider.
   */
  waiting: 4_000,
  turnMs: 7 * 24 * 3_600_000,
  /** Wait for a turn after which `failover` asks the next provider. */
  busyMs: 5_000,
  /** Failures in a row that open the circuit breaker, how many of them count for one tenant, and how long it stays open. */
  breakerFailures: 5,
  breakerFailuresOfOne: 3,
  breakerOpenMs: 10_000,
} as const;
