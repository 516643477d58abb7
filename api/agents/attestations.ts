import { issueSession, type IssueSessionDeps } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { Attestations } from './attestation.ts';

/** Attestations as sessions of signed tool calls: one key for each pod (requirements AMB-017, AMB-197). */
export function createAttestations(deps: IssueSessionDeps): Attestations {
  const { sessions } = deps;
  return {
    async attest({ executionId, podUid, publicKey, tenant, agentId, securityContext, toolPatterns, expiresAt }) {
      const earlier = await sessions.find(executionId);
      if (earlier?.pod_uid === podUid && earlier.public_key !== publicKey) {
        throw new AppError('conflict', 'this pod has attested with another key', { reason: 'AttestedBefore' });
      }
      return issueSession(deps, {
        executionId,
        agentId,
        podUid,
        tenant,
        publicKey,
        securityContext,
        allowedToolPatterns: toolPatterns,
        expiresAt,
      });
    },
    async isAttested(executionId, podUid) {
      const session = await sessions.find(executionId);
      return session !== undefined && session.pod_uid === podUid && session.revoked !== true;
    },
  };
}
