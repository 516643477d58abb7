import { createHash, type KeyObject } from 'node:crypto';
import { edgeIssuer, seconds, signEdgeToken, textClaims, timesOf, verifiedClaims } from './jwt.ts';
import { edgeLimits } from './limits.ts';

const audience = 'edge-enrollment';

/** Claims of a one-time enrollment token (spec 2 §2.4). Times in seconds since the Unix epoch. */
export interface EnrollmentClaims {
  /** Redeemed once. */
  readonly jti: string;
  /** The tenant that the host will be bound to. */
  readonly tid: string;
  /** The issuer: the subject of the operator. */
  readonly issuedBy: string;
  /** Friendly name for the host. */
  readonly name?: string;
  readonly nbf: number;
  readonly exp: number;
}

interface EnrollmentFacts extends Pick<EnrollmentClaims, 'jti' | 'tid' | 'issuedBy' | 'name'> {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** At most `edgeLimits.enrollmentSeconds`. */
  readonly ttlSeconds: number;
}

/** Issues a token; the edge key signs it. */
export function mintEnrollmentToken(edgeKey: KeyObject, facts: EnrollmentFacts): Promise<string> {
  const { jti, tid, issuedBy, name, now, ttlSeconds } = facts;
  const iat = seconds(now);
  const times = { iat, nbf: iat, exp: iat + Math.min(ttlSeconds, edgeLimits.enrollmentSeconds) };
  const claims = { iss: edgeIssuer, aud: audience, sub: issuedBy, tid, jti, ...times };
  return signEdgeToken(edgeKey, name === undefined ? claims : { ...claims, name });
}

/** The claims of a token that the edge key has signed and whose time it is; undefined for anything else. */
export async function readEnrollmentToken(
  edgePublicKey: KeyObject,
  token: string,
  now: number,
): Promise<EnrollmentClaims | undefined> {
  const claims = await verifiedClaims(edgePublicKey, token, { audience, now });
  if (claims === undefined) return undefined;
  const texts = textClaims(claims, ['sub', 'tid', 'jti']);
  const { iat, exp } = timesOf(claims);
  const { name, nbf } = claims;
  if (texts === undefined || nbf === undefined || exp - iat > edgeLimits.enrollmentSeconds) return undefined;
  const own = { jti: texts.jti, tid: texts.tid, issuedBy: texts.sub, nbf, exp };
  return typeof name === 'string' && name !== '' ? { ...own, name } : own;
}

/** The node id that a token enrolls: a UUID (version 8) that follows from the token's id. */
export const nodeIdOf = (jti: string): string => uuidFrom(`windlass-edge-node\0${jti}`);

/** The id of a run's command for a host: a UUID (version 8) that follows from both. */
export const commandIdOf = (run: string, nodeId: string): string =>
  uuidFrom(`windlass-edge-command\0${run}\0${nodeId}`);

/** RFC 9562 §5.8: the first 16 bytes of a SHA-256, with the marks of version and variant. */
function uuidFrom(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
