import { limits } from '../crds/limits.ts';

/** Bounds of the daemon (design §11, §14). */
export const daemonLimits = {
  /** A file of the state folder or of the configuration, in bytes. */
  fileBytes: 1_048_576,
  /** One PushConfig, and all that was pushed together, in bytes. */
  pushedBytes: limits.edgeConfigBytes,
  /** Labels and paths of mounts as JSON; the rest of the 16 KiB of capabilities is left to the tools. */
  reportedBytes: 15 * 1024,
  /** Characters of labels, as the relay counts them; the rest of `edgeFactsLength` is left to the tools. */
  reportedLabels: limits.edgeFactsLength - 512,
  /** Commands that the journal remembers. */
  journalEntries: 10_000,
  /** Results on disk that no server has acknowledged, in bytes. */
  journalBytes: 256 * 1_048_576,
  /** The longest life of a command token: a deadline of a day, and five minutes. */
  tokenMs: 86_700_000,
  /** How long an id is remembered whose command was refused before its token was believed. */
  refusedMs: 3_600_000,
  /** Commands that the journal could not take, and that the daemon remembers in memory. */
  unkept: 1_000,
  /** Commands that run at a time, default; and those that wait for their turn. */
  concurrent: 4,
  waiting: 64,
  /** spec 3 §10.5: output of one command. */
  outputBytes: 524_288,
  /** Output that is passed on while a command runs; the relay keeps less (design §14). */
  progressBytes: 131_072,
  /** One chunk of it. */
  chunkBytes: 16_384,
  /** Messages that wait to be written, in bytes; progress beyond it is left out. */
  outgoingBytes: 1_048_576,
  /** Messages of the server that wait to be judged; beyond it the stream is not read. */
  incoming: 64,
  /** Between SIGTERM and SIGKILL of a command. */
  killMs: 5_000,
  /**
   * Pauses before a new connection, with full jitter: hosts whose relay ended together do not come back together.
   */
  backoff: { baseMs: 1_000, maxMs: 60_000 },
  /** How long an unary call may take. */
  callMs: 20_000,
  /** How often the daemon looks for changes of its host and for a rotation that is due. */
  lookMs: 60_000,
} as const;
