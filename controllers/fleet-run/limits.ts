import { edgeLimits } from '../../lib/edge/index.ts';
import { fleetTimes } from '../../lib/fleet/plan.ts';
import { recordPartBytes } from '../../lib/fleet/run-record.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';

/** Numbers of fleet runs that are no part of the contract. */
export const fleetRunLimits = {
  /** The caches may be behind the one who made a run beside its namespace and hosts. */
  unknownMs: 3_000,
  /** A status is written so often at most during its run. */
  statusMs: 1_000,
  /** Outcomes that wait to be stored with others, at most so many and for so long. */
  recordsPerPart: 500,
  recordsWaitMs: 60_000,
  /** A record of so many parts has its small ones joined before the next is stored. */
  joinPartsAt: 200,
  partBytes: recordPartBytes,
  /** Calls for commands of all runs that are under way at one time, and as many for cancellations. */
  launches: 64,
  cancels: 64,
  /** Commands of one run that wait for their turn, or for their hosts, at one time. The next ones follow when half of them are left. */
  launchesPerRun: 512,
  /** Commands that one turn of the event loop begins with, or ends the waits of: each takes some tenths of a millisecond. */
  begunPerTurn: 50,
  /** A host whose stream is away may come back within this time; then its command fails. */
  unreachableMs: 15_000,
  retryMs: 1_000,
  /** A run that cannot begin waits for so long, or for the deadline of its commands where that is longer. */
  beginWaitMs: 300_000,
  /** Wait before a run whose namespace is no tenant is looked at again: its label may return, and wakes no run. */
  tenantAgainMs: 10_000,
  /** A cancellation without an answer is sent again after so long. */
  cancelAgainMs: 5_000,
  /**
   * A run that is deleted is let go after so long, whatever its commands do: as long as a cancellation may be tried, and as
   * long as its answer may take.
   */
  leaveMs: 2 * fleetTimes.cancelGraceMs,
  /** An outcome that was said in place of a host is said again after so long, until the log has it. */
  reportAgainMs: 10_000,
  /** As long as a run may wait for a turn of any pool. */
  longestWaitMs: 86_400_000,
  /** Beyond the deadline a command's token is good for so long: the clock of a connected host may be ahead by as much. */
  tokenGraceMs: edgeLimits.skewMs,
  /** Bytes of output that are kept for all runs: of hosts in flight, and of outcomes that are not stored yet. */
  outputBytes: bytesOf('output of fleet runs'),
  /** The same for one run; beyond it tails are short. */
  tailsBytes: 16 * 1024 * 1024,
  shortTailBytes: 256,
  /** Bytes of one page of news, and pages of all runs that are in memory at a time. */
  newsPageBytes: 2 * 1024 * 1024,
  newsPages: 4,
  /** News that come within this time are one page. */
  pauseMs: 10,
  /** A view that missed the word of news looks for itself after so long. */
  lookAgainMs: 10_000,
  /** Where NATS has no room it is tried again after pauses that double, up to this one. */
  fullAgainMs: 10_000,
  /** Pause of a view whose bus is away. */
  awayMs: 250,
  /** A run whose object is gone is looked at again after so long, until its commands have ended. */
  deletionPauseMs: 250,
  /** Arguments of so many bytes of JSON are kept; larger ones are read for each command. */
  keptArgsBytes: 4_096,
  messageLength: 2_048,
} as const;
