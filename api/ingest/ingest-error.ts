import { AppError, type ErrorCode } from '../../lib/errors.ts';
import type { RequestProblem } from '../../lib/http/http-error.ts';

/** The outcomes of spec 1 §7.2 that every transport can have, and that of a replayed signature. */
export type IngestOutcome =
  | 'idempotent_duplicate'
  | 'signature_reused'
  | 'classification_failed'
  | 'no_router_configured'
  | 'workflow_error';

const codes: Readonly<Record<IngestOutcome, ErrorCode>> = {
  idempotent_duplicate: 'already_exists',
  signature_reused: 'already_exists',
  classification_failed: 'invalid',
  no_router_configured: 'invalid',
  workflow_error: 'internal',
};

interface IngestErrorOptions {
  /** Id of the first stimulus with this key; set for a duplicate. */
  readonly originalStimulusId?: string;
  /** The failing paths of an input that its workflow refuses. */
  readonly details?: readonly RequestProblem[];
  readonly cause?: unknown;
}

/** A stimulus that does not run. Each transport translates the outcome by a table of its own. */
export class IngestError extends AppError {
  override readonly name = 'IngestError';
  readonly outcome: IngestOutcome;
  readonly originalStimulusId: string | undefined;
  readonly details: readonly RequestProblem[];

  constructor(outcome: IngestOutcome, message: string, options: IngestErrorOptions = {}) {
    super(codes[outcome], message, { reason: outcome, cause: options.cause });
    this.outcome = outcome;
    this.originalStimulusId = options.originalStimulusId;
    this.details = options.details ?? [];
  }
}
