import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { createConnectionRequests } from '../request/connection-requests.ts';
import { createPublisher } from './publisher.ts';

type Callback = (error: Error | null, answer: Msg) => void;

/** The library's side of a connection; how the real server answers is in nats-bus.test.ts. */
function setUp(refused?: Error) {
  const clock = createManualClock();
  const sent: string[] = [];
  const replies: (string | undefined)[] = [];
  const closed = Promise.withResolvers<undefined>();
  let callback: Callback = () => undefined;
  const connection = {
    publish(subject: string, _body: string, options: { reply?: string }) {
      if (refused !== undefined) throw refused;
      sent.push(`${subject} at ${clock.now() - start}`);
      replies.push(options.reply);
    },
    subscribe(_subject: string, options: { callback: Callback }) {
      ({ callback } = options);
    },
    close: async () => closed.resolve(undefined),
    closed: () => closed.promise,
  } as unknown as NatsConnection;
  const start = clock.now();
  const toHeaders = () => headers();
  const publisher = createPublisher({ connection, clock, inbox: 'inbox', toHeaders, timeoutMs: 1_500 });
  const publish = (subject: string): Promise<number | string> =>
    publisher.publish({ subject, body: '', headers: {} }).catch((error: unknown) => String(error));
  const answer = (index: number, text: string): void =>
    callback(null, { subject: replies[index] ?? '', json: () => JSON.parse(text) } as Msg);
  const ask = (subject: string): Promise<unknown> =>
    publisher.ask({ subject, body: '', headers: {} }).then((found) => found.json(), String);
  const answerNothing = (index: number): void =>
    callback(null, { subject: replies[index] ?? '', headers: { code: 503 } } as Msg);
  return {
    clock,
    sent,
    replies,
    tell: (subject: string): void => publisher.tell({ subject, body: '', headers: {} }),
    flush: (): void => publisher.flush(),
    requests: createConnectionRequests({ connection, publisher, toHeaders }),
    publish,
    ask,
    answer,
    answerNothing,
    closed,
    breakInbox: () => callback(new Error('not permitted'), {} as Msg),
  };
}

describe('a message', () => {
  it.each([-3_600_000, 3_600_000])('has the time for its answer, where the time of day is set by %i ms', async (ms) => {
    const { clock, ask } = setUp();
    const ends: string[] = [];
    const send = (subject: string) => void ask(subject).then((end) => ends.push(`${subject} ${String(end)}`));
    send('a');
    await clock.advance(100);
    send('b');
    clock.step(ms);
    send('c');
    await clock.advance(1_399);
    expect(ends).toEqual([]);
    await clock.advance(1);
    expect(ends).toEqual(['a Error: no answer within 1500 ms']);
    await clock.advance(100);
    expect(ends).toHaveLength(3);
  });

  it('is written at once when it comes alone, and shares a write when it comes less than 1 ms after one', async () => {
    const { clock, sent, publish } = setUp();
    void publish('a');
    void publish('b');
    await clock.advance(0);
    void publish('c');
    void publish('d');
    await clock.advance(1);
    await clock.advance(1);
    void publish('e');
    await clock.advance(0);
    expect(sent).toEqual(['a at 0', 'b at 0', 'c at 1', 'd at 1', 'e at 2']);
  });

  it('that wants no answer is written in its turn, and the server is asked for none', async () => {
    const { clock, sent, replies, tell, publish, answer } = setUp();
    const outcome = publish('a');
    tell('b');
    await clock.advance(0);
    tell('c');
    await clock.advance(1);
    expect(sent).toEqual(['a at 0', 'b at 0', 'c at 1']);
    expect(replies).toEqual(['inbox.1', undefined, undefined]);
    answer(0, '{"seq":1}');
    expect(await outcome).toBe(1);
    await clock.advance(2_000);
    const refusing = setUp(new Error('too large'));
    refusing.tell('d');
    await refusing.clock.advance(2_000);
  });

  it('and answers to requests share one write where they follow another within 1 ms', async () => {
    const { clock, sent, tell, publish, requests } = setUp();
    tell('first');
    await clock.advance(0);
    for (let number = 0; number < 10; number += 1) {
      void publish('result');
      requests.answer({ reply: 'order' }, '');
      requests.answer({}, 'no one asked for it');
      await clock.advance(0);
    }
    expect(sent).toEqual(['first at 0']);
    await clock.advance(1);
    expect(sent.slice(1)).toEqual(Array.from({ length: 10 }, () => ['result at 1', 'order at 1']).flat());
  });

  it('that waits for others is written when the connection is about to end', async () => {
    const { clock, sent, tell, flush } = setUp();
    tell('a');
    await clock.advance(0);
    tell('b');
    flush();
    flush();
    expect(sent).toEqual(['a at 0', 'b at 0']);
  });

  it('gets its own answer, in whatever order they come', async () => {
    const { clock, publish, answer } = setUp();
    const both = [publish('a'), publish('b')];
    await clock.advance(0);
    answer(1, '{"seq":8}');
    answer(0, '{"seq":7}');
    answer(0, '{"seq":9}');
    expect(await Promise.all(both)).toEqual([7, 8]);
  });

  it.each([
    ['{"error":{"err_code":10071,"description":"wrong last sequence: 3"}}', 'StreamRefusal: wrong last sequence: 3'],
    ['{"error":{}}', 'StreamRefusal: refused'],
    ['{}', 'Error: the server acknowledged nothing'],
    ['null', 'Error: the server answered something else than an acknowledgement'],
    ['no JSON', 'Error: the server answered something else than an acknowledgement'],
  ])('that is answered %s fails: %s', async (text, said) => {
    const { clock, publish, answer } = setUp();
    const outcome = publish('a');
    await clock.advance(0);
    answer(0, text);
    expect(await outcome).toBe(said);
  });

  it.each([
    [1_499, []],
    [1_500, ['a']],
    [1_599, ['a']],
    [1_600, ['a', 'c']],
  ])('without an answer is given up after 1,500 ms, and no other: after %i ms %j', async (ms, want) => {
    const { clock, publish, answer } = setUp();
    const late: string[] = [];
    const note = (subject: string): void =>
      void publish(subject).then((said) => (typeof said === 'string' ? late.push(subject) : undefined));
    note('a');
    note('b');
    await clock.advance(100);
    note('c');
    answer(1, '{"seq":1}');
    await clock.advance(ms - 100);
    expect(late).toEqual(want);
  });

  it('that is a request gets its answer as it came, in the same inbox and the same write', async () => {
    const { clock, sent, publish, ask, answer } = setUp();
    const both = [publish('a'), ask('b')];
    await clock.advance(0);
    expect(sent).toEqual(['a at 0', 'b at 0']);
    answer(1, '{"message":{"seq":3}}');
    answer(0, '{"seq":7}');
    expect(await Promise.all(both)).toEqual([7, { message: { seq: 3 } }]);
  });

  it('that no server takes fails, be it a request or not', async () => {
    const { clock, publish, ask, answerNothing } = setUp();
    const both = [publish('a'), ask('b')];
    await clock.advance(0);
    answerNothing(0);
    answerNothing(1);
    const refused = 'StreamRefusal: no stream takes the subject';
    expect(await Promise.all(both)).toEqual([refused, refused]);
  });

  it('that the library does not take fails at once', async () => {
    const { publish } = setUp(new Error('max_payload'));
    expect(await publish('a')).toBe('Error: max_payload');
  });

  it('fails when the connection ends, and leaves no timer behind', async () => {
    const { clock, publish, closed } = setUp();
    const outcome = publish('a');
    await clock.advance(0);
    closed.resolve(undefined);
    expect(await outcome).toBe('Error: the connection was closed');
    await clock.advance(0);
    expect(clock.sleepers).toBe(0);
  });

  it('fails when the server takes the inbox away, and the connection is closed for another one', async () => {
    const { clock, publish, closed, breakInbox } = setUp();
    const outcome = publish('a');
    await clock.advance(0);
    breakInbox();
    expect(await outcome).toBe('Error: not permitted');
    await closed.promise;
  });
});
