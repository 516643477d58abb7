import { ShareUsedError } from '../../../lib/bus/index.ts';
import { hasReason } from '../../../lib/errors.ts';
import { HttpError, type HttpErrorOptions } from '../../../lib/http/http-error.ts';
import { json, type Reply } from '../../../lib/http/route.ts';
import type { Ingested } from '../../ingest/ingest.ts';
import { IngestError, type IngestOutcome } from '../../ingest/ingest-error.ts';
import { ContestedKeyError } from '../../ingest/reservations.ts';
import { TooManyQuestionsError } from '../../ingest/too-many-questions.ts';

/** spec 1 §7.2. */
const statuses: Readonly<Record<IngestOutcome, number>> = {
  idempotent_duplicate: 409,
  signature_reused: 409,
  classification_failed: 422,
  no_router_configured: 422,
  workflow_error: 500,
};

/** The answer of a transport over HTTP to a stimulus. Throws HttpError for one that does not run. */
export async function answer(outcome: Promise<Ingested>): Promise<Reply> {
  try {
    const { stimulusId, workflowExecutionId } = await outcome;
    return json({ stimulus_id: stimulusId, workflow_execution_id: workflowExecutionId });
  } catch (error) {
    throw translated(error);
  }
}

function translated(error: unknown): unknown {
  if (error instanceof IngestError) return refusal(error);
  if (error instanceof ContestedKeyError || error instanceof TooManyQuestionsError) return later(error);
  if (error instanceof ShareUsedError) return later(error, { status: 429, error: 'idempotency_share_used' });
  if (hasReason(error, 'ContentTooLarge')) {
    return new HttpError({ code: error.code, status: 413, error: 'payload_too_large', message: error.message });
  }
  return error;
}

/** A duplicate's answer has its two fields alone. */
function refusal({ code, outcome, originalStimulusId, details, message, cause }: IngestError): HttpError {
  if (outcome === 'idempotent_duplicate') {
    return new HttpError({ code, status: 409, error: outcome, fields: { original_stimulus_id: originalStimulusId } });
  }
  const more = details.length === 0 ? {} : { details };
  return new HttpError({ code, status: statuses[outcome], error: outcome, message, ...more, cause });
}

/** Says when to try again, in whole seconds. */
function later(
  { code, message, retryAfterMs }: ContestedKeyError | ShareUsedError | TooManyQuestionsError,
  form: Pick<HttpErrorOptions, 'status' | 'error'> = {},
): HttpError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new HttpError({ code, ...form, message, headers: { 'Retry-After': String(seconds) } });
}
