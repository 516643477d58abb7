import { type IssuedSession, issueSession, type IssueSessionDeps } from './issue-session.ts';

/** The key of one pod, to be bound to a session of its execution. */
interface Attested {
  readonly tenant: string;
  readonly executionId: string;
  readonly podUid: string;
  /** Base64 of the raw Ed25519 public key. */
  readonly publicKey: string;
  /** Name of the SecurityContext. */
  readonly securityContext: string;
  readonly toolPatterns: readonly string[];
  /** When the session ends at the latest. RFC 3339. */
  readonly expiresAt: string;
}

/** Sessions of pods, as the pods' side of the API asks for them. */
interface Attestations {
  attest(attested: Attested): Promise<IssuedSession>;
  /** Whether this pod has attested for the execution, and its session is not revoked. */
  isAttested(executionId: string, podUid: string): Promise<boolean>;
}

export function createAttestations(deps: IssueSessionDeps): Attestations {
  return {
    attest: ({ toolPatterns, ...attested }) => issueSession(deps, { ...attested, allowedToolPatterns: toolPatterns }),
    async isAttested(executionId, podUid) {
      const session = await deps.sessions.find(executionId);
      return session !== undefined && session.pod_uid === podUid && session.revoked !== true;
    },
  };
}
