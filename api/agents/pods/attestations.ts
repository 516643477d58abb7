import {
  type IssuedSession,
  issueSession,
  type IssueSessionDeps,
  type SessionName,
  type SessionRequest,
} from '../../../lib/envelope/index.ts';

/** Sessions of pods. */
export interface Attestations {
  /**
   * Binds the key. The same pod and key get their session again; the session of a newer pod replaces and revokes the
   * older one (requirements AMB-197).
   * @throws AppError `invalid` for a key that is none (AMB-142), `conflict` for another key of the same pod.
   */
  attest(request: SessionRequest): Promise<IssuedSession>;
  /** Whether this pod has attested for the execution, and whether its session is revoked. Undefined where it has not. */
  sessionOf(session: SessionName, podUid: string): Promise<{ readonly isRevoked: boolean } | undefined>;
}

/** Attestations as sessions of signed tool calls: one key for each pod (requirements AMB-017, AMB-197). */
export function createAttestations(deps: IssueSessionDeps): Attestations {
  const { sessions } = deps;
  return {
    attest: (request) => issueSession(deps, request),
    async sessionOf(name, podUid) {
      const session = await sessions.find(name);
      return session?.pod_uid === podUid ? { isRevoked: session.revoked === true } : undefined;
    },
  };
}
