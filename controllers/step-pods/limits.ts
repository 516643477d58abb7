import { bytesOf } from '../../lib/memory-budget/index.ts';

/** Numbers of step pods that are no part of the contract; those are in `crds/limits.ts`. */
export const stepPodLimits = {
  /**
   * design §6: the log of a step is followed for at most its first minute, for a longer one the kubelet's delay is noise.
   * The log of a step that has ended is complete; a reading that takes longer has got stuck.
   */
  readingMs: 60_000,
  /** design §6: logs that are followed at once, of which one tenant has four fifths. */
  streamsMax: 250,
  /** design §11: logs of steps that have ended that are read at once, of which one tenant has four fifths. */
  readsMax: 250,
  /** design §11: bytes for logs that are read and for outputs that are not stored yet, of which one tenant has four fifths. */
  logMemoryBytes: bytesOf('logs of steps'),
  /** design §11: a log's part of that while its length is unknown. */
  roomBytes: 128 * 1024,
  /** Wait before asking again an API server that did not answer; an output outlives its outage, however long (design §6). */
  unansweredAfterMs: 5_000,
  /**
   * Waits before reading a log again that does not fit its hashes, or has none: the kubelet may still write it. After the
   * last one the output is lost, and the exit code is all there is.
   */
  unprovenAfterMs: [200, 500, 1_000, 2_000, 5_000, 10_000, 10_000],
  /** How long a kubelet that does not answer for a log is asked again, and how often (issue 10, D1: minutes). */
  kubeletAwayMs: 10 * 60_000,
  kubeletAwayAfterMs: [500, 1_000, 2_000, 5_000],
  /** From when on a pod that was scheduled and has no container yet shows that it waits (issue 10, F3: within 2 s). */
  quietStartMs: 2_000,
  /** When the Events of a pod that waits are looked at, each after the one before, and how many of a reporter are read. */
  noteAfterMs: [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000],
  noteEvents: 10,
  /** Bytes of those Events: the kubelet writes notes of 1 KiB, and where the policy `pod-events` is missing one may have 1.5 MiB. */
  noteEventsBytes: 256 * 1024,
  /** Characters of a note, as many as Kubernetes allows one of events.k8s.io. */
  noteLength: 1_024,
  /**
   * Places for looks at Events, and how long a look keeps its place. One namespace alone has eight places and so a look
   * a second; all together have at most five.
   */
  notePlaces: { size: 40, perFree: 0.25 },
  notePlaceMs: 8_000,
  /** How long a look waits for its turn: for longer than a pod waits. */
  noteTurnMs: 24 * 60 * 60_000,
} as const;
