import { status } from '@grpc/grpc-js';
import { createValidator } from '../../crds/validators.ts';
import type { Clock } from '../../lib/clock.ts';
import { hasReason } from '../../lib/errors.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import type { Peer } from '../../lib/grpc/peer.ts';
import type { UnaryCall } from '../../lib/grpc/unary/serve-unary.ts';
import type { RateLimit } from '../../lib/http/rate-limit.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type {
  IngestStimulusRequest,
  IngestStimulusResponse,
} from '../../proto/generated/windlass/runtime/v1/runtime.ts';
import { contentOfText, type Ingest, IngestError, type IngestOutcome, TooManyQuestionsError } from '../ingest/index.ts';
import { submitStimulus } from '../routes/stimuli/contract.ts';

export interface IngestStimulusDeps {
  readonly ingest: Ingest;
  readonly clock: Clock;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
  readonly rateLimit: RateLimit;
}

/** Size limit of the headers of a request over HTTP; more is no description of an event. */
const mostHeaders = 100;
const mostHeaderBytes = 16 * 1024;

/** The same rules as for the body of POST /v1/stimuli. */
const check = createValidator(submitStimulus.body.schema);

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
  const isPlain = hasReason(error, 'ContentTooLarge') || error instanceof TooManyQuestionsError;
  if (isPlain) return new GrpcError(error.code, error.message);
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

const tenantUri = /^windlass:\/\/tenant\/([a-z0-9]([a-z0-9-]*[a-z0-9])?)$/;

/**
 * The tenant that a client speaks for: the one URI `windlass://tenant/<slug>` among the names of its certificate. Not
 * the common name: authorities put what they like there, while a URI is written on purpose.
 * @throws GrpcError PERMISSION_DENIED where there is none, more than one, or the tenant is not set up.
 */
function peerTenant(peer: Peer, tenants: Pick<TenantDirectory, 'namespaceOf'>): string {
  const [slug, ...others] = peer.uris.flatMap((uri) => tenantUri.exec(uri)?.[1] ?? []);
  if (slug === undefined || others.length > 0) {
    throw new GrpcError('forbidden', 'the client certificate must have one name URI:windlass://tenant/<slug>');
  }
  if (tenants.namespaceOf(slug) === undefined) {
    throw new GrpcError('forbidden', "the client certificate's tenant is not set up");
  }
  return slug;
}

/** The transport for machines with a certificate: the stimulus is the tenant's that the certificate names. */
export function handleIngestStimulus({ ingest, clock, tenants, rateLimit }: IngestStimulusDeps) {
  return async ({ request, peer, signal }: UnaryCall<IngestStimulusRequest>): Promise<IngestStimulusResponse> => {
    const receivedAt = clock.now();
    const tenant = peerTenant(peer, tenants);
    await rateLimit.take(tenant);
    requireValid(request);
    const { source, content, idempotencyKey, headers } = request;
    try {
      return await ingest({
        source: { kind: 'HttpApi', name: source },
        transport: 'Grpc',
        tenant,
        content: contentOfText(content),
        idempotencyKey,
        headers,
        receivedAt,
        signal,
      });
    } catch (error) {
      throw ingestFailure(error);
    }
  };
}

/** @throws GrpcError INVALID_ARGUMENT with every problem. */
function requireValid({ source, content, idempotencyKey, headers }: IngestStimulusRequest): void {
  const fields = { source, content, ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }) };
  const entries = Object.entries(headers);
  const texts = Object.entries({ ...fields, headers: entries.flat().join('') });
  const malformed = texts.filter(([, text]) => !text.isWellFormed());
  if (malformed.length > 0) throw invalid(malformed.map(([path]) => `${path} must be UTF-8`));
  const problems = check(fields).map(({ path, message }) => `${path} ${message}`);
  const bytes = entries.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  if (entries.length > mostHeaders) problems.push(`headers must be at most ${mostHeaders}`);
  if (bytes > mostHeaderBytes) problems.push(`headers must take at most ${mostHeaderBytes} bytes together`);
  if (problems.length > 0) throw invalid(problems);
}

const invalid = (problems: readonly string[]): GrpcError => new GrpcError('invalid', problems.join('; '));
