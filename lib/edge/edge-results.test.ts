import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loseNewest } from '../../test/nats/lose-newest.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { systemClock } from '../clock.ts';
import { createEdgeResults, type EdgeResults } from './edge-results.ts';

let nats: TestBus;
let results: EdgeResults;
beforeAll(async () => {
  nats = await startTestBus();
  results = createEdgeResults({ bus: await nats.connected(), clock: systemClock });
}, 300_000);
afterAll(() => nats.stop());

/** A reader of a run from its beginning, as a stream of events has one. */
function reader(tenant: string) {
  const stop = new AbortController();
  const heard: string[] = [];
  const ids = (node: string) => ({ tenant, run: 'r', node_id: node, command_id: node, at: '2026-01-01T00:00:00Z' });
  const reading = (async () => {
    for await (const { news } of results.follow(tenant, 'r', stop.signal)) heard.push(`${news.kind} ${news.node_id}`);
  })();
  return {
    heard,
    answer: (node: string) =>
      results.publish({ ...ids(node), kind: 'result', result: { outcome: 'ok', exit_code: 0, duration_ms: 1 } }),
    print: (node: string) => results.publish({ ...ids(node), kind: 'progress', chunk: { stream: 'stdout', data: '' } }),
    hears: (all: readonly string[]) => vi.waitFor(() => expect(heard).toEqual(all), { timeout: 30_000 }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reading;
    },
  };
}

const lose = (tenant: string, kept: number): Promise<void> =>
  loseNewest(nats.server, `WINDLASS_STREAM_edge_results_${tenant}`, kept);

async function drop(tenant: string, sequence: number): Promise<void> {
  const connection = await connect({ servers: nats.server.url });
  const { streams } = await jetstreamManager(connection);
  await streams.deleteMessage(`WINDLASS_STREAM_edge_results_${tenant}`, sequence);
  await connection.close();
}

describe('a reader of the news of a run', () => {
  it('EDGE-FLOW-11 hears of those that come once NATS begins anew', { timeout: 120_000 }, async () => {
    await using run = reader('emptied');
    for (const node of ['a', 'b', 'c']) await run.answer(node);
    await run.hears(['result a', 'result b', 'result c']);
    await lose('emptied', 0);
    await run.answer('d');
    await run.hears(['result a', 'result b', 'result c', 'result d']);
    expect(run.heard).toHaveLength(4);
  });

  it('EDGE-FLOW-11 hears of those that have the places of lost ones', { timeout: 120_000 }, async () => {
    await using run = reader('rolled');
    const before = ['a', 'b', 'c', 'd'];
    for (const node of before) await run.answer(node);
    await run.hears(before.map((node) => `result ${node}`));
    await lose('rolled', 2);
    // The last of them is behind the place that was read before.
    const after = ['e', 'f', 'g'];
    await Promise.all(after.map((node) => run.answer(node)));
    const all = [...before, ...after].map((node) => `result ${node}`);
    await vi.waitFor(() => expect([...new Set(run.heard)].sort()).toEqual(all), { timeout: 30_000 });
  });

  it('EDGE-FLOW-10 hears of no output twice where the log has no more what was read last', {
    timeout: 120_000,
  }, async () => {
    await using run = reader('dropped');
    await run.print('a');
    await run.answer('a');
    await run.answer('b');
    const before = ['progress a', 'result a', 'result b'];
    await run.hears(before);
    await drop('dropped', 3);
    await run.answer('c');
    await run.hears([...before, 'result a', 'result c']);
    await run.print('c');
    await run.hears([...before, 'result a', 'result c', 'progress c']);
    expect(run.heard).toHaveLength(6);
  });
});
