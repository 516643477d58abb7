import { limits } from '../../../crds/limits.ts';
import type { EventSink } from '../../../lib/bus/event-bus.ts';
import type { Clock } from '../../../lib/clock.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { defineRoute, type Reply, type Route, type RouteRequest } from '../../../lib/http/route.ts';
import type { NewId } from '../../../lib/ids.ts';
import type { Caller } from '../../identity/caller.ts';
import { contentOfBytes } from '../../ingest/content.ts';
import type { Ingest } from '../../ingest/ingest.ts';
import type { RoutingTable } from '../../ingest/routing-table.ts';
import type { StimuliObserver } from '../../ingest/stimuli-observer.ts';
import { stimulusRejected } from '../../ingest/stimulus-events.ts';
import { answer } from '../stimuli/answer.ts';
import { headersOf } from '../stimuli/headers.ts';
import { receiveWebhook } from './contract.ts';
import { createRejectionBudget, type RejectionBudget } from './rejection-budget.ts';
import type { WebhookSecrets } from './secrets.ts';
import { signatureError, signatureProblem } from './signature.ts';

export interface WebhookDeps {
  readonly ingest: Ingest;
  readonly clock: Clock;
  readonly secrets: WebhookSecrets;
  readonly table: Pick<RoutingTable, 'tenantOf'>;
  readonly events: EventSink;
  readonly observer: StimuliObserver;
  readonly newStimulusId: NewId;
}

/** The door for senders that sign what they send (spec 1 §5.3). */
export function createWebhookRoutes(deps: WebhookDeps): Route<Caller>[] {
  const budget = createRejectionBudget(deps.clock);
  return [defineRoute<typeof receiveWebhook, Caller>(receiveWebhook, (request) => receive(deps, budget, request))];
}

type WebhookRequest = RouteRequest<typeof receiveWebhook, Caller>;

async function receive(deps: WebhookDeps, budget: RejectionBudget, request: WebhookRequest): Promise<Reply> {
  const { body, rawHeaders, signal } = request;
  const { source } = request.params;
  const receivedAt = deps.clock.now();
  const signatures = rawHeaders.filter(([name]) => name === 'x-svc-signature').map(([, value]) => value);
  const problem = signatureProblem({ signatures, secret: deps.secrets(source), body });
  if (problem !== undefined) {
    deps.observer.ended('Webhook', 'not_authentic');
    if (budget()) tellRejection(deps, source);
    throw signatureError(problem);
  }
  const idempotencyKey = keyOf(request);
  const headers = headersOf(rawHeaders);
  const submission = async () =>
    deps.ingest({
      source: { kind: 'Webhook', name: source },
      content: contentOfBytes(body, headers['content-type']),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      headers,
      receivedAt,
      signal,
    });
  return answer(submission());
}

function tellRejection({ clock, events, newStimulusId, table }: WebhookDeps, source: string): void {
  const time = new Date(clock.now()).toISOString();
  events.raise(stimulusRejected({ stimulusId: newStimulusId(), tenant: table.tenantOf(source), time }, 'HmacInvalid'));
}

/** An empty one counts as none. */
function keyOf({ headers }: Pick<WebhookRequest, 'headers'>): string | undefined {
  const { 'x-idempotency-key': key } = headers;
  if (key === undefined || key === '') return undefined;
  if (key.length <= limits.idempotencyKeyLength) return key;
  const message = `has ${key.length} characters; at most ${limits.idempotencyKeyLength} are allowed`;
  throw new HttpError({
    code: 'invalid',
    message: `header.x-idempotency-key ${message}`,
    details: [{ path: 'header.x-idempotency-key', message }],
  });
}
