import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import type { EventBus } from '../bus/index.ts';
import { systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import {
  createEdgeResults,
  createHostCommands,
  edgeBuckets,
  edgeLimits,
  type EdgeNews,
  type HeldStream,
  type HostRequest,
  relayAddress,
  streamElsewhere,
} from './index.ts';

let nats: TestBus;
let sender: EventBus;
let relay: EventBus;

beforeAll(async () => {
  nats = await startTestBus();
  sender = await nats.connected();
  relay = await nats.connected();
}, 120_000);

afterAll(() => nats.stop());

const host = (hostUid: string) => ({ tenant: 'acme', hostUid, nodeId: `node-${hostUid}` });
const command = {
  commandId: 'c-1',
  run: 'r-1',
  tool: 'cmd.run',
  args: {},
  context: 'd',
  token: 't',
  deadlineMs: 1_000,
};
const reasonOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (error: unknown) => (error instanceof AppError ? error.reason : String(error)),
  );

async function hold(uid: string, name: string): Promise<number> {
  const streams = relay.bucket<HeldStream>(edgeBuckets.streams);
  const entry = { uid, relay: name, at: new Date().toISOString() };
  const known = await streams.get(uid);
  const revision =
    known === undefined ? await streams.create(uid, entry, 'acme') : await streams.update(uid, entry, known.revision);
  return revision ?? 0;
}

function serve(
  name: string,
  epochs: ReadonlyMap<string, number>,
): { readonly ready: Promise<void>; readonly got: HostRequest[] } {
  const got: HostRequest[] = [];
  const { ready } = relay.serve(relayAddress(name), async ({ body }) => {
    const request = JSON.parse(Buffer.from(body).toString('utf8')) as HostRequest;
    if (epochs.get(request.host.hostUid) !== request.epoch)
      throw new AppError('unavailable', 'elsewhere', { reason: streamElsewhere });
    got.push(request);
    return '';
  });
  return { ready, got };
}

/** For a server on a busy machine: no test waits for a time. */
const timeout = 120_000;

describe('commands to hosts', { timeout }, () => {
  it('EDGE-REST-33 are refused with EdgeUnavailable where no relay holds a stream, or its relay is gone', async () => {
    const hosts = createHostCommands({ bus: sender });
    expect(await reasonOf(hosts.send(host('u-none'), command))).toBe('EdgeUnavailable');
    await hold('u-gone', 'relay-gone');
    expect(await reasonOf(hosts.send(host('u-gone'), command))).toBe('EdgeUnavailable');
    expect(await reasonOf(hosts.drop(host('u-gone'), 'revoked'))).toBe('done');
  });

  it('EDGE-FLOW-16 reach the relay that holds the stream, and follow the stream to another relay', async () => {
    const epochs = new Map([['u-1', await hold('u-1', 'relay-a')]]);
    const first = serve('relay-a', epochs);
    const second = serve('relay-b', epochs);
    await Promise.all([first.ready, second.ready]);
    const hosts = createHostCommands({ bus: sender });
    await hosts.send(host('u-1'), command);
    expect(first.got[0]).toEqual({ kind: 'invoke', host: host('u-1'), epoch: epochs.get('u-1'), command });
    await hosts.cancel(host('u-1'), { commandId: 'c-1', reason: 'asked' });
    expect(first.got.map(({ kind }) => kind)).toEqual(['invoke', 'cancel']);
    epochs.set('u-1', await hold('u-1', 'relay-b'));
    await hosts.drain(host('u-1'));
    await hosts.shutdown(host('u-1'), 5_000);
    await hosts.pushConfig(host('u-1'), { delta: '{}', version: '2' });
    expect(second.got.map(({ kind }) => kind)).toEqual(['drain', 'shutdown', 'push_config']);
    expect(first.got).toHaveLength(2);
  });

  it('are claimed once by any number of senders', async () => {
    const [one, other] = [createHostCommands({ bus: sender }), createHostCommands({ bus: relay })];
    const record = { run: 'r-1', node_id: 'n', tenant: 'acme', tool: 'cmd.run', deadline: new Date().toISOString() };
    const claims = await Promise.all(
      [one, other, one, other].map((hosts) => hosts.claim({ ...record, commandId: 'c-9' })),
    );
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await one.recordOf('c-9')).toEqual(record);
    expect(await one.recordOf('c-10')).toBeUndefined();
  });

  it('carry the claim of the process that sends them, and none of another', async () => {
    const epoch = await hold('u-claim', 'relay-claim');
    const { ready, got } = serve('relay-claim', new Map([['u-claim', epoch]]));
    await ready;
    const [one, other] = [createHostCommands({ bus: sender }), createHostCommands({ bus: sender })];
    const record = { run: 'r-1', node_id: 'n', tenant: 'acme', tool: 'cmd.run', deadline: new Date().toISOString() };
    await one.claim({ ...record, commandId: 'c-11' });
    for (const hosts of [other, one, one]) await hosts.send(host('u-claim'), { ...command, commandId: 'c-11' });
    const claims = got.map((request) => (request.kind === 'invoke' ? request.claim : undefined));
    expect(claims).toEqual([undefined, { record, revision: expect.any(Number) }, undefined]);
  });

  it('have arguments up to the bound', async () => {
    const hosts = createHostCommands({ bus: sender });
    const of = (bytes: number) => ({ ...command, args: { a: 'x'.repeat(bytes - '{"a":""}'.length) } });
    expect(await reasonOf(hosts.send(host('u-none'), of(edgeLimits.argsBytes)))).toBe('EdgeUnavailable');
    expect(await reasonOf(hosts.send(host('u-none'), of(edgeLimits.argsBytes + 1)))).toBe('ArgumentsTooLarge');
  });
});

describe('results of commands', { timeout }, () => {
  const of = { tenant: 'acme', run: 'r-1', node_id: 'n', command_id: 'c-1', at: '2026-01-01T00:00:00.000Z' };
  const progress: EdgeNews = { ...of, kind: 'progress', chunk: { stream: 'stdout', data: 'aGk=' } };
  const result: EdgeNews = { ...of, kind: 'result', result: { outcome: 'ok', exit_code: 0, duration_ms: 5 } };

  it('EDGE-FLOW-10 EDGE-FLOW-11 are followed by run from the beginning; a repeated result is stored once', async () => {
    const results = createEdgeResults({ bus: relay, clock: systemClock });
    await results.publish(progress);
    await results.publish({ ...result, run: 'r-2', command_id: 'c-2' });
    await results.publish({ ...result, tenant: 'globex', command_id: 'c-3' });
    const stop = new AbortController();
    const got: EdgeNews[] = [];
    const followed = (async () => {
      for await (const { news } of createEdgeResults({ bus: sender, clock: systemClock }).follow(
        'acme',
        'r-1',
        stop.signal,
      )) {
        got.push(news);
        if (news.kind === 'result' && news.command_id === 'c-end') stop.abort();
      }
    })();
    await results.publish(result);
    await results.publish(result);
    await results.publish({ ...result, command_id: 'c-end' });
    await followed;
    expect(got).toEqual([progress, result, { ...result, command_id: 'c-end' }]);
  });
});
