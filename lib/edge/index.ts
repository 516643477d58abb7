export { answerText } from './answer-text.ts';
export {
  argsHash,
  type CommandClaims,
  type CommandFacts,
  mintCommandToken,
  readCommandToken,
} from './command-token.ts';
export { openEdgeCommand, sealEdgeCommand } from './edge-command.ts';
export { type EdgeEventCase, type ReceivedEvent, readEdgeEvent, sealEdgeEvent } from './edge-event.ts';
export {
  challengeBytes,
  isChallengeSignedBy,
  isRotationProof,
  rotationProofBytes,
  signChallenge,
  signedBytes,
} from './edge-signature.ts';
export {
  commandIdOf,
  type EnrollmentClaims,
  mintEnrollmentToken,
  nodeIdOf,
  readEnrollmentToken,
} from './enrollment-token.ts';
export { assertFresh, isSealedBy, isSealedByInPool, type SealedMessage } from './envelope.ts';
export { durationOf, millisecondsOf, wholeSeconds } from './duration.ts';
export { edgeUnavailableReason, isEdgeUnavailable, isUnsent } from './edge-unavailable.ts';
export { factsLength, keptFacts } from './fact-texts.ts';
export { edgeLimits } from './limits.ts';
export { keyHashOfText, mintNodeToken, type NodeClaims, readNodeToken } from './node-token.ts';
export { hostRevokedReason, reasonTrailer } from './reason-trailer.ts';
export { type ReceivedRotation, readRotation, sealRotation } from './rotation.ts';
export { type CommandRecord, edgeBuckets, type HeldStream, type LivingRelay, type RecentStream } from './buckets.ts';
export { createHeartbeats, type Heartbeats } from './heartbeats.ts';
export { hasPlace, type NewsPlace } from './news-place.ts';
export { assertPayloadFields } from './payload-fields.ts';
export { createOutputTexts, type OutputText, type OutputTexts } from './output-texts.ts';
export { createRecentCommands, type RecentCommand, type RecentCommands } from './recent-commands.ts';
export {
  createEdgeResults,
  type EdgeChunk,
  type EdgeNews,
  type EdgeOutcome,
  type EdgeResults,
  edgeNewsAddress,
  edgeResultLogs,
  readEdgeNews,
  type FollowedNews,
} from './edge-results.ts';
export {
  type ClaimedCommand,
  createHostCommands,
  sealCommand,
  type SealedCommand,
  type HeartbeatsRequest,
  type HostAddress,
  type HostCommands,
  type HostRequest,
  relayAddress,
  streamElsewhere,
} from './host-commands.ts';
