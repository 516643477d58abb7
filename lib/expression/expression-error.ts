import { AppError } from '../errors.ts';

/** An expression that cannot be used; the message says what to write instead. */
export class ExpressionError extends AppError {
  override readonly name = 'ExpressionError';
  /** Offset in the expression. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super('invalid', message, { reason: 'InvalidExpression' });
    this.offset = offset;
  }
}
