/** The key of one pod, to be bound to a session of its execution. */
export interface Attested {
  readonly tenant: string;
  readonly executionId: string;
  readonly podUid: string;
  readonly agentId: string;
  /** Base64 of the raw Ed25519 public key. */
  readonly publicKey: string;
  /** Name of the SecurityContext. */
  readonly securityContext: string;
  readonly toolPatterns: readonly string[];
  /** When the session ends at the latest. RFC 3339. */
  readonly expiresAt: string;
}

/** What an attested pod is given (spec 1 §4.4). */
export interface AttestedSession {
  readonly security_token: string;
  readonly session_id: string;
  /** RFC 3339. */
  readonly expires_at: string;
}

/** Sessions of pods. */
export interface Attestations {
  /**
   * Binds the key. The same pod and key get their session again; the session of a newer pod replaces and revokes the
   * older one (requirements AMB-197).
   * @throws AppError `invalid` for a key that is none (AMB-142), `conflict` for another key of the same pod.
   */
  attest(attested: Attested): Promise<AttestedSession>;
  /** Whether this pod has attested for the execution, and its session is not revoked. */
  isAttested(executionId: string, podUid: string): Promise<boolean>;
}
