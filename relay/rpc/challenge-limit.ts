import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import { isRetryable } from '../../lib/kube/index.ts';

/** Proofs that one relay checks at once, those that wait, and for how long: a call may take 20 s. */
const proofs = { size: 16, waiting: 8_192, waitMs: 15_000 };
/** Redemptions by one attestation at one relay. A daemon needs one, and another for each answer that it lost. */
const redemptionsMost = 20;
/** Attestations that a process remembers; the longest unused one is forgotten first. */
const attestationsMax = 100_000;

/**
 * Bounds what a flood of `ChallengeNode` costs. The spec bounds AttestNode alone, 5 a minute and address, and an
 * attestation counts for 60 s. So this one needs no count of addresses, behind one of which many honest daemons may be.
 * The redemptions by one attestation are bounded, and only checks of proofs take turns by address.
 */
export interface ChallengeLimit {
  /**
   * Checks a proof in the turn of its address: a flood of one waits behind itself. Throws AppError `unavailable` where no turn
   * comes.
   */
  prove<T>(address: string, check: () => Promise<T>): Promise<T>;
  /**
   * Redeems a token by an attestation whose key has signed. One that ends for want of NATS or the Kubernetes API does not count.
   * @throws GrpcError `limit_exceeded` for the 21st; the error of `redeem`.
   */
  redeem<T>(attestation: string, redeem: () => Promise<T>): Promise<T>;
}

export function createChallengeLimit(clock: Clock): ChallengeLimit {
  const pool = createFairPool({ ...proofs, clock });
  const counts = new LRUCache<string, number>({ max: attestationsMax });
  const add = (attestation: string, change: number): number => {
    const count = (counts.get(attestation) ?? 0) + change;
    counts.set(attestation, count);
    return count;
  };
  return {
    prove: (address, check) => pool.run({ tenant: address }, check),
    async redeem(attestation, redeem) {
      if ((counts.get(attestation) ?? 0) >= redemptionsMost) throw tooMany();
      add(attestation, 1);
      try {
        return await redeem();
      } catch (error) {
        if (isRetryable(error)) add(attestation, -1);
        throw error;
      }
    },
  };
}

const tooMany = (): GrpcError =>
  new GrpcError('limit_exceeded', 'this attestation has redeemed a token too often; attest again');
