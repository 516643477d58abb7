import { status } from '@grpc/grpc-js';
import { hasReason } from '../../lib/errors.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import { IngestError, type IngestOutcome } from '../ingest/index.ts';

/** spec 1 §7.2 in gRPC. */
const statuses: Readonly<Record<IngestOutcome, status>> = {
  idempotent_duplicate: status.ALREADY_EXISTS,
  signature_reused: status.ALREADY_EXISTS,
  classification_failed: status.FAILED_PRECONDITION,
  no_router_configured: status.FAILED_PRECONDITION,
  workflow_error: status.INTERNAL,
};

/** Names of the metadata beside a failure. */
const outcomeKey = 'windlass-error';
const originalKey = 'original-stimulus-id';

/** The failure of a stimulus that does not run, with the specification's word for it beside the status. */
export function ingestFailure(error: unknown): unknown {
  if (error instanceof IngestError) return refusal(error);
  if (hasReason(error, 'ContentTooLarge')) return new GrpcError(error.code, error.message);
  return error;
}

function refusal({ code, outcome, message, details, originalStimulusId, cause }: IngestError): GrpcError {
  const paths = details.map((detail) => `${detail.path} ${detail.message}`);
  return new GrpcError(code, [message, ...paths].join('; '), {
    status: statuses[outcome],
    cause,
    metadata: {
      [outcomeKey]: outcome,
      ...(originalStimulusId === undefined ? {} : { [originalKey]: originalStimulusId }),
    },
  });
}
