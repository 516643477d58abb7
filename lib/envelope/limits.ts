/** Bounds of the invocation lane (spec 3 §5.2, §8; requirements AMB-001, AMB-012). */
export const envelopeLimits = {
  envelopeBytes: 2_097_152,
  /** A larger body is parsed only where it holds a token of an active session. */
  unprovedBytes: 4_096,
  tokenLength: 8_192,
  /** Base64 of 64 bytes. */
  signatureLength: 88,
  timestampLength: 64,
  executionIdLength: 128,
  /** How far the clock of a signer may be from ours, either way. */
  freshMs: 30_000,
  /** How long a call is remembered: longer than its timestamp can be fresh. */
  replayMs: 120_000,
  /** How long a session lasts where its maker does not say. */
  sessionMs: 3_600_000,
  longestSessionMs: 7 * 24 * 3_600_000,
} as const;
