import { limits } from '../../../crds/limits.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import type { EventSink } from '../../../lib/bus/event-bus.ts';
import type { Clock } from '../../../lib/clock.ts';
import { jsonCost } from '../../../lib/http/json-cost.ts';
import type { RateLimit } from '../../../lib/http/rate-limit.ts';
import { invalidField } from '../../../lib/http/request-errors.ts';
import { defineRoute, type Reply, type RequestHead, type Route, type RouteRequest } from '../../../lib/http/route.ts';
import type { NewId } from '../../../lib/ids.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { assertFits, contentOfBytes, opaqueContent } from '../../ingest/content.ts';
import type { Ingest } from '../../ingest/ingest.ts';
import type { RoutingTable } from '../../ingest/routing-table.ts';
import type { StimuliObserver } from '../../ingest/stimuli-observer.ts';
import { stimulusRejected } from '../../../lib/stimulus/stimulus-events.ts';
import { answer } from '../stimuli/answer.ts';
import { headersOf } from '../stimuli/headers.ts';
import { receiveWebhook } from './contract.ts';
import { decoded, decodersOf } from './decode.ts';
import { createRejectionBudget, type RejectionBudget } from '../../../lib/rejection-budget.ts';
import type { WebhookSecrets } from './secrets.ts';
import {
  boundProblem,
  digestOf,
  headProblem,
  type SignatureProblem,
  signatureError,
  signatureProblem,
} from './signature.ts';

interface WebhookDeps {
  readonly ingest: Ingest;
  readonly clock: Clock;
  readonly secrets: WebhookSecrets;
  readonly table: Pick<RoutingTable, 'tenantOf'>;
  readonly events: EventSink;
  readonly observer: StimuliObserver;
  readonly newStimulusId: NewId;
  /** Counts a webhook when it is known whose it is: before that, any sender could use up another tenant's share. */
  readonly rateLimit: RateLimit;
}

/** The transport for senders that sign what they send (spec 1 §5.3). */
export function createWebhookRoutes(deps: WebhookDeps): Route<Caller>[] {
  const budget = createRejectionBudget(deps.clock);
  const handle = (request: WebhookRequest): Promise<Reply> => receive(deps, budget, request);
  return [defineRoute<typeof receiveWebhook, Caller>(receiveWebhook, handle, (head) => admit(deps, budget, head))];
}

/** A body is read only from a sender that may have signed it: it has not named itself yet. */
function admit(deps: WebhookDeps, budget: RejectionBudget, { params: { source = '' }, rawHeaders }: RequestHead): void {
  const problem = headProblem({ signatures: signaturesOf(rawHeaders), secret: deps.secrets(source) });
  if (problem !== undefined) refuse(deps, budget, source, problem);
}

type WebhookRequest = RouteRequest<typeof receiveWebhook, Caller>;

async function receive(deps: WebhookDeps, budget: RejectionBudget, request: WebhookRequest): Promise<Reply> {
  const { body, rawHeaders, signal } = request;
  const { source } = request.params;
  const receivedAt = deps.clock.now();
  const secret = deps.secrets(source);
  const signatures = signaturesOf(rawHeaders);
  const problem = signatureProblem({ signatures, secret, body });
  if (problem !== undefined) refuse(deps, budget, source, problem);
  await deps.rateLimit.take(deps.table.tenantOf(source)).catch((error: unknown) => {
    deps.observer.ended('Webhook', 'rate_limited');
    throw error;
  });
  const idempotencyKey = keyOf(request);
  const bound = valuesOf(rawHeaders, 'x-svc-bound-signature');
  const unbound = boundProblem({ signatures: bound, secret, source, key: idempotencyKey, body });
  if (unbound !== undefined) refuse(deps, budget, source, unbound);
  const headers = headersOf(rawHeaders);
  const submission = async () =>
    deps.ingest({
      source: { kind: 'Webhook', name: source },
      content: await contentOf({ body, reserve: (bytes) => request.reserve(bytes) }, headers),
      idempotencyKey,
      signed: { signature: digestOf(signatures[0] ?? ''), isBound: bound.length > 0 },
      headers,
      receivedAt,
      signal,
      memory: { letGo: () => request.dropBody(), reserve: (bytes) => request.reserve(bytes) },
    });
  return answer(submission());
}

/** The content of the body, decoded where its encoding is known (requirements AMB-176). */
async function contentOf(
  { body, reserve }: { readonly body: Uint8Array; readonly reserve: (bytes: number) => Promise<void> },
  { 'content-type': type, 'content-encoding': encoding }: Readonly<Record<string, string>>,
): Promise<Json> {
  const decoders = decodersOf(encoding);
  if (decoders === undefined) return opaqueContent(body, type);
  if (decoders.length > 0) await reserve(limits.webhookBodyBytes);
  const bytes = await decoded(body, decoders);
  await reserve(affordable(bytes));
  return contentOfBytes(bytes, type);
}

/** Upper bound of its size as JSON; a content that is too large is refused before it is read. */
function affordable(bytes: Uint8Array): number {
  assertFits(bytes.byteLength);
  return Math.min(
    jsonCost(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')),
    limits.parsedJsonBytes,
  );
}

const valuesOf = (headers: RequestHead['rawHeaders'], wanted: string): string[] =>
  headers.filter(([name]) => name === wanted).map(([, value]) => value);
const signaturesOf = (headers: RequestHead['rawHeaders']): string[] => valuesOf(headers, 'x-svc-signature');

function refuse(deps: WebhookDeps, budget: RejectionBudget, source: string, problem: SignatureProblem): never {
  deps.observer.ended('Webhook', 'not_authentic');
  // Any caller can make up names without a secret: together they have one budget.
  const verdict = budget(deps.secrets(source) === undefined ? '' : source);
  if (verdict.mayTell) tellRejection(deps, source, verdict.leftOut);
  else deps.observer.leftOut();
  throw signatureError(problem);
}

function tellRejection({ clock, events, newStimulusId, table }: WebhookDeps, source: string, leftOut: number): void {
  const time = new Date(clock.now()).toISOString();
  const occasion = { stimulusId: newStimulusId(), tenant: table.tenantOf(source), time };
  events.raise(stimulusRejected(occasion, 'HmacInvalid', leftOut));
}

/** An empty one counts as none. */
function keyOf({ headers }: Pick<WebhookRequest, 'headers'>): string | undefined {
  const { 'x-idempotency-key': key } = headers;
  if (key === undefined || key === '') return undefined;
  if (key.length <= limits.idempotencyKeyLength) return key;
  const problem = `has ${key.length} characters; at most ${limits.idempotencyKeyLength} are allowed`;
  throw invalidField('header.x-idempotency-key', problem);
}
