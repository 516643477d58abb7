import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { answerJson, type HttpPeer, startHttpPeer } from '../../lib/kube/http-peer.ts';
import { createCredentialSource, createKubeClient, type KubeClient, pods } from '../../lib/kube/index.ts';

/**
 * The attacker fills a namespace with objects as large as the API server takes. Every process lists them when it starts,
 * and whoever else is in the list must not pay for it.
 */
let peer: HttpPeer;
let client: KubeClient;
let limits: number[];
let sizes: number[];

beforeEach(async () => {
  limits = [];
  peer = await startHttpPeer((request, response) => {
    const limit = Number(request.query.get('limit'));
    const from = Number(request.query.get('continue') ?? 0);
    limits.push(limit);
    const items = sizes.slice(from, from + limit).map((size, index) => ({
      metadata: { name: `p${from + index}`, namespace: 'a', annotations: { note: 'x'.repeat(size) } },
    }));
    const next = from + limit < sizes.length ? { continue: String(from + limit) } : {};
    answerJson(response, 200, { metadata: { resourceVersion: '10', ...next }, items });
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

it('a list of small objects takes as few requests as ever', async () => {
  sizes = Array.from({ length: 1_200 }, () => 1_000);
  expect((await client.listAll(pods)).items).toHaveLength(1_200);
  expect(limits).toEqual([500, 500, 500]);
});

it('an object that is larger than any that the API server takes ends the list', async () => {
  sizes = [5_000_000];
  await expect(client.listAll(pods)).rejects.toMatchObject({ reason: 'AnswerTooLarge' });
  expect(limits).toEqual([500, 125, 32, 8, 2, 1]);
});
