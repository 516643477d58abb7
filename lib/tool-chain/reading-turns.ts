import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { AppError, hasReason } from '../errors.ts';
import { createFairPool } from '../fair-pool.ts';
import { StepFailure } from './step-failure.ts';

/** Waits for a turn of the event loop that has so many microseconds of processor time left. */
export type Spend = (microseconds: number) => Promise<void>;

/**
 * Runs the task while no other response is read: the values of one response at a time are in memory.
 * @throws StepFailure where its turn does not come before the signal aborts; what the task throws.
 */
export type ReadInTurn = <T>(signal: AbortSignal, task: (spend: Spend) => Promise<T>) => Promise<T>;

/** Gives turns to the chains of all tenants. */
export interface ReadingTurns {
  of(tenant: string): ReadInTurn;
}

/** Processor time of all work that begins in one turn of the event loop, in microseconds. */
const turnCost = 5_000;

/**
 * One reading of a process at a time, the tenants by turns. Work that does not fit into what the turn of the event
 * loop has left begins in the next one. So other requests are served between two large pieces.
 */
export function createReadingTurns(clock: Clock): ReadingTurns {
  const pool = createFairPool({ size: 1, clock });
  let left = 0;
  const spend: Spend = async (cost) => {
    if (cost > left) {
      await setImmediate();
      left = turnCost;
    }
    left -= cost;
  };
  return {
    of: (tenant) => async (signal, task) => {
      using _place = await pool.enter({ tenant, signal }).catch(noTurn);
      return await task(spend);
    },
  };
}

function noTurn(error: unknown): never {
  if (error instanceof AppError && !hasReason(error, 'Overloaded')) throw error;
  throw new StepFailure('the gateway read other responses until the time of the step was up; the step was sent', {
    isOfGateway: true,
  });
}
