import { get } from 'node:http';
import { expect } from 'vitest';
import { defineResource, type KubeClient, type KubeObject } from '../../../lib/kube/index.ts';
import { podsOf } from './release.ts';
import { releaseNamespace } from './rendering.ts';

interface NodePortService extends KubeObject {
  readonly spec: {
    readonly type: string;
    readonly selector: Readonly<Record<string, string>>;
    readonly ports: readonly { readonly port: number; readonly targetPort: string; readonly nodePort?: number }[];
  };
}

const services = defineResource<NodePortService>({
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
});
const metadata = { name: 'test-steady-requests', namespace: releaseNamespace };

/** Status of the answer, on a connection of its own; the message of the error where none came. */
const statusOf = (url: string): Promise<number | string> =>
  new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 5_000 }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 'no status'));
    });
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', (error) => resolve(error.message));
  });

/**
 * Asks the replicas of an installed component, as a load balancer would, again and again for as long as `work` takes, at
 * eight places at once; the answers that came, counted by status or error. `/health` is on the listener of callers.
 */
export async function answersDuring(
  kube: KubeClient,
  work: () => Promise<void>,
  { component, port } = { component: 'api', port: 8_080 },
): Promise<Record<string, number>> {
  const selector = { 'app.kubernetes.io/name': 'windlass', 'app.kubernetes.io/component': component };
  const spec = { type: 'NodePort', selector, ports: [{ port, targetPort: 'public' }] };
  const service = await kube.apply(services, { metadata, spec }, { fieldManager: 'test', force: true });
  const [replica] = await podsOf(kube, component);
  const url = `http://${replica?.status?.hostIP}:${service.spec.ports[0]?.nodePort}/health`;
  const answers: Record<string, number> = {};
  let isOver = false;
  const ask = async (): Promise<void> => {
    while (!isOver) {
      const answer = await statusOf(url);
      answers[answer] = (answers[answer] ?? 0) + 1;
    }
  };
  try {
    // The nodes learn of a new service within moments.
    await expect.poll(() => statusOf(url), { timeout: 30_000 }).toBe(200);
    const asking = Array.from({ length: 8 }, ask);
    await work().finally(() => {
      isOver = true;
    });
    await Promise.all(asking);
  } finally {
    await kube.delete(services, metadata);
  }
  return answers;
}
