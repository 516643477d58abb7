import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { AppError, hasReason } from '../errors.ts';
import { createFairPool } from '../fair-pool.ts';
import { StepFailure } from './step-failure.ts';

/** Reading of a response, beside which no other one is read. */
interface Reading {
  /** Processor time that it takes at most, in microseconds. */
  readonly cost: number;
  readonly signal: AbortSignal;
}

/** Runs the task in its turn. @throws StepFailure where no turn comes before the signal aborts; what the task throws. */
export type ReadInTurn = <T>(reading: Reading, task: () => T | Promise<T>) => Promise<T>;

/** Gives turns of the event loop to the chains of all tenants. */
export interface ReadingTurns {
  of(tenant: string): ReadInTurn;
}

/** Processor time of all readings that begin in one turn of the event loop, in microseconds. */
const turnCost = 5_000;

/**
 * One reading of a process at a time, the tenants by turns. A reading that does not fit into what the turn of the event
 * loop has left begins in the next one. So other requests are served between two large ones.
 */
export function createReadingTurns(clock: Clock): ReadingTurns {
  const pool = createFairPool({ size: 1, clock });
  let left = 0;
  return {
    of: (tenant) => async (reading, task) => {
      using _place = await pool.enter({ tenant, signal: reading.signal }).catch(noTurn);
      if (reading.cost > left) {
        await setImmediate();
        left = turnCost;
      }
      left -= reading.cost;
      return await task();
    },
  };
}

function noTurn(error: unknown): never {
  if (error instanceof AppError && !hasReason(error, 'Overloaded')) throw error;
  throw new StepFailure('the gateway reads other responses, and the time of the step is up; try again');
}
