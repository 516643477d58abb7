import { describe, expect, it } from 'vitest';
import type { EventBus } from '../../lib/bus/index.ts';
import type { CommandRecord, EdgeEventCase, EdgeNews } from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import type { SentCommand } from '../sent-commands.ts';
import type { LiveStream } from './live-stream.ts';
import { createReadPayload } from './payload.ts';
import { createBusTurns, takeEvent } from './take-event.ts';
import type { Streams } from './streams.ts';

const begun = { tool: 'cmd.run', dispatched_at: '2026-01-01T00:00:00.000Z' };
const late = (): AppError => new AppError('unavailable', 'no answer in time');
const record: CommandRecord = { run: 'r', node_id: 'n', tenant: 'acme', tool: 'cmd.run', deadline: '' };
const resultOf = (commandId: string) => ({
  $case: 'commandResult' as const,
  value: {
    envelope: undefined,
    commandId,
    result: { outcome: { $case: 'ok' as const, value: { exitCode: 0, duration: undefined, payload: undefined } } },
  },
});
const result = resultOf('c');

interface Given {
  /** The bus answers so many messages too late. */
  readonly lateAnswers: number;
  /** The bus's own word about itself. */
  readonly problem?: string;
  readonly isSent: boolean;
  /** The bus answers no message before this has resolved. */
  readonly answers?: Promise<void>;
}

/** A relay at such a bus, and one stream of it. */
function relay({ lateAnswers, problem, isSent, answers }: Given) {
  const published: EdgeNews[] = [];
  const ids: (string | undefined)[] = [];
  const acknowledged: string[] = [];
  const listed: object[] = [];
  const ended = new Set<string>();
  const clock = createManualClock();
  const calls = { get: 0, note: [] as number[] };
  const atOnce = { now: 0, most: 0 };
  let left = lateAnswers;
  const bucket = {
    async get() {
      calls.get += 1;
      return { value: record, revision: 3 };
    },
    note(_key: string, _value: unknown, revision: number) {
      calls.note.push(revision);
    },
  };
  const stream = {
    host: { tenant: 'acme' },
    facts: { nodeId: 'n' },
  } as unknown as LiveStream;
  const found: SentCommand = { tenant: 'acme', nodeId: 'n', claim: { record, revision: 9 }, begun };
  const sent = isSent ? found : undefined;
  const deps = {
    clock,
    bus: { bucket: () => bucket, problem: () => problem } as unknown as Pick<EventBus, 'bucket' | 'problem'>,
    results: {
      async publish(news: EdgeNews, id?: string) {
        ids.push(id);
        atOnce.now += 1;
        atOnce.most = Math.max(atOnce.most, atOnce.now);
        await answers;
        atOnce.now -= 1;
        left -= 1;
        if (left >= 0) throw late();
        published.push(news);
      },
    },
    recent: { ended: (command: object) => void listed.push(command) },
    sent: {
      find: () => sent,
      take: () => sent,
      noteEnded: (commandId: string) => void ended.add(commandId),
      hasEnded: (commandId: string) => ended.has(commandId),
    },
    acks: { add: async (_: unknown, commandId: string) => void acknowledged.push(commandId) },
    streams: {} as Streams,
    turns: createBusTurns(clock),
    readPayload: createReadPayload(clock),
  };
  const take = (event: EdgeEventCase = result) => takeEvent(deps, stream, event);
  return { take, clock, published, acknowledged, listed, calls, ids, atOnce };
}

const output = (text: string) => ({
  $case: 'commandProgress' as const,
  value: {
    envelope: undefined,
    commandId: 'c',
    chunk: { kind: { $case: 'stdout' as const, value: Buffer.from(text) } },
  },
});

describe('a piece of the output of a command', () => {
  it('is stored where the bus answers late, under one id, and ends no stream', async () => {
    const { take, published, ids } = relay({ lateAnswers: 2, isSent: true });
    await take(output('one'));
    await take(output('two'));
    expect(published).toMatchObject([{ kind: 'progress' }, { kind: 'progress' }]);
    // Two attempts were late; the bus may have stored either.
    expect(new Set(ids.slice(0, 3)).size).toBe(1);
    expect(ids[3]).not.toBe(ids[0]);
  });
});

describe('the result of a command', () => {
  it('EDGE-FLOW-10 needs no look-up where this relay has sent the command', async () => {
    const { take, published, acknowledged, listed, calls } = relay({ lateAnswers: 0, isSent: true });
    await take();
    // The list of the host may have dropped the message of the beginning.
    expect(listed).toMatchObject([{ command_id: 'c', sent: begun }]);
    expect(calls).toEqual({ get: 0, note: [9] });
    expect([published.length, acknowledged]).toEqual([1, ['c']]);
  });

  it('EDGE-FLOW-11 that comes again is acknowledged again, and costs the bus nothing', async () => {
    const { take, published, acknowledged, calls } = relay({ lateAnswers: 0, isSent: false });
    await take();
    await take();
    // The record may not say yet that it has ended.
    expect(calls).toEqual({ get: 1, note: [3] });
    expect([published.length, acknowledged]).toEqual([1, ['c', 'c']]);
  });

  it('EDGE-FLOW-10 is looked up where another relay has sent it', async () => {
    const { take, published, calls } = relay({ lateAnswers: 0, isSent: false });
    await take();
    expect(calls).toEqual({ get: 1, note: [3] });
    expect(published).toHaveLength(1);
  });

  it.each([
    [4, undefined, 'acknowledged'],
    [5, undefined, 'kept by the daemon'],
    [1, 'the connection is away', 'acknowledged'],
    [1_000, 'the connection is away', 'kept by the daemon'],
  ])('after %i late answers of a bus whose problem is %s is %s', async (lateAnswers, problem, want) => {
    const { take, clock, published, acknowledged } = relay({
      lateAnswers,
      isSent: true,
      ...(problem === undefined ? {} : { problem }),
    });
    const outcome = take().then(
      () => 'acknowledged',
      (error: unknown) => (error instanceof AppError && error.code === 'unavailable' ? 'kept by the daemon' : error),
    );
    await clock.advance(60_000);
    expect(await outcome).toBe(want);
    expect([published.length, acknowledged.length]).toEqual(want === 'acknowledged' ? [1, 1] : [0, 0]);
  });

  it('EDGE-FLOW-11 waits for its turn at the bus where a thousand come at once, and each is stored once', async () => {
    const { promise: answers, resolve: answer } = Promise.withResolvers<void>();
    const { take, clock, atOnce, published, acknowledged } = relay({ lateAnswers: 0, isSent: true, answers });
    const ids = Array.from({ length: 1_000 }, (_, number) => `c-${number}`);
    const taken = Promise.all(ids.map((id) => take(resultOf(id))));
    await clock.advance(0);
    expect(published).toEqual([]);
    answer();
    await taken;
    // One tenant has four fifths of the turns.
    expect(atOnce.most).toBe(204);
    expect(published.map(({ command_id: id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(acknowledged.toSorted()).toEqual(ids.toSorted());
  });
});
