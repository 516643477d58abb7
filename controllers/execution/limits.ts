/** Numbers of the engine that are no part of the contract; those are in `crds/limits.ts`. */
export const engineLimits = {
  /** design §11: turns of one execution that share a status write, and how long the first of them waits for it. */
  turnsAWrite: 32,
  progressMs: 5_000,
  /** How long a finished execution outlives its time while what its end is to start cannot be made (AMB-189). */
  stimulusGraceMs: 15 * 60_000,
  /** How long a container runs before the start of its state's default timeout is written down: most end sooner. */
  startSettlesMs: 5_000,
  /** The same where a wait is shown, and how long it stays so: a short step ends with the write that would take it away. */
  waitSettlesMs: 1_500,
  /** How long a container has ended before its output counts as late, so that the status says that it ran. */
  outputSettlesMs: 30_000,
  /** How long until an execution looks again at a pod whose output is being read, though news of it has woken nothing. */
  readAgainMs: 30_000,
} as const;
