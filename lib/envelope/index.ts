export { type CallCounter, createCallCounter } from './call-counter.ts';
export { type CallsUnderWay, createCallsUnderWay, isSessionRevoked, unlessRevoked } from './calls-under-way.ts';
export { envelopeBody, envelopeErrors } from './envelope-contract.ts';
export { EnvelopeError } from './envelope-error.ts';
export { type IssuedSession, type IssueSessionDeps, issueSession, type SessionRequest } from './issue-session.ts';
export { envelopeLimits } from './limits.ts';
export { type NamedTenant, namedTenant, requireNamedTenant, tenantInArguments } from './named-tenant.ts';
export { type CallSender, createProofPool, type ProofPool } from './proof-pool.ts';
export {
  activeSession,
  createEnvelopeProof,
  createSessionProof,
  type ProveEnvelope,
  type ProveSession,
} from './prove-envelope.ts';
export { rawPublicKey, readNewPublicKey, readPublicKey, readRawPublicKey } from './public-key.ts';
export { callIn, type Envelope, readEnvelope, readSealedRequest, type SealedRequest } from './read-envelope.ts';
export { createRefusalNotes, type NoteRefusal, type RefusalEvent, refusedCall } from './refusal-notes.ts';
export { createRevocations, type Revocations } from './revocations.ts';
export { loadSealKey, type SealKey, sealTokenVariables, sealVariables } from './seal-key.ts';
export { requireSessionContext } from './session-context.ts';
export {
  createSealSessions,
  type HeardSession,
  heardOf,
  isOrphaned,
  type SealSession,
  type SessionName,
  type SealSessions,
  sessionBucket,
  sessionKey,
  sessionSubject,
} from './sessions.ts';
export { signEnvelope } from './sign-envelope.ts';
export { algorithmsOf, issueToken, readToken, type SealClaims, type SealVerifier } from './token.ts';
export { createVouch, type Vouch } from './vouch.ts';
