import { AppError } from '../errors.ts';
import { schemaLimits } from './limits.ts';

/** A schema and a value together ask for more work than the limits allow. */
export class SchemaBudgetExceeded extends AppError {
  override readonly name = 'SchemaBudgetExceeded';

  constructor(message: string) {
    super('limit_exceeded', message, { reason: 'SchemaBudgetExceeded' });
  }
}

/** Counts the work of one validation and ends it at the limit. */
export class SchemaWork {
  #left: number;
  #depth = 0;

  constructor(units: number = schemaLimits.work) {
    this.#left = units;
  }

  /** @throws SchemaBudgetExceeded when the work is used up. */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new SchemaBudgetExceeded('the schema takes too much work on this value; simplify either');
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
