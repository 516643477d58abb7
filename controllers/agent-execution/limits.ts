/** Limits of executions of agents that are no part of the API. Names in `Ms` are milliseconds. */
export const agentLimits = {
  /** Longest time of an execution whose agent names none (crds/schema/agent.ts). */
  timeout: '15m',
  /** Longer ones were stored before they were refused (ADR 0127). */
  longestMs: 7 * 24 * 60 * 60_000,
  /** requirements AMB-197: pods that take the place of one that was lost. */
  replacements: 3,
  /** Longest wait of a pod for its container, from its creation on, and of an execution for room for its first pod. */
  queueMs: 60 * 60_000,
  /** The outcome may reach the caches this long after the end of a container. */
  outcomeMs: 15_000,
  /** Longest wait after the deadline for an answer that the conversation has, and that is not stored yet. */
  lateOutcomeMs: 60_000,
  /** The cache of agents or volumes may lack for so long what was created together with an execution. */
  unknownMs: 10_000,
  /** Wait before the next reconcile where no event announces a change. */
  lookAgainMs: 2_000,
  /** The same where a change of the agent wakes the execution: one that is never accepted costs next to nothing. */
  agentAgainMs: 60_000,
  /** Wait before the next create of a pod or a network policy that the API server refused. */
  roomMs: 5_000,
  /** The same where a quota is full: its line wakes the execution long before. */
  quotaMs: 300_000,
  /** The kubelet ends a pod that outlives its execution by so much, even while no controller runs. */
  deadlineGraceMs: 60_000,
  messageLength: 2_048,
} as const;
