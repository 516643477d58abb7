import { EnvelopeError } from './envelope-error.ts';
import { envelopeLimits } from './limits.ts';
import { fieldTexts } from './outline.ts';
import { proveToken, type ProofDeps, requireActive, requireTenant, sealProof, underSession } from './prove-envelope.ts';
import type { CallSender, ProofPool } from './proof-pool.ts';
import { textAt } from './read-envelope.ts';
import type { HeardSession } from './sessions.ts';
import { claimedTenant } from './token.ts';

/** Texts that name a session and its token, as they came. */
interface Named {
  readonly executionId: unknown;
  readonly token: unknown;
}

/**
 * Refuses a large body, before anything is made of it, unless it names an active session and holds a token of it. A
 * sender without credentials would else choose how long the process parses. `named` comes in the headers of a request;
 * without it the body is an envelope. A small body passes; `prove` looks at it. @throws EnvelopeError as the proof of
 * the call would, or `malformed`; AppError `unavailable`.
 */
export type Vouch = (bytes: Uint8Array, sender: CallSender, named?: Named) => Promise<void>;

interface VouchDeps extends Omit<ProofDeps, 'bus'> {
  readonly proofs: ProofPool;
}

export function createVouch(deps: VouchDeps): Vouch {
  const { sessions, proofs, known = () => undefined } = deps;
  const proof = sealProof(deps);
  const proveUnder = async (supposed: HeardSession | undefined, token: string): Promise<void> => {
    const session = await requireActive(proof, { token }, supposed);
    try {
      await proveToken(proof, { token }, session);
    } catch (error) {
      throw underSession(error, session);
    }
  };
  const proveNamed = async ({ session, token }: ReturnType<typeof namedOf>): Promise<void> => {
    requireTenant(session);
    const heard = known(session);
    try {
      if (heard !== undefined) return await proveUnder(heard, token);
    } catch (error) {
      // The session may have changed since this process heard of it.
      if (!(error instanceof EnvelopeError)) throw error;
    }
    await proveUnder(await sessions.lookUp(session), token);
  };
  return async (bytes, sender, named) => {
    if (bytes.byteLength <= envelopeLimits.unprovedBytes) return;
    const call = namedOf(named ?? namedIn(bytes));
    await proofs.run(call.token, sender, () => proveNamed(call));
  };
}

function namedOf({ executionId, token: given }: Named) {
  const token = textAt(given, 'security_token', envelopeLimits.tokenLength);
  const execution_id = textAt(executionId, 'metadata.execution_id', envelopeLimits.executionIdLength);
  return { token, session: { tenant: claimedTenant(token), execution_id } };
}

function namedIn(bytes: Uint8Array): Named {
  const { metadata, security_token: token } = fieldTexts(bytes, ['metadata', 'security_token']);
  const { execution_id } = metadata === undefined ? {} : fieldTexts(metadata, ['execution_id']);
  return { token: valueOf(token), executionId: valueOf(execution_id) };
}

/** No text that is taken is longer, whatever escapes it is written with. */
const longest = 6 * envelopeLimits.tokenLength + 64;

function valueOf(text: Buffer | undefined): unknown {
  if (text === undefined || text.byteLength > longest) return undefined;
  try {
    return JSON.parse(text.toString()) as unknown;
  } catch {
    return undefined;
  }
}
