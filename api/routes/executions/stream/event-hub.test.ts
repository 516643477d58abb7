import { describe, expect, it } from 'vitest';
import { anExecution } from '../../../../test/builders/execution-builder.ts';
import { createEventHub, type EventChannel } from './event-hub.ts';
import { nowhere, type EventPosition, positionOf } from './position.ts';

const uid = '00000000-0000-4000-8000-000000000001';
const started = anExecution().now({ state: 'a', kind: 'Human' }).build();
const second = anExecution().past({ state: 'a', kind: 'Human' }).now({ state: 'b', kind: 'System' }).build();
const done = anExecution()
  .past({ state: 'a', kind: 'Human' })
  .past({ state: 'b', kind: 'System' })
  .ended('completed', 2)
  .build();
const all = ['start', '1.started', '1.approval', '1.completed', '2.started', '2.completed', 'end'];

/** The ids that a client has received so far, and whether its stream is over. */
function listen(channel: EventChannel, behind: EventPosition = nowhere) {
  const client = { ids: [] as string[], texts: [] as string[], isOver: false, leave: () => iterator.return?.() };
  const iterator = channel.frames(behind)[Symbol.asyncIterator]();
  const read = async (): Promise<void> => {
    for (;;) {
      const { done: isOver, value } = await iterator.next();
      if (isOver) break;
      for (const text of Buffer.from(value)
        .toString()
        .match(/[^]*?\n\n/g) ?? []) {
        client.texts.push(text);
        client.ids.push(/^id: (.*)$/m.exec(text)?.[1] ?? '');
      }
    }
    client.isOver = true;
  };
  void read();
  return client;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the events of one execution', () => {
  it('AMB-030 reach a client that comes late from the first one on, then as they happen, and end', async () => {
    const hub = createEventHub();
    const channel = hub.open(uid);
    channel.seen(started);
    const client = listen(channel);
    await settled();
    expect(client.ids).toEqual(all.slice(0, 3));
    hub.seen(second);
    await settled();
    expect(client.ids).toEqual(all.slice(0, 5));
    expect(client.isOver).toBe(false);
    hub.seen(done);
    await settled();
    expect(client).toMatchObject({ ids: all, isOver: true });
    expect(hub.size).toBe(0);
  });

  it('AMB-030 of an execution that has ended come all at once, and the stream ends', async () => {
    const channel = createEventHub().open(uid);
    channel.seen(done);
    const client = listen(channel);
    await settled();
    expect(client).toMatchObject({ ids: all, isOver: true });
  });

  it.each(all)(
    'AMB-030 continue behind %s without a gap or a repetition, on a replica that saw only the end',
    async (id) => {
      const channel = createEventHub().open(uid);
      channel.seen(done);
      const client = listen(channel, positionOf(id));
      await settled();
      expect(client).toMatchObject({ ids: all.slice(all.indexOf(id) + 1), isOver: true });
    },
  );

  it('AMB-030 continue behind an event that this replica has not seen yet', async () => {
    const hub = createEventHub();
    const channel = hub.open(uid);
    channel.seen(started);
    const client = listen(channel, positionOf('2.started'));
    await settled();
    hub.seen(second);
    await settled();
    expect(client.ids).toEqual([]);
    hub.seen(done);
    await settled();
    expect(client).toMatchObject({ ids: ['2.completed', 'end'], isOver: true });
  });

  it('are not repeated when versions come twice or late, as after the watch was opened anew', async () => {
    const hub = createEventHub();
    const channel = hub.open(uid);
    const client = listen(channel);
    for (const version of [second, started, second, started, done, second, done]) hub.seen(version);
    await settled();
    expect(client.ids).toEqual(all);
  });

  it('AMB-032 end with workflow_execution_deleted only when the object is deleted before its end', async () => {
    const hub = createEventHub();
    const client = listen(hub.open(uid));
    hub.seen(started);
    hub.gone(uid);
    hub.gone(uid);
    await settled();
    expect(client).toMatchObject({ ids: [...all.slice(0, 3), 'end'], isOver: true });
    expect(client.texts.at(-1)).toBe(`id: end\ndata: {"workflow_execution_deleted":{"execution_id":"${uid}"}}\n\n`);
    const late = listen(hub.open(uid));
    hub.seen(done);
    hub.gone(uid);
    await settled();
    expect(late.ids).toEqual(all);
  });

  it('are encoded once for all clients', async () => {
    const hub = createEventHub();
    const frames = [hub.open(uid), hub.open(uid)].map((channel) => channel.frames(nowhere)[Symbol.asyncIterator]());
    hub.seen(started);
    const [first, other] = await Promise.all(frames.map(async (iterator) => (await iterator.next()).value));
    expect(first).toBe(other);
    expect(hub.size).toBe(1);
  });

  it('AMB-030 reach clients that continue from different places, each from its own', async () => {
    const hub = createEventHub();
    const channel = hub.open(uid);
    channel.seen(done);
    const clients = [...all, ...all].map((id) => listen(hub.open(uid), positionOf(id)));
    await settled();
    expect(clients.map(({ ids }) => ids)).toEqual([...all, ...all].map((id) => all.slice(all.indexOf(id) + 1)));
    channel.close();
  });

  it('of a long history are given in pieces, so that a client that does not read has one of them', async () => {
    let building = anExecution();
    for (let visit = 0; visit < 400; visit += 1) building = building.past({ state: 'a', kind: 'System' });
    const channel = createEventHub().open(uid);
    channel.seen(building.ended('completed', 400).build());
    const sizes: number[] = [];
    let text = '';
    for await (const bytes of channel.frames(nowhere)) {
      sizes.push(bytes.byteLength);
      text += Buffer.from(bytes).toString();
    }
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(65_536);
    expect(text.match(/^id: /gm)).toHaveLength(802);
  });

  it('wake a client that leaves while it waits, and are forgotten with the last client', async () => {
    const hub = createEventHub();
    const [one, two] = [listen(hub.open(uid)), listen(hub.open(uid))];
    await one.leave();
    await settled();
    expect([one.isOver, two.isOver, hub.size]).toEqual([true, false, 1]);
    hub.seen(started);
    await settled();
    expect([one.ids, two.ids]).toEqual([[], all.slice(0, 3)]);
    await two.leave();
    await two.leave();
    expect(hub.size).toBe(0);
  });

  it('of one execution never reach the clients of another', async () => {
    const hub = createEventHub();
    const client = listen(hub.open(uid));
    const other = { ...started, metadata: { ...started.metadata, uid: '00000000-0000-4000-8000-000000000002' } };
    hub.seen(other);
    hub.gone(other.metadata.uid);
    await settled();
    expect(client).toMatchObject({ ids: [], isOver: false });
  });

  it('a channel that is closed unused leaves nothing behind', () => {
    const hub = createEventHub();
    const channel = hub.open(uid);
    channel.close();
    channel.close();
    expect(hub.size).toBe(0);
  });
});
