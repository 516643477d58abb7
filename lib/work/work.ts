import { AppError } from '../errors.ts';
import { prices, workLimits } from './limits.ts';

/** The work that is charged, and how an author makes it cheaper. */
const mends = {
  'rendering templates': 'loop over less, or read less of large outputs',
  'custom expressions': 'compare smaller values, or use fewer expressions',
  'checking against a JSON Schema': 'simplify the schema, or send less',
  'writing to the Blackboard': 'write less in one state',
  'reading stored outputs': 'read less of large outputs in one state',
  'rendering output_template': 'put less into the output',
  'comparing with the origin': 'send less input',
  'checking the definition': 'use shorter or fewer templates and expressions, or split the workflow',
} as const;

type WorkOperation = keyof typeof mends;

/** Something takes more work than one turn of the event loop may; the message names it and the mend. */
export class WorkBudgetExceeded extends AppError {
  override readonly name = 'WorkBudgetExceeded';

  constructor(operation: WorkOperation) {
    const message = `${operation} takes too much work for one turn of the controllers; ${mends[operation]}`;
    super('limit_exceeded', message, { reason: 'WorkBudgetExceeded' });
  }
}

/**
 * The work of one turn, spent by everything in it, and what has been paid for already. A text that was read as JSON, or
 * a value that was written as JSON, costs nothing the second time.
 */
export class Work {
  /** Values of texts as JSON; undefined for a text that is none. */
  readonly parsed = new Map<string, unknown>();
  /** JSON of objects and lists that hold no value of the output store, in one line and indented. */
  readonly texts = new WeakMap<object, string>();
  readonly indentedTexts = new WeakMap<object, string>();
  /** Long texts that go to the output store. */
  readonly stored = new Set<unknown>();
  /** The activity, for the message. */
  operation: WorkOperation = 'rendering templates';
  readonly #loaded = new Set<string>();
  #left: number;

  constructor(units: number = workLimits.turn) {
    this.#left = units;
  }

  /** Units left. */
  get left(): number {
    return this.#left;
  }

  /** @throws WorkBudgetExceeded when the work is used up. */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new WorkBudgetExceeded(this.operation);
  }

  /** Pays once for a value that has to be loaded from the output store. @throws WorkBudgetExceeded */
  load(ref: string, bytes: number, isJson: boolean): void {
    if (this.#loaded.has(ref)) return;
    this.#loaded.add(ref);
    this.during('reading stored outputs', () =>
      this.spend(bytes * (isJson ? prices.loadedJsonByte : prices.loadedByte)),
    );
  }

  /** Forgets the texts of an object that was changed in place, which nothing but the Blackboard of a draft is. */
  changed(value: object): void {
    this.texts.delete(value);
    this.indentedTexts.delete(value);
  }

  /** Runs something under its name. @throws WorkBudgetExceeded */
  during<Result>(operation: WorkOperation, run: () => Result): Result {
    const before = this.operation;
    this.operation = operation;
    try {
      return run();
    } finally {
      this.operation = before;
    }
  }
}
