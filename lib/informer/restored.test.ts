import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { answerJson, type HttpPeer, startHttpPeer } from '../../test/support/http-peer.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { systemClock } from '../clock.ts';
import { createCredentialSource, createKubeClient, type KubeClient, type Pod, pods } from '../kube/index.ts';
import { createInformer } from './informer.ts';
import { createWholeObjects } from './whole-objects.ts';

const pod = (version: number, nodeName: string): Pod => ({
  metadata: { namespace: 'a', name: 'x', uid: 'u', resourceVersion: String(version) },
  spec: { containers: [], nodeName },
});
const slim = ({ metadata }: Pod): Pod => ({ metadata, spec: { containers: [] } });

let peer: HttpPeer;
let client: KubeClient;
/** The server's objects. */
let served: Pod;
let stream: ServerResponse | undefined;

beforeEach(async () => {
  served = pod(90, 'old-world');
  stream = undefined;
  peer = await startHttpPeer(({ query, path }, response) => {
    if (query.has('watch')) {
      stream = response.writeHead(200);
      return stream.flushHeaders();
    }
    if (path.endsWith('/x')) return answerJson(response, 200, served);
    const { resourceVersion } = served.metadata;
    return answerJson(response, 200, { metadata: { resourceVersion }, items: [served] });
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

it('after a restored backup an object is read as it is now, though its version is lower than the one kept', async () => {
  const stop = new AbortController();
  const wholes = createWholeObjects<Pod>({
    kube: client,
    clock: systemClock,
    resource: pods,
    slim,
    keptBytes: 1024 * 1024,
  });
  const deps = { client, clock: systemClock, logger: silentLogger, random: () => 0 };
  const informer = createInformer<Pod>(deps, { resource: pods, wholes });
  const running = informer.run(stop.signal);
  const nodeNow = async (): Promise<string | undefined> => {
    const cached = informer.cache.get('a/x');
    return cached && (await informer.whole(cached))?.spec?.nodeName;
  };
  await expect.poll(nodeNow).toBe('old-world');
  await expect.poll(() => stream).toBeDefined();
  served = pod(70, 'restored');
  const expired = { kind: 'Status', code: 410, reason: 'Expired' };
  stream?.write(`${JSON.stringify({ type: 'ERROR', object: expired })}\n`);
  await expect.poll(() => informer.cache.get('a/x')?.metadata.resourceVersion, { timeout: 5_000 }).toBe('70');
  expect(await nodeNow()).toBe('restored');
  stop.abort();
  await running;
});
