import type { Clock } from '../../lib/clock.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { jsonCost } from '../../lib/http/json-cost.ts';
import { textBytes } from '../../lib/heap-bytes.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { HeldStimulus } from './held-stimulus.ts';
import type { ContentMemory } from './ingest.ts';
import { routingInterrupted } from './route-stimulus.ts';
import { TooManyQuestionsError } from './too-many-questions.ts';

/** Memory of stimuli that wait for router agents, with shares for tenants. */
export interface WaitingStimuli {
  /** The content of a stimulus that is going to wait, of which nothing else is kept. */
  of(stimulus: HeldStimulus, tenant: string, memory: ContentMemory | undefined): WaitingContent;
}

interface WaitingContent extends Disposable {
  /**
   * Keeps the content as a text from now on, and gives back what counts for it elsewhere.
   * @throws TooManyQuestionsError where the stimuli of its tenant have their share.
   */
  letGo(): void;
  /** Waits until the values of the content may be made again. @throws as `ContentMemory` does. */
  takeBack(): Promise<void>;
}

/** Contents of this size count nowhere: the number of questions is bounded by the router agent. */
const smallBytes = 16_384;

export function createWaitingStimuli(clock: Clock): WaitingStimuli {
  const pool = createFairPool({ size: bytesOf('stimuli that wait'), clock });
  return {
    of(stimulus, tenant, memory) {
      let place: Disposable | undefined;
      let isLetGo = false;
      return {
        letGo() {
          stimulus.letGo();
          const cost = textBytes(stimulus.text);
          if (cost > smallBytes) place = pool.tryEnter({ tenant, cost });
          if (cost > smallBytes && place === undefined) throw new TooManyQuestionsError();
          isLetGo = true;
          memory?.letGo();
        },
        async takeBack() {
          if (!isLetGo || memory === undefined) return;
          await memory.reserve(jsonCost(stimulus.text)).catch((cause: unknown) => {
            // The key stays: the next attempt finds the answer of the router agent.
            const message = 'there is no memory for the content just now; try again';
            throw new AppError('unavailable', message, { reason: routingInterrupted, cause });
          });
        },
        [Symbol.dispose]: () => place?.[Symbol.dispose](),
      };
    },
  };
}
