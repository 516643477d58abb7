import { afterEach, describe, expect, it } from 'vitest';
import { labels } from '../../crds/labels.ts';
import { createCluster } from '../../api/cluster/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createCredentialSource } from '../../lib/kube/credentials.ts';
import { createKubeClient } from '../../lib/kube/http-client.ts';
import type { KubeObject } from '../../lib/kube/index.ts';
import { createLogger } from '../../lib/logger.ts';
import { type Answerer, answerJson, startHttpPeer } from '../support/http-peer.ts';

/**
 * The attacker has a token of one tenant, whose executions have inputs of 990 KB of `{}`: 25 MB of heap each. She sends
 * many small requests at once, to whichever route, and each of them makes the API read an execution in full.
 */
const input = { a: Array.from({ length: 330_000 }, () => ({})) };
const executions = Array.from({ length: 6 }, (_, index) => execution('tenant-a', `a${index}`, input)).concat(
  execution('tenant-b', 'b0', {}),
);
const namespaces = ['a', 'b'].map((tenant) => ({
  metadata: { name: `tenant-${tenant}`, uid: tenant, resourceVersion: '1', labels: { [labels.tenant]: tenant } },
}));
const readMs = 30;

function execution(namespace: string, name: string, value: object): KubeObject {
  const metadata = { namespace, name, uid: `uid-of-${name}`, resourceVersion: '1' };
  const object = {
    apiVersion: 'windlass.dev/v1',
    kind: 'WorkflowExecution',
    metadata,
    spec: { workflow: 'w', input: value },
  };
  return object;
}

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A cluster of the API before a server that counts how many executions it is reading. */
async function setUp() {
  const reading = { now: 0, most: 0, all: 0 };
  const answer: Answerer = async ({ path, query }, response) => {
    if (query.get('watch') !== null) {
      response.writeHead(200).flushHeaders();
      return;
    }
    const name = /workflowexecutions\/(.+)$/.exec(path)?.[1];
    if (name === undefined) {
      const items = path.endsWith('workflowexecutions') ? executions : path.endsWith('namespaces') ? namespaces : [];
      return answerJson(response, 200, { metadata: { resourceVersion: '1' }, items });
    }
    reading.now += 1;
    reading.all += 1;
    reading.most = Math.max(reading.most, reading.now);
    await systemClock.sleep(readMs);
    reading.now -= 1;
    answerJson(
      response,
      200,
      executions.find(({ metadata }) => metadata.name === name),
    );
  };
  const peer = await startHttpPeer(answer);
  const clock = systemClock;
  const credentials = createCredentialSource(async () => ({ server: peer.url, tls: {}, headers: {} }), clock);
  const kube = createKubeClient({ credentials, clock });
  const logger = createLogger({ level: 'silent', service: 'test' });
  const cluster = createCluster({
    kube,
    clock,
    reflector: () => ({ client: kube, clock, logger }),
    systemTenant: 'system',
    systemNamespace: 'windlass-system',
  });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  cleanups.push(
    () => peer.close(),
    () => kube.close(),
    () => running,
    () => stop.abort(),
  );
  await expect.poll(() => cluster.hasSynced, { timeout: 20_000 }).toBe(true);
  return { cluster, reading };
}

describe('two dozen requests of one tenant for large executions', () => {
  it('read one execution after another, and leave another tenant its turn', async () => {
    const { cluster, reading } = await setUp();
    const asks = Array.from({ length: 24 }, (_, index) => cluster.executions.find('a', `a${index % 6}`));
    const other = await cluster.executions.find('b', 'b0');
    expect(other?.metadata.name).toBe('b0');
    expect(reading.all).toBeLessThan(6);
    const found = await Promise.all(asks);
    expect(found.every((each) => each !== undefined)).toBe(true);
    // One of tenant a, and the small one of tenant b beside it.
    expect(reading.most).toBeLessThanOrEqual(2);
  });
});
