import type { KeyObject } from 'node:crypto';
import { canonicalHash } from '../definition/canonical.ts';
import { edgeIssuer, seconds, signEdgeToken, textClaims, timesOf, verifiedClaims } from './jwt.ts';

const audience = 'edge-command';

/** Claims of a command token (design §14). Times in seconds since the Unix epoch. */
export interface CommandClaims {
  /** The caller who asked for the command. */
  readonly author: string;
  readonly tid: string;
  /** The node id of the host that may run it. */
  readonly node: string;
  readonly commandId: string;
  readonly tool: string;
  /** `argsHash` of the tool and its arguments. */
  readonly ah: string;
  /** Name of the security context. */
  readonly context: string;
  /** How long the command may run. */
  readonly deadlineSeconds: number;
  readonly iat: number;
  readonly exp: number;
}

/** SHA-256 of the RFC 8785 JSON of `{args, tool}`, in lower-case hexadecimal. */
export const argsHash = (tool: string, args: unknown): string => canonicalHash({ tool, args });

export interface CommandFacts extends Omit<CommandClaims, 'ah' | 'iat' | 'exp'> {
  readonly args: unknown;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** How long a daemon may take the command. */
  readonly lifeMs: number;
}

/** Issues a token; the edge key signs it, which no relay holds. */
export function mintCommandToken(edgeKey: KeyObject, facts: CommandFacts): Promise<string> {
  const iat = seconds(facts.now);
  return signEdgeToken(edgeKey, {
    iss: edgeIssuer,
    aud: audience,
    sub: facts.author,
    tid: facts.tid,
    node: facts.node,
    cid: facts.commandId,
    tool: facts.tool,
    ah: argsHash(facts.tool, facts.args),
    ctx: facts.context,
    deadline_s: facts.deadlineSeconds,
    iat,
    exp: iat + seconds(facts.lifeMs),
  });
}

/** The claims of a token that the pinned key has signed and whose time it is; undefined for anything else. */
export async function readCommandToken(
  edgePublicKey: KeyObject,
  token: string,
  now: number,
): Promise<CommandClaims | undefined> {
  const claims = await verifiedClaims(edgePublicKey, token, { audience, now });
  if (claims === undefined) return undefined;
  const texts = textClaims(claims, ['sub', 'tid', 'node', 'cid', 'tool', 'ah', 'ctx']);
  const { deadline_s: deadlineSeconds } = claims;
  if (texts === undefined || typeof deadlineSeconds !== 'number' || !(deadlineSeconds > 0)) return undefined;
  const { sub: author, cid: commandId, ctx: context, ...others } = texts;
  return { ...others, author, commandId, context, deadlineSeconds, ...timesOf(claims) };
}
