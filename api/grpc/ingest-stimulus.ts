import { createValidator } from '../../crds/validators.ts';
import type { Clock } from '../../lib/clock.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import type { UnaryCall } from '../../lib/grpc/unary/serve-unary.ts';
import type { RateLimit } from '../../lib/http/rate-limit.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type {
  IngestStimulusRequest,
  IngestStimulusResponse,
} from '../../proto/generated/windlass/runtime/v1/runtime.ts';
import { contentOfText, type Ingest } from '../ingest/index.ts';
import { submitStimulus } from '../routes/stimuli/contract.ts';
import { ingestFailure } from './ingest-error.ts';
import { peerTenant } from './peer-tenant.ts';

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
