/** Numbers of the pods of bindings that are no part of the contract. */
export const gitLimits = {
  /** Longest time of git itself; the pod around it has a little more. */
  seconds: 240,
  graceSeconds: 15,
  /** From its creation on a pod may wait so long for its container. */
  queueMs: 5 * 60_000,
  /** From its begin on an operation may wait so long for room in a quota. */
  quotaMs: 60 * 60_000,
  /** Wait before a full quota is asked again: its line wakes one binding at a time long before. */
  quotaAgainMs: 60_000,
  /** Pods of one operation: one that was lost is made again. */
  attempts: 3,
  /** Wait before looking again at a state without events. */
  lookAgainMs: 5_000,
  /** Wait before looking again at a binding for which nothing can be done: what blocks it may have no event of its own. */
  blockedAgainMs: 45_000,
  memory: '512Mi',
  messageLength: 1_024,
  /** Characters of what an operation found, as JSON. */
  outputLength: 65_536,
} as const;
