import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { userToken } from '../../../dev/oidc/sign-in.ts';
import { type KubeClient, pods } from '../../../lib/kube/index.ts';
import { isReady } from '../harness/api-pods.ts';
import { connect, isNativeCluster } from '../harness/cluster.ts';
import { makeYoungNamespace, type YoungNamespace } from '../harness/test-namespace.ts';
import { provider } from './stage.ts';

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: { readonly error?: string; readonly message?: string };
}

/** Needs the installation of dev/demo/install, and a machine that reaches pods. */
describe.runIf(isNativeCluster())('a tenant that was made a moment ago', () => {
  let kube: KubeClient;
  let tenant: YoungNamespace;
  let token: string;
  const addresses: Record<string, string> = {};

  beforeAll(async () => {
    ({ kube } = await connect());
    tenant = await makeYoungNamespace(kube, 'young');
    token = await userToken(provider(), { name: 'olga', tenant: tenant.name, roles: ['svc:operator'] });
    for (const [component, port] of [
      ['gateway', 8_090],
      ['api', 8_080],
    ] as const) {
      const labelSelector = `app.kubernetes.io/name=windlass,app.kubernetes.io/component=${component}`;
      const { items } = await kube.listAll(pods, { namespace: 'windlass-system', labelSelector });
      addresses[component] = `http://${items.find(isReady)?.status?.podIP}:${port}`;
    }
  });
  afterAll(async () => {
    await tenant?.remove();
    await kube?.close();
  });

  async function post(component: string, path: string, type: string, body: string): Promise<Answer> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const response = await fetch(`${addresses[component]}${path}`, { method: 'POST', headers, body });
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, retryAfter, body: (await response.json()) as Answer['body'] };
  }

  const document = JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Orders', version: '1' },
    servers: [{ url: 'https://orders.example.com' }],
    paths: { '/orders': { get: { operationId: 'listOrders' } } },
  });
  const tool = { description: 'd', input_schema: { type: 'object' }, image: 'busybox:1', command: ['true'] };
  const greeting = JSON.stringify({
    apiVersion: 'windlass.dev/v1',
    kind: 'Workflow',
    metadata: { name: 'greet', version: '1.0.0' },
    spec: { initial_state: 'greet', states: { greet: { kind: 'System', command: 'finalize', transitions: [] } } },
  });
  const writes: readonly Parameters<typeof post>[] = [
    ['gateway', '/v1/specs', 'application/json', JSON.stringify({ name: 'orders', document })],
    ['gateway', '/v1/cli-tools', 'application/json', JSON.stringify({ name: 'one.true', ...tool })],
    ['gateway', '/v1/security-contexts', 'application/json', JSON.stringify({ name: 'desk', tools: ['orders.*'] })],
    ['api', '/v1/workflows/register', 'application/yaml', greeting],
  ];

  it('answers each write 503 with Retry-After until Windlass has its rights there, and then takes it', async () => {
    // The replicas hear of the namespace on their own: before, there is no such tenant.
    for (const write of writes)
      await expect
        .poll(async () => post(...write), { timeout: 30_000 })
        .toMatchObject({
          status: 503,
          retryAfter: '5',
          body: { error: 'unavailable', message: expect.stringContaining('does not give Windlass its rights yet') },
        });
    await tenant.settle();
    for (const write of writes)
      await expect.poll(async () => (await post(...write)).status, { timeout: 30_000 }).toBeOneOf([200, 201]);
  });
});
