import { hash, type KeyObject } from 'node:crypto';
import { rawPublicKey } from '../envelope/public-key.ts';
import { isJsonObject } from '../json-object.ts';
import { edgeIssuer, seconds, signEdgeToken, textClaims, timesOf, verifiedClaims } from './jwt.ts';

const audience = 'edge-node';

/** Claims of a NodeSecurityToken (spec 2 §2.4). Times in seconds since the Unix epoch. */
export interface NodeClaims {
  readonly nodeId: string;
  /** The tenant that the host is bound to. */
  readonly tid: string;
  readonly jti: string;
  /** Names the daemon's key, so that the token is of no use with another one. */
  readonly keyHash: string;
  readonly iat: number;
  readonly exp: number;
}

/** Names a key: SHA-256 of its 32 bytes, in base64url. */
const keyHashOf = (key: KeyObject): string => hash('sha256', rawPublicKey(key), 'base64url');

/** The same from the base64 of a key that was checked when it was stored: to parse a key takes as long as to verify with it. */
export const keyHashOfText = (text: string): string => hash('sha256', Buffer.from(text, 'base64'), 'base64url');

interface NodeTokenFacts extends Pick<NodeClaims, 'nodeId' | 'tid' | 'jti'> {
  readonly publicKey: KeyObject;
  /** Milliseconds since the Unix epoch; equal facts give the same token. */
  readonly issuedAt: number;
  readonly lifeMs: number;
}

/** Issues a token; the relay's key signs it. */
export function mintNodeToken(relayKey: KeyObject, facts: NodeTokenFacts): Promise<string> {
  const { nodeId, tid, jti, publicKey, issuedAt, lifeMs } = facts;
  const iat = seconds(issuedAt);
  return signEdgeToken(relayKey, {
    iss: edgeIssuer,
    aud: audience,
    sub: nodeId,
    tid,
    jti,
    cnf: { 'x5t#S256': keyHashOf(publicKey) },
    iat,
    exp: iat + seconds(lifeMs),
  });
}

/** The claims of a token that the relay's key has signed; undefined for anything else. `any` takes one that has expired. */
export async function readNodeToken(
  relayPublicKey: KeyObject,
  token: string,
  now: number | 'any',
): Promise<NodeClaims | undefined> {
  const claims = await verifiedClaims(relayPublicKey, token, { audience, now });
  if (claims === undefined) return undefined;
  const texts = textClaims(claims, ['sub', 'tid', 'jti']);
  const keyHash = keyHashIn(claims['cnf']);
  if (texts === undefined || keyHash === undefined) return undefined;
  const { sub: nodeId, tid, jti } = texts;
  return { nodeId, tid, jti, keyHash, ...timesOf(claims) };
}

function keyHashIn(cnf: unknown): string | undefined {
  const found = isJsonObject(cnf) ? cnf['x5t#S256'] : undefined;
  return typeof found === 'string' && found !== '' ? found : undefined;
}
