import type { Clock } from '../../lib/clock.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { createHostPace, takeOne } from '../hosts/host-pace.ts';

/** Proofs that one relay checks at once, those that wait, and for how long: a call may take 20 s. */
const proofs = { size: 16, waiting: 8_192, waitMs: 10_000 };
/** Hosts that are read and written at once for callers who have a key that this relay knows of the host. */
const known = { size: 32, waiting: 8_192, waitMs: 10_000 };
/** The same for others: few, as most of them are strangers with an old token. */
const unknown = { size: 4, waiting: 256, waitMs: 5_000 };
/** Calls for one host by one key that reach the API server: at once, and then one each interval. A daemon whose answer was lost needs three. */
const calls = { burst: 32, intervalMs: 10_000 };
/** Rotations of one host: at once, and then one each interval. A lost answer takes one more. */
export const rotationPace = { burst: 8, intervalMs: 60_000 };

interface RotateCaller {
  readonly address: string;
  readonly nodeId: string;
  /** The key that has signed, where this relay knows it of the host. */
  readonly signer: string | undefined;
}

/**
 * Bounds what `RotateEdgeKey` costs (ADR 0166). A caller without a key of the host takes nothing from those who have one: neither
 * a place, nor a call of the host. One with a key that was replaced takes no call of the key that counts. All of it counts at this relay alone.
 */
export interface RotateLimit {
  /** Checks a proof in the turn of its address. Throws AppError `unavailable` where no turn comes. */
  prove<T>(address: string, check: () => Promise<T>): Promise<T>;
  /**
   * Asks the API server for the host in the turn of the address.
   * @throws GrpcError `limit_exceeded` for a call that comes too soon, and says when to come back; AppError `unavailable` where
   * no turn comes.
   */
  ask<T>(caller: RotateCaller, work: () => Promise<T>): Promise<T>;
  /**
   * Replaces the key of a host. One that is not written does not count.
   * @throws GrpcError `limit_exceeded` for a rotation that comes too soon, and says when to come back.
   */
  rotate<T>(nodeId: string, write: () => Promise<T | undefined>): Promise<T | undefined>;
}

export function createRotateLimit(clock: Clock): RotateLimit {
  const pools = {
    proofs: createFairPool({ ...proofs, clock }),
    known: createFairPool({ ...known, clock }),
    unknown: createFairPool({ ...unknown, clock }),
  };
  const callsOf = { known: createHostPace(clock, calls), unknown: createHostPace(clock, calls) };
  const rotations = createHostPace(clock, rotationPace);
  return {
    prove: (address, check) => pools.proofs.run({ tenant: address }, check),
    async ask({ address, nodeId, signer }, work) {
      const kind = signer === undefined ? 'unknown' : 'known';
      // By the key as well: the holder of the one before, or of one that only this memory has, may call as often as the host.
      takeOne(
        callsOf[kind],
        signer === undefined ? nodeId : `${nodeId}/${signer}`,
        'rotations of this host are asked for too often',
      );
      return pools[kind].run({ tenant: address }, work);
    },
    async rotate(nodeId, write) {
      takeOne(rotations, nodeId, 'the key of this host is replaced too often');
      let written: Awaited<ReturnType<typeof write>>;
      try {
        written = await write();
      } catch (error) {
        rotations.giveBack(nodeId);
        throw error;
      }
      if (written === undefined) rotations.giveBack(nodeId);
      return written;
    },
  };
}
