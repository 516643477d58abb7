import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { isTerminal } from '../../lib/execution/finished.ts';
import type { Decision, Happening } from './engine/decision.ts';
import type { Facts } from './engine/facts.ts';
import { engineLimits } from './limits.ts';

/**
 * Turns of one execution that are decided and not written yet. The API server handles the whole object at each status
 * write, input and all. That takes some 0.7 s of its processor time for 1 MiB of small values, where the turn takes 15
 * ms. So turns that only advance share a write. A process that ends meanwhile loses them, and the next one decides them
 * again.
 */
export class Unwritten {
  /** As the API server has it. Its status is what the next write is compared with. */
  stored: WorkflowExecution;
  readonly #happenings: Happening[] = [];
  readonly #writtenBy: number;
  #turns = 0;
  #isAlone = false;

  constructor(stored: WorkflowExecution, now: number) {
    this.stored = stored;
    this.#writtenBy = now + engineLimits.progressMs;
  }

  /** Whether turns are decided that no status says. */
  get has(): boolean {
    return this.#turns > 0;
  }

  /** Whether the next turn may be decided before this one is written: nothing but more turns follows from it. */
  mayTake({ status, blobs, adopted, actions, wakeAt }: Decision, now: number): boolean {
    const continues = wakeAt !== undefined && wakeAt <= now && !isTerminal(status);
    const isBare = blobs.length + adopted.length + actions.length === 0;
    const isEarly = this.#turns + 1 < engineLimits.turnsAWrite && now < this.#writtenBy;
    return continues && isBare && isEarly && !this.#isAlone;
  }

  /** The facts of the next turn; what was too much work for this one is none of them. */
  take(facts: Facts, { status, happenings }: Decision): Facts {
    const { refused: _, ...others } = facts;
    this.#turns += 1;
    this.#happenings.push(...happenings);
    return { ...others, execution: { ...this.stored, status } };
  }

  /** Forgets the turns, and takes none from now on: each is written by itself, so that the one at fault shows. */
  drop(): void {
    this.#turns = 0;
    this.#happenings.length = 0;
    this.#isAlone = true;
  }

  /** Reports that follow the write. */
  withHappenings(decision: Decision): Decision {
    return this.has ? { ...decision, happenings: [...this.#happenings, ...decision.happenings] } : decision;
  }
}
