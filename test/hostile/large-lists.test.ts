import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { createInformer } from '../../lib/informer/index.ts';
import {
  createCredentialSource,
  createKubeClient,
  type KubeClient,
  type ListOptions,
  listPages,
  pods,
} from '../../lib/kube/index.ts';
import { type HttpPeer, startHttpPeer } from '../support/http-peer.ts';
import { silentLogger } from '../support/silent-logger.ts';

/**
 * The attacker fills a namespace with objects as large as the API server takes. Every process lists them when it starts,
 * and other owners in the list must not pay for it.
 */
let peer: HttpPeer;
let client: KubeClient;
let limits: number[];
let sizes: number[];
/** How the API server writes what the attacker puts in: each `<` takes six bytes. */
let letter: string;
const letters = new Map<string, Buffer>();
function lettersOf(size: number): Buffer {
  const key = `${letter} ${size}`;
  const made = letters.get(key) ?? Buffer.from((letter === '<' ? String.raw`\u003c` : letter).repeat(size));
  letters.set(key, made);
  return made;
}

beforeEach(async () => {
  limits = [];
  letter = 'x';
  peer = await startHttpPeer((request, response) => {
    const limit = Number(request.query.get('limit'));
    const from = Number(request.query.get('continue') ?? 0);
    limits.push(limit);
    const isBrief = request.headers.accept?.includes('PartialObjectMetadata') === true;
    const items = sizes.slice(from, from + limit).map((size, index) => ({
      metadata: { name: `p${from + index}`, namespace: 'a', resourceVersion: '5' },
      spec: { containers: [{ name: 'c', command: isBrief ? [] : [`<${size}>`] }] },
    }));
    const next = from + limit < sizes.length ? { continue: String(from + limit) } : {};
    const text = JSON.stringify({ metadata: { resourceVersion: '10', ...next }, items });
    // The large texts are made once, and take the places of their sizes.
    const parts = text.split(/<(\d+)>/).map((part, at) => (at % 2 === 0 ? Buffer.from(part) : lettersOf(Number(part))));
    response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.concat(parts));
  });
  const credentials = createCredentialSource(async () => ({ server: peer.url, tls: {}, headers: {} }), {
    now: Date.now,
  });
  client = createKubeClient({ credentials, clock: systemClock });
});
afterEach(async () => {
  await client.close();
  await peer.close();
});

it('a list of large objects comes in pages of a few, and whole', async () => {
  sizes = [...Array.from({ length: 40 }, () => 1_400_000), ...Array.from({ length: 300 }, () => 100)];
  const { items } = await client.listAll(pods);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(sizes.map((_, index) => `p${index}`));
  expect(limits.length).toBeLessThan(60);
});

it('a list of small objects begins with a small page and takes few requests', async () => {
  sizes = Array.from({ length: 1_200 }, () => 1_000);
  expect((await client.listAll(pods)).items).toHaveLength(1_200);
  expect(limits).toEqual([50, 100, 200, 400, 500]);
});

it('an object of letters that take six bytes each is listed like any other', async () => {
  letter = '<';
  sizes = [100, 1_450_000, 1_450_000, 100];
  const { items } = await client.listAll(pods);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['p0', 'p1', 'p2', 'p3']);
});

it('an object that is larger than any that the API server takes ends no list of an informer', async () => {
  sizes = [100, 17_000_000, 100];
  const failures: string[] = [];
  const observer = { failed: (reason: string) => void failures.push(reason), sinkFailed: () => undefined };
  const stop = new AbortController();
  const informer = createInformer({ client, clock: systemClock, logger: silentLogger, observer }, { resource: pods });
  const running = informer.run(stop.signal);
  await informer.synced;
  expect([...informer.cache.values()].map(({ metadata }) => metadata.name)).toEqual(['p0', 'p2']);
  expect(failures).toContain('ObjectTooLarge');
  stop.abort();
  await running;
});

it('a list that is asked for once and cannot be whole is refused', async () => {
  sizes = [17_000_000];
  await expect(client.listAll(pods)).rejects.toMatchObject({ reason: 'AnswerTooLarge' });
  expect(limits).toEqual([50, 13, 4, 1]);
});

it('a list whose pages take the server too long asks for fewer objects, and not for as many again', async () => {
  const asked: number[] = [];
  const items = Array.from({ length: 60 }, (_, index) => ({ metadata: { name: `o${index}` } }));
  const slowServer = async ({ limit = 0, continue: from = '0' }: ListOptions) => {
    asked.push(limit);
    if (limit > 12) throw new AppError('timeout', 'no answer in 30000 ms', { reason: 'NoAnswer' });
    const next = Number(from) + limit;
    const more = next < items.length ? { continue: String(next) } : {};
    return { metadata: { resourceVersion: '1', ...more }, items: items.slice(Number(from), next) };
  };
  const got: string[] = [];
  for await (const page of listPages(slowServer, {})) got.push(...page.items.map(({ metadata }) => metadata.name));
  expect(got).toEqual(items.map(({ metadata }) => metadata.name));
  expect(asked).toEqual([50, 13, 4, 8, 12, 12, 12, 12]);
});

it('a server that does not even answer for one object ends the list', async () => {
  const silent = async () => {
    throw new AppError('timeout', 'no answer in 30000 ms', { reason: 'NoAnswer' });
  };
  await expect(listPages(silent, {}).next()).rejects.toMatchObject({ reason: 'NoAnswer' });
});
