import { bytesOf } from '../memory-budget/index.ts';

/** Bounds of the gateway's audit (issue: no act without its event; spec 3 §6 names no numbers). */
export const auditLimits = {
  /** Longest time until an event is stored or refused; a sweep ends it up to `sweepMs` later. */
  appendMs: 1_800,
  /** For how long an outcome waits for the bus. Its caller waits for `appendMs`. */
  outcomeMs: 120_000,
  /** For how long outcomes wait for the bus when the process stops. */
  closeMs: 5_000,
  /** Between two attempts to store what waits for the bus. */
  retryMs: 250,
  sweepMs: 100,
  /** Bytes of the data of one event, as JSON. */
  dataBytes: 16 * 1_024,
  /** UTF-16 units of one text in the data; the middle of a longer one is left out. */
  textLength: 1_024,
  /** Events and bytes of one stored message. */
  batchEvents: 256,
  batchBytes: 256 * 1_024,
  /** Events and bytes that wait in one process, of one tenant four fifths (`mayHold`). */
  waitingEvents: 10_000,
  waitingBytes: bytesOf('audit events'),
  /** Between two checkpoints of a chain that grows. */
  checkpointMs: 5_000,
  /** Checkpoints that are kept of one chain. */
  checkpointsKept: 8,
  /** Checkpoints that are stored at a time. */
  checkpointsAtOnce: 64,
  /** A chain that does not grow for so long is forgotten; its end is read again where it grows later. */
  idleMs: 600_000,
  /** Lanes of an installation: writers at a time. */
  lanes: 64,
  /** For how long a lane belongs to a writer that says nothing more, and how often it says so. */
  leaseMs: 60_000,
  renewMs: 20_000,
  /** Messages, and bytes of them, that one page looks at, where its filters leave few events. */
  pageMessages: 2_000,
  pageBytes: 16 * 1_048_576,
  /** Bytes that one read asks the bus for: what a page needs passes through a connection that all tenants share. */
  readBytes: 2 * 1_048_576,
  /** Readers of the record at a time, those that wait, and for how long. */
  readsAtOnce: 3,
  readsWaiting: 256,
  readWaitMs: 20_000,
  pageEvents: 500,
  /** Checkpoints of one page: more than one tenant has. */
  pageCheckpoints: 2_000,
  storedMaxBytes: 1_024 * 1_048_576,
  checkpointsMaxBytes: 64 * 1_048_576,
  storedMaxAgeMs: 2_160 * 3_600_000,
} as const;
