/** Limits of tokens and providers in this process. */
export const identityLimits = {
  /** Fits tokens that list some two hundred groups, and leaves room for the other headers of a request. */
  tokenBytes: 12_288,
  /** OpenID Connect Core §2. */
  subjectLength: 255,
  keyIdLength: 256,
  /** Requirements AMB-148: how far the clocks of provider and process may be apart. */
  leewaySeconds: 5,
  /** Published keys or metadata: more is no answer of a provider. */
  documentBytes: 256 * 1024,
  documentTimeoutMs: 5_000,
  /** Requirements AMB-121: at most one fetch in this time, for all callers. */
  fetchIntervalMs: 1_000,
  /** After failures the pause doubles up to this. */
  fetchPauseMs: 10_000,
  /** For how long requests wait for a fetch of the provider's keys that was begun for a key they lack. */
  keyWaitMs: 1_000,
  /** Requirements AMB-121: for how long a key id that the provider did not know is refused without asking again. */
  unknownKeyMs: 10_000,
  unknownKeys: 1_000,
  /** Tokens remembered as verified. */
  verifiedTokens: 5_000,
} as const;
