import { AppError } from '../errors.ts';
import { Work } from '../work/work.ts';
import { schemaLimits, schemaPrices } from './limits.ts';

/** A schema and a value together are nested deeper than can be evaluated. */
export class SchemaBudgetExceeded extends AppError {
  override readonly name = 'SchemaBudgetExceeded';

  constructor(message: string) {
    super('limit_exceeded', message, { reason: 'SchemaBudgetExceeded' });
  }
}

/** The work of one validation, taken from that of its turn, and how deep it is. */
export class SchemaWork {
  readonly #work: Work;
  #depth = 0;
  /** The object that was listed last, and its keys: `$ref` and `allOf` apply many keywords to one object. */
  #listed: object | undefined;
  #keys: readonly string[] = [];

  constructor(work: Work = new Work()) {
    this.#work = work;
  }

  /** @throws WorkBudgetExceeded when the work of the turn is used up. */
  spend(units: number): void {
    this.#work.spend(units);
  }

  /** Keys of an object. Only a list that is made is paid for, so an iteration over it pays for itself. */
  keysOf(object: object): readonly string[] {
    if (object === this.#listed) return this.#keys;
    const keys = Object.keys(object);
    this.spend(keys.length * schemaPrices.key);
    this.#listed = object;
    this.#keys = keys;
    return keys;
  }

  /** Runs a nested evaluation. @throws SchemaBudgetExceeded when it is nested too deep. */
  nested<Result>(run: () => Result): Result {
    this.#depth++;
    if (this.#depth > schemaLimits.evaluationDepth) {
      throw new SchemaBudgetExceeded('the value is nested too deep for this schema');
    }
    const result = run();
    this.#depth--;
    return result;
  }
}
