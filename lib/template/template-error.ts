import { AppError } from '../errors.ts';

/** A place in a source text, both counted from 1; columns in UTF-16 units. */
interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A template that cannot be used; the message says what to write instead. */
export class TemplateError extends AppError {
  override readonly name = 'TemplateError';
  /** Offset in the source as the user wrote it. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super('invalid', message, { reason: 'InvalidTemplate' });
    this.offset = offset;
  }
}

/** A rendered text is larger than the limits allow; the message names the limit. */
export class TemplateBudgetExceeded extends AppError {
  override readonly name = 'TemplateBudgetExceeded';

  constructor(message: string) {
    super('limit_exceeded', message, { reason: 'TemplateBudgetExceeded' });
  }
}

/** Line and column of an offset. A line ends at LF, CR or both. */
export function placeOf(source: string, offset: number): TextPosition {
  const before = source.slice(0, offset).split(/\r\n?|\n/);
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
