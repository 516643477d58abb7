/** Numbers of agents' pods that are no part of the contract. */
export const agentLimits = {
  /** Longest time of an execution whose agent names none (crds/schema/agent.ts). */
  timeout: '15m',
  /** Longer ones were stored before they were refused (ADR 0127). */
  longestMs: 7 * 24 * 60 * 60_000,
  /** requirements AMB-197: pods that take the place of one that was lost. */
  replacements: 3,
  /** From its creation on a pod may wait so long for its container. */
  queueMs: 60 * 60_000,
  /** After the end of a container the outcome may still be on its way. */
  outcomeMs: 15_000,
  /** An answer that the conversation has at the deadline may still be on its way for so long. */
  lateOutcomeMs: 60_000,
  /** The caches may be behind the one who made an execution beside its agent or its volumes. */
  unknownMs: 10_000,
  /** Wait before looking again at a state without events. */
  lookAgainMs: 2_000,
  /** The same where a change of the agent wakes the execution: one that is never accepted costs next to nothing. */
  agentAgainMs: 60_000,
  /** Wait before a pod that was refused is asked for again. */
  roomMs: 5_000,
  /** The same where a quota is full: its line wakes one execution at a time long before. */
  quotaMs: 300_000,
  /** The kubelet ends a pod that has outlived its execution by so much, should the controllers be away. */
  deadlineGraceMs: 60_000,
  messageLength: 2_048,
} as const;
