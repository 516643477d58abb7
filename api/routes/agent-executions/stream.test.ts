import { describe, expect, it } from 'vitest';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { createValidator } from '../../../crds/validators.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { ConversationRecord } from '../../../lib/conversation/record.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import type { EventFrame } from '../../../lib/http/route.ts';
import { createExecutionNews } from './follow.ts';
import { archiveOf } from '../../../test/agents/archive-of.ts';
import { createMemoryFeed, type MemoryFeed } from '../../../test/agents/memory-feed.ts';
import { AgentEvent, type ConversationEvent } from './schema.ts';
import { createEventsRoute, createStreamRoute, placeBehind } from './stream.ts';

const uid = '00000000-0000-4000-8000-000000000001';
const agentId = '00000000-0000-4000-8000-000000000002';
const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;

const started: ConversationRecord = {
  at: at(1),
  kind: 'started',
  agent_id: agentId,
  agent: 'reviewer',
  version: '1.0.0',
  system: 's',
  input: 'i',
  model: 'default',
};
const iteration = (number: number, second: number): ConversationRecord[] => [
  { at: at(second), kind: 'iteration_started', iteration: number, action: 'answer' },
  { at: at(second), kind: 'model_asked', iteration: number, call: number },
  {
    at: at(second + 1),
    kind: 'iteration_completed',
    iteration: number,
    output: `answer ${number}`,
    accepted: number === 2,
  },
];
const ended = (phase: 'completed' | 'failed'): ConversationRecord => ({
  at: at(9),
  kind: 'ended',
  result: {
    phase,
    iterations: 2,
    at: at(9),
    ...(phase === 'completed' ? { output: 'answer 2' } : { reason: 'Timeout', message: 'too late' }),
  },
});
const whole = [started, ...iteration(1, 2), ...iteration(2, 4), ended('completed')];

const running: AgentExecution = {
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: { name: 'x', namespace: 'tenant-acme', uid, creationTimestamp: at(0) },
  spec: { agent: agentId, input: 'i' },
  status: { phase: 'running' },
};
const over = (
  phase: 'completed' | 'failed' | 'cancelled',
  spec: Partial<AgentExecution['spec']> = {},
): AgentExecution => ({
  ...running,
  spec: { ...running.spec, ...spec },
  status: {
    phase,
    reason: 'AgentNotFound',
    message: 'no agent of that name',
    finished_at: at(8),
    started_at: at(1),
    agent: { name: 'reviewer', namespace: 'tenant-acme', uid: agentId, version: '1.0.0', revision: 'r' },
  },
});

type Change = { before: AgentExecution | undefined; after: AgentExecution | undefined };

/** The routes over one conversation and one object, which `become` changes. */
function world(feed: MemoryFeed, first: AgentExecution | undefined = running, archived = archiveOf()) {
  let execution: AgentExecution | undefined = first;
  const handlers: ((change: Change) => void)[] = [];
  const news = createExecutionNews({
    cache: { getByUid: () => execution },
    onChange: (handler: (change: Change) => void) => handlers.push(handler),
  } as never);
  const locate = async (tenant: string) => (tenant === 'acme' ? execution : undefined);
  const deps = {
    clock: { ...systemClock, now: () => Date.parse(at(9)) },
    feed,
    news,
    archived,
    cluster: { agentExecutions: { locate, find: locate, whole: async (one: AgentExecution) => one } },
  } as never;
  const client = new AbortController();
  const routes = { stream: createStreamRoute(deps), events: createEventsRoute(deps) };
  const open = async (which: keyof typeof routes, lastEventId?: string, tenant = 'acme') => {
    const request = {
      params: { execution_id: uid },
      headers: { 'last-event-id': lastEventId },
      caller: { subject: 'ada', tenant },
      signal: client.signal,
    };
    return routes[which].handle(request as never);
  };
  const frames = async (which: keyof typeof routes = 'stream', lastEventId?: string): Promise<AsyncIterator<Frame>> => {
    const reply = await open(which, lastEventId);
    if (reply.kind !== 'events') throw new Error(`answered ${reply.kind}`);
    return (reply.events as AsyncIterable<EventFrame> as AsyncIterable<Frame>)[Symbol.asyncIterator]();
  };
  const become = (next: AgentExecution | undefined): void => {
    const change = { before: execution, after: next };
    execution = next;
    for (const handler of handlers) handler(change);
  };
  return { open, frames, become, client };
}

interface Frame {
  readonly id?: string;
  readonly data: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

async function all(frames: AsyncIterator<Frame>): Promise<Frame[]> {
  const found: Frame[] = [];
  for (let next = await frames.next(); !next.done; next = await frames.next()) found.push(next.value);
  return found;
}

const typesOf = (frames: readonly Frame[]): string[] => frames.flatMap(({ data }) => Object.keys(data));
const next = async (frames: AsyncIterator<Frame>): Promise<Frame | undefined> => {
  const { value, done } = await frames.next();
  return done === true ? undefined : value;
};

describe('what a stream holds while its client does not read', () => {
  it('is a small page of records', async () => {
    const feed = createMemoryFeed(...whole);
    const asked: (boolean | undefined)[] = [];
    const counted: MemoryFeed = {
      ...feed,
      read: async (tenant, id, after, page) => {
        asked.push(page?.isSmall);
        return feed.read(tenant, id, after);
      },
    };
    const { frames } = world(counted);
    const events = await frames('events');
    await next(events);
    expect(asked).toEqual([true]);
    await events.return?.();
  });
});

describe('the stream of an execution', () => {
  it('EXEC-07 EXEC-09 EXEC-10 EXEC-11 EXEC-12 EXEC-13 has the four events in their order, with exact fields', async () => {
    const { frames } = world(createMemoryFeed(...whole), over('completed'));
    const data = (await all(await frames())).map((frame) => frame.data);
    expect(data).toEqual([
      { execution_started: { execution_id: uid, agent_id: agentId, started_at: at(1) } },
      { iteration_started: { execution_id: uid, iteration_number: 1, action: 'answer', started_at: at(2) } },
      { iteration_completed: { execution_id: uid, iteration_number: 1, output: 'answer 1', completed_at: at(3) } },
      { iteration_started: { execution_id: uid, iteration_number: 2, action: 'answer', started_at: at(4) } },
      { iteration_completed: { execution_id: uid, iteration_number: 2, output: 'answer 2', completed_at: at(5) } },
      {
        execution_completed: {
          execution_id: uid,
          final_output: 'answer 2',
          total_iterations: 2,
          completed_at: at(9),
        },
      },
    ]);
    const validate = createValidator(AgentEvent);
    expect(data.flatMap((one) => validate(one))).toEqual([]);
  });

  it('continues behind any event without a gap or a repetition, and ends with 204', async () => {
    const { frames, open } = world(createMemoryFeed(...whole), over('completed'));
    const events = await all(await frames());
    for (const [index, { id }] of events.slice(0, -1).entries()) {
      expect(await all(await frames('stream', id))).toEqual(events.slice(index + 1));
    }
    expect(await open('stream', events.at(-1)?.id)).toEqual({ kind: 'no_content' });
  });

  it('tells what happens as it happens, and lets go of the conversation at its end', async () => {
    const feed = createMemoryFeed(started);
    const { frames, become } = world(feed);
    const stream = await frames();
    expect(typesOf([(await next(stream)) ?? { data: {} }])).toEqual(['execution_started']);
    const coming = next(stream);
    feed.add({ at: at(2), kind: 'iteration_started', iteration: 1, action: 'answer' });
    expect(await coming).toMatchObject({ data: { iteration_started: { iteration_number: 1 } } });
    expect(feed.listeners).toBe(1);
    feed.add(ended('failed'));
    become(over('failed'));
    expect(await all(stream)).toMatchObject([
      { id: 'end', data: { execution_failed: { error: 'Timeout: too late', total_iterations: 2 } } },
    ]);
    expect(feed.listeners).toBe(0);
  });

  it('ends with the record of the end where object and record tell of it', async () => {
    const { frames } = world(createMemoryFeed(...whole), over('completed'));
    const events = await all(await frames());
    expect(typesOf(events).filter((type) => type === 'execution_completed')).toHaveLength(1);
    expect(typesOf(events)).toHaveLength(6);
  });

  it.each(['stream', 'events'] as const)(
    'EXEC-09 ends once the object says so too, for a client that reads it next: %s',
    async (which) => {
      const feed = createMemoryFeed(started);
      const { frames, become } = world(feed);
      const stream = await frames(which);
      await next(stream);
      const seen: string[] = [];
      const rest = all(stream).then(() => seen.push('end'));
      feed.add(ended('completed'));
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      seen.push('object');
      become(over('completed'));
      await rest;
      expect(seen).toEqual(['object', 'end']);
    },
  );

  it('ends when its client leaves', async () => {
    const feed = createMemoryFeed(started);
    const { frames, client } = world(feed);
    const stream = await frames();
    await next(stream);
    const rest = all(stream);
    client.abort();
    expect(await rest).toEqual([]);
    expect(feed.listeners).toBe(0);
  });
});

describe('the stream of an execution whose conversation has no end', () => {
  it('ends with the cancellation, as soon as the object tells of it', async () => {
    const feed = createMemoryFeed(started);
    const { frames, become } = world(feed);
    const stream = await frames();
    await next(stream);
    const rest = all(stream);
    become(over('cancelled', { cancel: { by: 'ada', at: at(7), reason: 'wrong branch' } }));
    expect(await rest).toEqual([
      {
        id: 'end',
        data: {
          execution_cancelled: { execution_id: uid, by: 'ada', reason: 'wrong branch', cancelled_at: at(8) },
        },
      },
    ]);
  });

  it('ends with the failure of one that failed before its agent began', async () => {
    const { frames } = world(createMemoryFeed(), over('failed'));
    expect(await all(await frames())).toMatchObject([
      { id: 'end', data: { execution_failed: { error: 'AgentNotFound: no agent of that name' } } },
    ]);
  });

  it('EXEC-13 begins with the start of one that completed and whose records are gone', async () => {
    const result = { phase: 'completed', output: 'kept', iterations: 1, at: at(8) } as const;
    const { frames } = world(createMemoryFeed(), over('completed', { result }));
    const events = await all(await frames());
    expect(typesOf(events)).toEqual(['execution_started', 'execution_completed']);
    expect(events[1]?.data).toMatchObject({ execution_completed: { final_output: 'kept', total_iterations: 1 } });
  });

  it('EXEC-13 begins with the start of one that failed after it began and whose records are gone', async () => {
    const result = { phase: 'failed', reason: 'NotAccepted', message: 'no', iterations: 1, at: at(8) } as const;
    const { frames } = world(createMemoryFeed(), over('failed', { result }));
    expect(typesOf(await all(await frames()))).toEqual(['execution_started', 'execution_failed']);
  });

  it.each(['stream', 'events'] as const)('EXEC-13 have no start behind an early cancellation, by %s', async (which) => {
    const late = { ...started, at: at(9) };
    const { frames } = world(createMemoryFeed(late, ...iteration(1, 9)), over('cancelled'));
    const data = (await all(await frames(which))).map((event) => event.data as unknown as ConversationEvent);
    const types = data.map((one) => (which === 'events' ? one.type : Object.keys(one)[0]));
    expect(types).toEqual(['execution_cancelled']);
  });

  it('ends when the object is deleted', async () => {
    const { frames, become } = world(createMemoryFeed(started));
    const stream = await frames();
    await next(stream);
    const rest = all(stream);
    become(undefined);
    expect(typesOf(await rest)).toEqual(['execution_deleted']);
  });
});

describe('AMB-174 the streams of an execution that the archive has and the cluster has not', () => {
  const kept = (phase: 'completed' | 'cancelled', conversation: readonly ConversationRecord[]) => {
    const result = { phase: 'completed', output: 'answer 2', iterations: 2, at: at(9) } as const;
    const record = archiveOf(over(phase, phase === 'completed' ? { result } : {}), conversation);
    const there = world(createMemoryFeed(), undefined, record);
    there.become(undefined);
    return there;
  };

  it.each(['stream', 'events'] as const)('have the same events with the same ids as before, by %s', async (which) => {
    const before = await all(await world(createMemoryFeed(...whole), over('completed')).frames(which));
    expect(await all(await kept('completed', whole).frames(which))).toEqual(before);
  });

  it('continue behind any event', async () => {
    const { frames, open } = kept('completed', whole);
    const events = await all(await frames());
    for (const [index, { id }] of events.slice(0, -1).entries()) {
      expect(await all(await frames('stream', id))).toEqual(events.slice(index + 1));
    }
    expect(await open('stream', events.at(-1)?.id)).toEqual({ kind: 'no_content' });
  });

  it('end with the cancellation where the conversation has no end', async () => {
    const { frames } = kept('cancelled', [started]);
    expect(typesOf(await all(await frames()))).toEqual(['execution_started', 'execution_cancelled']);
    const raw = (await all(await frames('events'))).map(({ data }) => (data as unknown as ConversationEvent).type);
    expect(raw).toEqual(['execution_started', 'execution_cancelled']);
  });

  it('have the final text where no entry was kept', async () => {
    const events = await all(await kept('completed', []).frames());
    expect(events.at(-1)?.data).toMatchObject({ execution_completed: { final_output: 'answer 2' } });
  });

  it.each(['stream', 'events'] as const)('are none of another tenant, by %s', async (which) => {
    const refusal = await kept('completed', whole)
      .open(which, undefined, 'other')
      .catch((error: unknown) => error);
    expect((refusal as HttpError).options).toMatchObject({ code: 'not_found', error: 'Execution not found' });
  });
});

describe('the raw conversation', () => {
  it('EXEC-08 AMB-031 has the events of the stream and every other record, each with type, time and data', async () => {
    const { frames } = world(createMemoryFeed(...whole), over('completed'));
    const events = (await all(await frames('events'))).map(({ id, data }) => ({ id, data: data as unknown }));
    const types = events.map(({ data }) => (data as ConversationEvent).type);
    expect(types).toEqual([
      'execution_started',
      'iteration_started',
      'model_asked',
      'iteration_completed',
      'iteration_started',
      'model_asked',
      'iteration_completed',
      'execution_completed',
    ]);
    expect(events[0]?.data).toEqual({
      type: 'execution_started',
      time: at(1),
      data: {
        execution_id: uid,
        agent_id: agentId,
        started_at: at(1),
        agent: 'reviewer',
        version: '1.0.0',
        system: 's',
        input: 'i',
        model: 'default',
      },
    });
    expect(events[2]).toEqual({ id: '9', data: { type: 'model_asked', time: at(2), data: { iteration: 1, call: 1 } } });
    expect(events[3]?.data).toMatchObject({ data: { iteration_number: 1, output: 'answer 1', accepted: false } });
    expect(events.at(-1)).toMatchObject({ id: 'end', data: { data: { final_output: 'answer 2' } } });
  });

  it('EXEC-08 has text as the model writes it, without an id', async () => {
    const feed = createMemoryFeed(started);
    const { frames } = world(feed);
    const stream = await frames('events');
    await next(stream);
    const coming = next(stream);
    feed.say('Looks ');
    expect(await coming).toEqual({ data: { type: 'text', time: at(9), data: { text: 'Looks ' } } });
  });

  it('says how an execution was closed that has no end on record', async () => {
    const { frames } = world(createMemoryFeed(started), over('cancelled'));
    expect((await all(await frames('events'))).at(-1)).toMatchObject({
      id: 'end',
      data: { type: 'execution_cancelled', time: at(8), data: { execution_id: uid, cancelled_at: at(8) } },
    });
  });
});

describe('who may follow an execution', () => {
  it.each(['stream', 'events'] as const)('ORCH-AUTH-12 no caller of another tenant, by %s', async (which) => {
    const { open } = world(createMemoryFeed(...whole), over('completed'));
    const refusal = await open(which, undefined, 'other').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(HttpError);
    expect((refusal as HttpError).options).toMatchObject({ code: 'not_found', error: 'Execution not found' });
  });
});

describe('Last-Event-ID', () => {
  it.each<[string | undefined, number | undefined]>([
    [undefined, 0],
    ['', 0],
    ['0', 0],
    ['17', 17],
    ['999999999999999', 999_999_999_999_999],
    ['end', undefined],
  ])('%j is a place', (id, place) => {
    expect(placeBehind(id)).toBe(place);
  });

  it.each(['-1', '01', '1.5', 'start', '9999999999999999'])('%j is none', (id) => {
    expect(() => placeBehind(id)).toThrow(HttpError);
  });
});
