import { AppError, hasReason } from '../errors.ts';
import type { Taken } from '../tools/web/answer-room.ts';
import { answerLimits } from './limits.ts';
import { StepFailure } from './step-failure.ts';

/** Memory that is counted for a response; the pool of it has shares for tenants. */
export type HeldResponse = Pick<Taken, 'hold' | 'keep' | typeof Symbol.dispose>;

/** Bytes of heap that the values of one response, and what is taken of them, have without being counted. */
export const freeBytes = 4 * 1024;

interface Kept {
  readonly held: HeldResponse | undefined;
  /** Bytes of heap that its values take. */
  readonly cost: number;
  /** Bytes of heap of those that extractors took. */
  readonly extracted: number;
}

const nothing: Kept = { held: undefined, cost: 0, extracted: 0 };

/**
 * Keeps the responses of one call until it ends. The values of the last response are the result so far. It keeps only
 * the values that extractors took of each earlier response.
 */
export class KeptResponses implements Disposable {
  #result = nothing;
  /** Bytes of heap of all that extractors took of responses before the result. */
  #earlier = 0;
  readonly #earlierHeld: HeldResponse[] = [];

  /**
   * Room for the values of the next response, before they are made.
   * @throws StepFailure where the call would keep too much, or where no room comes in time.
   */
  async take(held: HeldResponse | undefined, cost: number): Promise<void> {
    if (this.#earlier + this.#result.extracted + cost > answerLimits.heapBytes) {
      throw new StepFailure(
        `the response and the values extracted before it take more than ${answerLimits.heapBytes} bytes of memory; ` +
          'ask for fewer objects and lists, or extract less',
      );
    }
    if (held !== undefined && cost > freeBytes) await held.hold(cost).catch(noRoom);
  }

  /** The next response is the result, and its text is gone. */
  replace(next: Kept): void {
    const { held, extracted } = this.#result;
    this.#earlier += extracted;
    if (extracted > 0 && held !== undefined) {
      held.keep(extracted);
      this.#earlierHeld.push(held);
    } else held?.[Symbol.dispose]();
    this.#result = next;
    next.held?.keep(next.cost);
  }

  /** Nothing of the responses is needed any more. */
  [Symbol.dispose](): void {
    this.#result.held?.[Symbol.dispose]();
    for (const held of this.#earlierHeld) held[Symbol.dispose]();
  }
}

function noRoom(error: unknown): never {
  if (error instanceof AppError && !hasReason(error, 'Overloaded')) throw error;
  throw new StepFailure('the gateway holds other responses, and the time of the step is up; try again');
}
