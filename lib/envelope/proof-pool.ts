import type { Clock } from '../clock.ts';
import { createFairPool } from '../fair-pool.ts';
import { networkOf } from '../network-of.ts';
import { createTokenReader, type SealVerifier } from './token.ts';

/** Proofs at once of calls with a token of ours, and those that wait for it. */
const holders = { size: 64, waiting: 1_024, waitMs: 5_000 };
/** The same of all other calls: none of them is proved, unless the installation proves no call. */
const strangers = { size: 16, waiting: 256, waitMs: 5_000 };

/** The sender of a call, as the connection shows it. */
export interface CallSender {
  readonly address: string;
  readonly signal: AbortSignal;
}

/**
 * Lets proofs of calls take turns, by a share that the sender cannot choose. It is that of the tenant whose token it
 * holds, or else that of its address, among strangers. A session that a call names counts for nothing before (ADR
 * 0130).
 */
export interface ProofPool {
  /** @throws AppError `unavailable` where no turn comes; the error of `proof`; the signal's reason. */
  run<T>(token: string, sender: CallSender, proof: () => Promise<T>): Promise<T>;
}

/** Without a key every sender is a stranger. */
export function createProofPool({ clock, key }: { clock: Clock; key: SealVerifier | undefined }): ProofPool {
  const held = createFairPool({ ...holders, clock });
  const strange = createFairPool({ ...strangers, clock });
  // Reading a token takes no store and less than its request took.
  const read = key === undefined ? async () => undefined : createTokenReader(key);
  return {
    async run(token, { address, signal }, proof) {
      const claims = await read(token, clock.now());
      if (claims === undefined) return strange.run({ tenant: networkOf(address), signal }, proof);
      return held.run({ tenant: claims.tenant_id, signal }, proof);
    },
  };
}
