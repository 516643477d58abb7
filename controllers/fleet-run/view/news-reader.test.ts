import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createEdgeResults } from '../../../lib/edge/index.ts';
import { newId } from '../../../lib/ids.ts';
import { createTurnGate } from '../../runtime/turn-gate.ts';
import { fleetRunLimits } from '../limits.ts';
import { createNewsReader, type LoggedNews } from './news-reader.ts';

const resultBytes = 900 * 1_024;
const perPage = Math.floor(fleetRunLimits.newsPageBytes / resultBytes);
const count = 2 * perPage + 1;

let nats: TestBus;
let bus: EventBus;
beforeAll(async () => {
  nats = await startTestBus();
  bus = await nats.connected();
  const results = createEdgeResults({ bus, clock: systemClock });
  const result = { outcome: 'ok', exit_code: 0, duration_ms: 1, payload: 'x'.repeat(resultBytes) } as const;
  for (let host = 0; host < count; host += 1) {
    const ids = { tenant: 'acme', run: 'r', node_id: `n${host}`, command_id: newId(), at: '2026-01-01T00:00:00Z' };
    await results.publish({ ...ids, kind: 'result', result });
  }
}, 300_000);
afterAll(() => nats.stop());

const { signal } = new AbortController();
const query = (after: number) => ({ tenant: 'acme', run: 'r', after, signal });

it('news of a run come in pages of so many bytes, each in a turn of its own', async () => {
  let turns = 0;
  const defer = (run: () => void): void => {
    turns += 1;
    setImmediate(run);
  };
  const gate = createTurnGate({ defer });
  const news = createNewsReader({ bus, clock: systemClock, turns: gate });
  const pages: number[] = [];
  let after = 0;
  do {
    const page: LoggedNews[] = [];
    for await (const one of news.read(query(after))) page.push(one);
    pages.push(page.length);
    after = page.at(-1)?.sequence ?? after;
  } while (pages.at(-1) !== 0);
  expect(pages).toEqual([perPage, perPage, 1, 0]);
  expect(turns).toBeGreaterThanOrEqual(count);
});

it('few pages of all runs are in memory, and one tenant leaves a place to the others', async () => {
  const news = createNewsReader({ bus, clock: systemClock, turns: createTurnGate() });
  const pageOf = () => news.read(query(0))[Symbol.asyncIterator]();
  // As many as one tenant may have: the rest of the places is for others.
  const first = pageOf();
  const more = Array.from({ length: fleetRunLimits.newsPages - 2 }, pageOf);
  await Promise.all([first, ...more].map(async (page) => page.next()));
  const last = pageOf();
  let isRead = false;
  const waits = last.next().then(() => (isRead = true));
  for await (const one of news.read({ ...query(0), tenant: 'other' })) expect(one).toBeUndefined();
  // Another process has read two pages by now.
  const elsewhere = createNewsReader({ bus, clock: systemClock, turns: createTurnGate() });
  for (let page = 0; page < 2; page += 1) for await (const one of elsewhere.read(query(0))) expect(one).toBeDefined();
  expect(isRead).toBe(false);
  await first.return?.();
  await waits;
  expect(isRead).toBe(true);
  await Promise.all([...more, last].map(async (page) => page.return?.()));
});

it('news of a fleet take one request a page, and one to the leader at their end', async () => {
  const results = createEdgeResults({ bus, clock: systemClock });
  const result = { outcome: 'ok', exit_code: 0, duration_ms: 1 } as const;
  const publish = (host: number): Promise<void> => {
    const ids = { tenant: 'globex', run: 'many', node_id: `n${host}`, command_id: newId(), at: '2026-01-01T00:00:00Z' };
    return results.publish({ ...ids, kind: 'result', result });
  };
  await Promise.all(Array.from({ length: 300 }, (_, host) => publish(host)));
  const news = createNewsReader({ bus, clock: systemClock, turns: createTurnGate() });
  const page = async (after: number) => {
    const found: LoggedNews[] = [];
    for await (const one of news.read({ tenant: 'globex', run: 'many', after, signal })) found.push(one);
    return found;
  };
  const { asked, close } = await requestsOf(nats.server.url);
  const first = await page(0);
  const second = await page(first.at(-1)?.sequence ?? 0);
  expect([first.length, second.length]).toEqual([256, 44]);
  expect(await page(second.at(-1)?.sequence ?? 0)).toEqual([]);
  // The connection that counts gets the last request by then.
  await vi.waitFor(() => expect(asked.at(-1)).toBe('STREAM.MSG.GET'));
  expect(asked).toEqual(['DIRECT.GET', 'DIRECT.GET', 'DIRECT.GET', 'STREAM.MSG.GET']);
  await publish(300);
  expect(await page(second.at(-1)?.sequence ?? 0)).toHaveLength(1);
  await vi.waitFor(() => expect(asked.slice(4)).toEqual(['DIRECT.GET']));
  await close();
});

/** Kinds of requests for stored messages, as another client of the server sees them. */
async function requestsOf(servers: string) {
  const connection = await connect({ servers });
  const asked: string[] = [];
  for (const kind of ['DIRECT.GET', 'STREAM.MSG.GET'])
    connection.subscribe(`$JS.API.${kind}.>`, { callback: () => void asked.push(kind) });
  await connection.flush();
  return { asked, close: () => connection.close() };
}
