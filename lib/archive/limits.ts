import { limits } from '../../crds/limits.ts';

/** Numbers of the archive (requirements AMB-174, ADR on the archive). */
export const archiveLimits = {
  /** Large values that a record holds in full, in bytes. */
  valuesBytes: limits.inlinedValuesBytes,
  /** An unpacked record: the values, and an object as etcd takes it (1.5 MiB, of which JSON escapes some characters). */
  recordBytes: limits.inlinedValuesBytes + 6 * 1024 * 1024,
  /** Entries of a conversation that are read at a time. */
  entriesOfPage: 256,
  /** Bytes of a page, in the log as in a record, unless its first entry alone has more. */
  bytesOfPage: 512 * 1024,
  /** Bytes of a page for a stream of events: the record is opened anew for each, and a client may not read on. */
  bytesOfSmallPage: 128 * 1024,
  /** A row of the list: names, times and one message. */
  rowBytes: 16 * 1024,
  /** Characters of the message in a row. */
  rowMessageLength: 1_024,
  /** Records that are written at once; of them one tenant has four fifths. */
  writesAtOnce: 4,
  /** Waits while the store does not answer. */
  awayAfterMs: [500, 1_000, 2_000, 5_000, 10_000, 30_000],
  /** Waits before a record that the store refused is written again. */
  refusedAfterMs: [1_000, 5_000, 30_000, 60_000, 300_000],
  /** How long after its end an execution that is not archived yet gets a finalizer. */
  holdAfterMs: 1_000,
  /** Between two searches for records that are too old. */
  expireEveryMs: 3_600_000,
  /** Part of its share that a tenant above it keeps: trimming takes larger steps than writing. */
  trimTo: 0.9,
  /** Archived executions that are read at once by one replica; of them one tenant has four fifths. */
  readsAtOnce: 5,
} as const;
