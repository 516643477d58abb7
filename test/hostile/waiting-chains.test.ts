import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createUpstream, type Upstream, upstreamLimits } from '../../lib/upstream/index.ts';

/**
 * An API of a tenant calls the gateway back for each call that it gets, and that call has a step to the same API. Each of them holds a
 * connection to it, and the step behind it waits for one.
 */
const stepMs = 30_000;
/** Times are a fifth here. */
const times = 5;
const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / times, signal) };

let upstream: Upstream;
let api: Server;
let base = '';
/** Failures of the steps behind others. */
const inner: string[] = [];

beforeAll(async () => {
  upstream = createUpstream({ clock, resolve: async () => [] });
  api = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.url !== '/back') return void response.end('{}');
      return void step('/leaf').then((failure) => {
        if (failure !== 'none') inner.push(failure);
        response.writeHead(failure === 'none' ? 200 : 502).end('{}');
      });
    });
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  base = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await upstream.close();
  api.closeAllConnections();
  api.close();
});

/** As a chain sends it, within the time of a step; resolves to its failure, or to `none`. */
async function step(path: string, tenant = 'acme'): Promise<string> {
  const signal = AbortSignal.timeout(stepMs / times);
  const asked = { method: 'POST', server: base, path, headers: {}, body: '{}', responseBytes: 1_000, signal };
  try {
    const { status } = await upstream.send({ ...asked, tenant, allowedNetworks: ['127.0.0.0/8'] });
    return status === 200 ? 'none' : `status ${status}`;
  } catch (error) {
    return (error as Error).message;
  }
}

it('GW-WF-31 chains that wait for the connections of one another end before the time of their step, and say why', async () => {
  const outer = Array.from({ length: 3 * upstreamLimits.connections }, () => step('/back'));
  expect(await step('/leaf', 'globex')).toBe('none');
  const ended = await Promise.all(outer);
  expect(ended.filter((end) => end.includes('no whole response came in time'))).toEqual([]);
  expect(inner.length).toBeGreaterThan(0);
  const host = new URL(base).host;
  for (const failure of inner) {
    expect(failure).toBe(
      `${host}: all 20 connections of the tenant are in use, and none was free within 15 s; the API may wait for the gateway itself`,
    );
  }
  expect(await step('/back')).toBe('none');
});
