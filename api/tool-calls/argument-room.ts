import type { Clock } from '../../lib/clock.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { jsonCost } from '../../lib/http/json-cost.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { longestCallMs } from '../../lib/tools/web/answer-room.ts';

/** Memory of one process for the arguments of tool calls as values, with shares for tenants. */
export interface ArgumentRoom {
  /**
   * Waits until the tenant may hold the values of this text. Small ones never wait.
   * @throws AppError `Overloaded`, or the reason of the signal.
   */
  enter(of: { readonly tenant: string; readonly text: string }, signal: AbortSignal): Promise<ArgumentPart>;
}

/** Given back at the end of its scope: when the tool has ended. */
export interface ArgumentPart extends Disposable {
  /** Counts the texts alone: the tool holds the values no more. */
  keepText(): void;
}

/** Bytes that each call may have, whatever the others have. */
const smallBytes = 65_536;
/** The text of a call is in its ToolCall, in what is sent for it, and there once more while that is written. */
const textsOfCall = 3;

const nothing: ArgumentPart = { keepText: () => undefined, [Symbol.dispose]: () => undefined };

/** One tenant has half of it at most: a tool may hold arguments for ten minutes, and another tenant has its turn meanwhile. */
export function createArgumentRoom(clock: Clock): ArgumentRoom {
  const pool = createFairPool({ size: bytesOf('arguments of tool calls'), clock, waitMs: longestCallMs, perFree: 1 });
  return {
    async enter({ tenant, text }, signal) {
      const cost = jsonCost(text);
      if (cost <= smallBytes) return nothing;
      const place = await pool.enter({ tenant, cost, signal });
      return {
        keepText: () => place.shrinkTo(textsOfCall * Buffer.byteLength(text)),
        [Symbol.dispose]: () => place.leave(),
      };
    },
  };
}
