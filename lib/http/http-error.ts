import { AppError, type ErrorCode } from '../errors.ts';

/** One thing wrong with a request: `path` in the form `body.seats` or `states.build.command[0]`. */
export interface RequestProblem {
  readonly path: string;
  readonly message: string;
}

export interface HttpErrorOptions {
  readonly code: ErrorCode;
  /** Default: the text of the code in the table of statuses. */
  readonly status?: number;
  /** The text under `error`, where the specification fixes it. Default: the code's word. */
  readonly error?: string;
  /** The sentence under `message`; none unless given. */
  readonly message?: string;
  readonly details?: readonly RequestProblem[];
  /** Further fields of the body, such as `original_stimulus_id`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Instead of everything above, where the specification gives the body a form of its own. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/**
 * An answer other than 200 whose exact form a handler decides. Anything else that is thrown becomes one through the
 * table of error codes; an error of no known kind becomes a bland 500 and a full log line.
 */
export class HttpError extends AppError {
  override readonly name = 'HttpError';
  readonly options: HttpErrorOptions;

  constructor(options: HttpErrorOptions) {
    super(options.code, options.message ?? options.error ?? options.code, { cause: options.cause });
    this.options = options;
  }
}
