import type { Clock } from '../../../lib/clock.ts';
import type { EventFrame } from '../../../lib/http/route.ts';
import { defineRoute, type Route } from '../../../lib/http/index.ts';
import { invalidField } from '../../../lib/http/request-errors.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { followAgentConversation, streamAgentExecution } from './contract.ts';
import { type Followed, follow, type Happening } from './follow.ts';
import { type Source, type SourceDeps, executionSource } from './source.ts';
import { conversationEvent, typed } from './conversation-event.ts';
import { closingEvents, endId, eventOf } from './stream-events.ts';

/** The four events of the specification, and ours (spec 1 §6). */
export function createStreamRoute(deps: SourceDeps): Route<Caller> {
  return defineRoute<typeof streamAgentExecution, Caller>(streamAgentExecution, async (request) => {
    const opened = await open(deps, request);
    if (opened === undefined) return { kind: 'no_content' };
    return { kind: 'events', events: events(opened.source, { ...opened.followed, texts: false }) };
  });
}

interface StreamRequest {
  readonly params: { readonly execution_id: string };
  readonly headers: { readonly 'last-event-id'?: string };
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** The execution and the place to follow it from; undefined where the client has the last event. */
async function open(deps: SourceDeps, { params, headers, caller: { tenant }, signal }: StreamRequest) {
  const after = placeBehind(headers['last-event-id']);
  const source = await executionSource(deps, tenant, params.execution_id);
  return after === undefined ? undefined : { source, followed: { tenant, uid: source.uid, after, signal } };
}

async function* events(source: Source, followed: Followed): AsyncGenerator<EventFrame> {
  let isNew = followed.after === 0;
  for await (const happening of follow(source, followed)) {
    for (const event of await eventsOf(source, happening, isNew)) {
      isNew = false;
      yield event;
    }
  }
}

async function eventsOf({ uid, whole }: Source, happening: Happening, isNew: boolean) {
  switch (happening.kind) {
    case 'record': {
      const event = eventOf(uid, happening.placed);
      return event === undefined ? [] : [event];
    }
    case 'text':
      return [];
    case 'closed':
      // The final text is not in the cache.
      return closingEvents(uid, happening.execution && (await whole(happening.execution)), isNew);
  }
}

/** The events of the stream and every other record, and text as the model writes it (requirements EXEC-08, AMB-031). */
export function createEventsRoute(deps: SourceDeps & { readonly clock: Clock }): Route<Caller> {
  return defineRoute<typeof followAgentConversation, Caller>(followAgentConversation, async (request) => {
    const opened = await open(deps, request);
    if (opened === undefined) return { kind: 'no_content' };
    return { kind: 'events', events: rawEvents(opened.source, { ...opened.followed, texts: true }, deps.clock) };
  });
}

async function* rawEvents(source: Source, followed: Followed, clock: Clock): AsyncGenerator<EventFrame> {
  for await (const happening of follow(source, followed)) {
    yield* await rawEventsOf(source, happening, clock);
  }
}

async function rawEventsOf({ uid, whole }: Source, happening: Happening, clock: Clock): Promise<EventFrame[]> {
  switch (happening.kind) {
    case 'record':
      return [conversationEvent(uid, happening.placed)];
    case 'text': {
      const time = new Date(clock.now()).toISOString();
      return [{ data: { type: 'text', time, data: { text: happening.text } } }];
    }
    case 'closed': {
      const time = happening.execution?.status?.finished_at ?? new Date(clock.now()).toISOString();
      const events = closingEvents(uid, happening.execution && (await whole(happening.execution)), false);
      return events.map(({ id, data }) => ({ id, data: typed(data, time) }));
    }
  }
}

const place = /^(0|[1-9][0-9]{0,14})$/;

/** The client's position; undefined behind the last event. Throws 400 for a text that no stream has sent as an id. */
export function placeBehind(lastEventId = ''): number | undefined {
  if (lastEventId === '') return 0;
  if (lastEventId === endId) return undefined;
  if (place.test(lastEventId)) return Number(lastEventId);
  throw invalidField('header.last-event-id', 'is not the id of an event; leave it out to begin anew');
}
