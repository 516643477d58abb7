import type { Clock } from '../../../lib/clock.ts';
import { invalidField } from '../../../lib/http/request-errors.ts';
import { defineRoute, type Reply, type Route, type RouteRequest } from '../../../lib/http/route.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { contentOfText } from '../../ingest/content.ts';
import type { Ingest } from '../../ingest/ingest.ts';
import { answer } from './answer.ts';
import { submitStimulus } from './contract.ts';
import { headersOf } from './headers.ts';

interface StimuliDeps {
  readonly ingest: Ingest;
  readonly clock: Clock;
}

/** The transport for callers with a bearer token: the stimulus is their tenant's. */
export function createStimuliRoutes({ ingest, clock }: StimuliDeps): Route<Caller>[] {
  return [defineRoute<typeof submitStimulus, Caller>(submitStimulus, (request) => submit(ingest, clock, request))];
}

type SubmitRequest = RouteRequest<typeof submitStimulus, Caller>;

function submit(ingest: Ingest, clock: Clock, request: SubmitRequest): Promise<Reply> {
  const { body, caller, rawHeaders, signal } = request;
  const idempotencyKey = keyOf(request);
  const receivedAt = clock.now();
  const submission = async () =>
    ingest({
      source: { kind: 'HttpApi', name: body.source },
      tenant: caller.tenant,
      content: contentOfText(body.content),
      idempotencyKey,
      headers: headersOf(rawHeaders),
      receivedAt,
      signal,
      memory: { letGo: () => request.dropBody(), reserve: (bytes) => request.reserve(bytes) },
    });
  return answer(submission());
}

/** Given twice, it must be the same (requirements AMB-040). */
function keyOf({ body, headers }: Pick<SubmitRequest, 'body' | 'headers'>): string | undefined {
  const { 'idempotency-key': header } = headers;
  const { idempotency_key: field } = body;
  if (header !== undefined && field !== undefined && header !== field) {
    throw invalidField('body.idempotency_key', 'differs from the header Idempotency-Key; send one of them');
  }
  return field ?? header;
}
