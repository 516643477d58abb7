import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { answerJson, type HttpPeer, startHttpPeer } from '../../test/support/http-peer.ts';
import { createManualClock, type ManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { systemClock } from '../clock.ts';
import { createCredentialSource, createKubeClient, type KubeClient, type Pod, pods } from '../kube/index.ts';
import { createInformer, type Informer } from './informer.ts';

const pod = (name: string, version: number): Pod => ({
  metadata: { namespace: 'a', name, uid: `uid-${name}`, resourceVersion: String(version) },
  spec: { containers: [] },
});

let peer: HttpPeer;
let client: KubeClient;
let clock: ManualClock;
let informer: Informer<Pod>;
let running: Promise<void>;
/** The server's objects; its watches report none of them. */
let objects: Pod[];
let stream: ServerResponse | undefined;
let opened: number;
let failures: string[];
let stop: AbortController;

beforeEach(async () => {
  objects = [pod('x', 3)];
  opened = 0;
  failures = [];
  stop = new AbortController();
  peer = await startHttpPeer(({ query }, response) => {
    if (!query.has('watch')) return answerJson(response, 200, { metadata: { resourceVersion: '10' }, items: objects });
    opened += 1;
    stream = response.writeHead(200);
    stream.flushHeaders();
  });
  const endpoint = { server: peer.url, tls: {}, headers: {} };
  const credentials = createCredentialSource(async () => endpoint, { now: Date.now });
  client = createKubeClient({ credentials, clock: systemClock });
  clock = createManualClock(0);
  const observer = { failed: (reason: string) => void failures.push(reason), sinkFailed: () => undefined };
  informer = createInformer<Pod>(
    { client, clock, logger: silentLogger, random: () => 0, observer },
    { resource: pods, labelSelector: 'l' },
  );
  running = informer.run(stop.signal);
});

afterEach(async () => {
  stop.abort();
  await running;
  await client.close();
  await peer.close();
});

/** Lets a watch last for a time and end in silence, as the server does when its time is over. */
async function watchFor(seconds: number): Promise<void> {
  const before = opened;
  await clock.advance(seconds * 1_000);
  stream?.end();
  await expect.poll(() => opened).toBe(before + 1);
}

/** By what was asked for: whole objects, or no more than metadata. */
const lists = () =>
  peer.requests
    .filter(({ query }) => !query.has('watch'))
    .map(({ headers }) => (/PartialObjectMetadata/.test(headers.accept ?? '') ? 'versions' : 'objects'));

const names = () => [...informer.cache.values()].map(({ metadata }) => metadata.name);

it('an event that a server never sent is found by comparing versions, rarely, and by nothing but metadata', async () => {
  await expect.poll(() => opened).toBe(1);
  objects = [pod('y', 12)];
  await watchFor(299);
  await watchFor(300);
  expect(lists()).toEqual(['objects']);
  await watchFor(1);
  await expect.poll(lists).toEqual(['objects', 'versions']);
  // It may be a mere lag.
  expect([names(), failures]).toEqual([['x'], []]);
  await watchFor(60);
  await expect.poll(() => failures).toEqual(['EventLost']);
  expect(lists()).toEqual(['objects', 'versions', 'versions']);
  await watchFor(290);
  await expect.poll(names).toEqual(['y']);
  await watchFor(299);
  await watchFor(300);
  expect(lists()).toEqual(['objects', 'versions', 'versions', 'objects']);
  await watchFor(1);
  await expect.poll(() => lists().at(-1)).toBe('versions');
  expect(failures).toEqual(['EventLost']);
});
