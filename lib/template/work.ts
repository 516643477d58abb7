import { AppError } from '../errors.ts';
import { templateLimits } from './limits.ts';

/** A template, expression or value asked for more work than the limits allow; the message names the limit. */
export class TemplateBudgetExceeded extends AppError {
  override readonly name = 'TemplateBudgetExceeded';

  constructor(message: string) {
    super('limit_exceeded', message, { reason: 'TemplateBudgetExceeded' });
  }
}

/** Counts the work of one rendering or evaluation and ends it at the limit. */
export class Work {
  #left: number;
  #length = 0;
  #loadedBytes = 0;

  constructor(units: number = templateLimits.work) {
    this.#left = units;
  }

  /** @throws TemplateBudgetExceeded when the work is used up. */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new TemplateBudgetExceeded('the template takes too much work; loop over less');
  }

  /** Counts characters of the result. @throws TemplateBudgetExceeded */
  emit(length: number): void {
    this.spend(length);
    this.#length += length;
    if (this.#length <= templateLimits.renderedLength) return;
    throw new TemplateBudgetExceeded(`the rendered text is longer than ${templateLimits.renderedLength} characters`);
  }

  /** Counts a value of the output store that has to be loaded. @throws TemplateBudgetExceeded */
  load(bytes: number): void {
    this.#loadedBytes += bytes;
    if (this.#loadedBytes <= templateLimits.loadedBytes) return;
    throw new TemplateBudgetExceeded(
      `the template uses more than ${templateLimits.loadedBytes} bytes of stored outputs`,
    );
  }

  /** Units left. */
  get left(): number {
    return this.#left;
  }
}
