export { type IssuedSession, issueSession, type IssueSessionDeps, type SessionRequest } from './issue-session.ts';
export { envelopeBody, envelopeErrors } from './envelope-contract.ts';
export { envelopeLimits } from './limits.ts';
export { rawPublicKey, readNewPublicKey, readPublicKey, readRawPublicKey } from './public-key.ts';
export { requireSessionContext } from './session-context.ts';
export { loadSealKey, type SealKey, sealTokenVariables, sealVariables } from './seal-key.ts';
export {
  createSessions,
  type HeardSession,
  heardOf,
  type SealSession,
  sessionBucket,
  sessionKey,
  sessionSubject,
  type SessionName,
  type Sessions,
  isOrphaned,
} from './sessions.ts';
export { algorithmsOf, issueToken, readToken, type SealClaims, type SealVerifier } from './token.ts';

export { type CallCounter, createCallCounter } from './call-counter.ts';
export { type CallsUnderWay, createCallsUnderWay, isSessionRevoked, unlessRevoked } from './calls-under-way.ts';
export { createRevocations, type Revocations } from './revocations.ts';

export { EnvelopeError } from './envelope-error.ts';
export {
  activeSession,
  createEnvelopeProof,
  createSessionProof,
  type ProveEnvelope,
  type ProveSession,
} from './prove-envelope.ts';
export { callIn, type Envelope, readEnvelope, readSealedRequest, type SealedRequest } from './read-envelope.ts';
export { type CallSender, createProofPool, type ProofPool } from './proof-pool.ts';
export { namedTenant, requireNamedTenant } from './named-tenant.ts';
export { createRefusalNotes, type NoteRefusal, type RefusalEvent, refusedCall } from './refusal-notes.ts';
export { createVouch, type Vouch } from './vouch.ts';
export { signEnvelope } from './sign-envelope.ts';
