import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentExecution, AgentExecutionSpec } from '../../../crds/schema/agent-execution.ts';
import { agentExecutions, agents, securityContexts } from '../../../lib/kinds.ts';
import {
  defineResource,
  findObject,
  type KubeClient,
  type KubeObject,
  networkPolicies,
  type Pod,
  pods,
} from '../../../lib/kube/index.ts';
import { anAgent } from '../../builders/agent-builder.ts';
import { startApiProxy, type ApiProxy } from '../harness/api-proxy.ts';
import { connect, kubeconfigPath } from '../harness/cluster.ts';
import { type Controllers, startControllers } from '../harness/controllers.ts';
import { controllersIdentity, restoreInstalled, scaleInstalledTo } from '../harness/installed.ts';
import { makeTestNamespace } from '../harness/test-namespace.ts';
import { waitForObject } from '../harness/wait.ts';

interface RuntimeClass extends KubeObject {
  readonly handler: string;
}
const runtimeClasses = defineResource<RuntimeClass>({
  group: 'node.k8s.io',
  version: 'v1',
  plural: 'runtimeclasses',
  kind: 'RuntimeClass',
  namespaced: false,
});

const id = Date.now().toString(36);
/** The runtime of the nodes under another name. */
const there = `windlass-test-${id}`;
const missing = `windlass-none-${id}`;
const nodeConfig = `apiVersion: windlass.dev/v1
kind: NodeConfig
spec:
  isolation: { process: ${there}, firecracker: ${missing} }
`;

/** Controllers of its own, whose node configuration names RuntimeClasses. */
describe('the pod of an agent', () => {
  let kube: KubeClient;
  let namespace: Awaited<ReturnType<typeof makeTestNamespace>>;
  let controllers: Controllers;
  let proxy: ApiProxy;
  let home: string;

  beforeAll(async () => {
    ({ kube } = await connect());
    home = await mkdtemp(join(tmpdir(), 'windlass-isolation-'));
    await writeFile(join(home, 'node.yaml'), nodeConfig);
    await kube.create(runtimeClasses, {
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: there },
      handler: 'runc',
    });
    namespace = await makeTestNamespace(kube, 'isolation');
    const as = await controllersIdentity(kube);
    await scaleInstalledTo(kube, 0);
    const kubeconfig = join(home, 'kubeconfig');
    proxy = await startApiProxy({ upstream: kubeconfigPath(), kubeconfig, as });
    const env = { WINDLASS_NODE_CONFIG: join(home, 'node.yaml') };
    controllers = await startControllers({ kubeconfig, name: 'isolation', env });
    await controllers.ready();
    // Its conversation waits for a person: one that ends before the pod is made needs no pod.
    const { metadata, ...definition } = anAgent('files', {
      task: { instruction: 'You say what your input says.' },
      tools: [{ name: 'fs.read' }],
      approval: { tools: ['fs.read'], timeout_seconds: 3_600 },
      security: { context: 'open' },
    });
    await kube.create(agents, { ...definition, metadata: { name: metadata.name, namespace: namespace.name } });
  }, 180_000);
  afterAll(async () => {
    await controllers?.stop();
    await proxy?.close();
    await restoreInstalled(kube);
    await namespace?.remove();
    await kube.delete(runtimeClasses, { name: there });
    await rm(home, { recursive: true, force: true });
    await kube.close();
  });

  async function start(name: string, spec: Partial<AgentExecutionSpec>): Promise<void> {
    const metadata = { name, namespace: namespace.name };
    const head = { apiVersion: 'windlass.dev/v1', kind: 'AgentExecution', metadata } as const;
    const input = JSON.stringify([{ tool_calls: [{ name: 'fs.read', arguments: { path: '/workspace/a' } }] }]);
    await kube.create(agentExecutions, { ...head, spec: { agent: 'files', input, ...spec } });
  }
  const until = (name: string, done: (execution: AgentExecution) => boolean): Promise<AgentExecution> =>
    waitForObject(kube, { resource: agentExecutions, namespace: namespace.name, name }, done, { timeoutMs: 120_000 });
  async function runningPodOf(name: string): Promise<Pod> {
    const { status } = await until(name, (now) => now.status?.pod?.uid !== undefined);
    const target = { resource: pods, namespace: namespace.name, name: status?.pod?.name ?? '' };
    const isRunning = (pod: Pod): boolean => pod.status?.containerStatuses?.[0]?.state?.running !== undefined;
    return waitForObject(kube, target, isRunning, { timeoutMs: 120_000 });
  }

  it('WF-AGENT-04 AMB-081 runs under the RuntimeClass of its isolation', async () => {
    await start('process', { isolation: 'process' });
    expect((await runningPodOf('process')).spec.runtimeClassName).toBe(there);
  });

  it('WF-AGENT-04 has none where its isolation names none', async () => {
    await start('plain', {});
    expect((await runningPodOf('plain')).spec.runtimeClassName).toBeUndefined();
  });

  it('WF-AGENT-04 AMB-081 is not made where the cluster lacks the RuntimeClass, and the condition says which', async () => {
    await start('firecracker', { isolation: 'firecracker' });
    const { status } = await until('firecracker', (now) => now.status?.finished_at !== undefined);
    expect(status).toMatchObject({ phase: 'failed', reason: 'IsolationUnavailable' });
    expect(status?.pod).toBeUndefined();
    expect(status?.conditions).toMatchObject([
      { type: 'Succeeded', status: 'False', reason: 'IsolationUnavailable', message: expect.stringContaining(missing) },
    ]);
  });

  it('ADR 0100 has the networks that its SecurityContext lists, by a policy that its execution owns', async () => {
    const networks = [{ cidr: '10.1.0.0/16', ports: [5432] }];
    const metadata = { name: 'open', namespace: namespace.name };
    const context = { apiVersion: 'windlass.dev/v1', kind: 'SecurityContext', metadata } as const;
    await kube.create(securityContexts, { ...context, spec: { network: 'listed', networks } });
    await start('listed', {});
    const pod = await runningPodOf('listed');
    const owned = async () =>
      (await kube.listAll(networkPolicies, { namespace: namespace.name })).items.filter(
        ({ metadata: { ownerReferences } }) => ownerReferences?.some(({ name }) => name === 'listed'),
      );
    const [policy, ...others] = await owned();
    expect(others).toEqual([]);
    expect(policy?.spec).toMatchObject({
      policyTypes: ['Egress'],
      egress: [{ to: [{ ipBlock: { cidr: '10.1.0.0/16' } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
    });
    expect(pod.metadata.labels).toMatchObject(policy?.spec?.podSelector.matchLabels ?? { none: 'there' });
    await kube.delete(agentExecutions, { namespace: namespace.name, name: 'listed' });
    const name = policy?.metadata.name ?? '';
    await expect
      .poll(() => findObject(kube, networkPolicies, { namespace: namespace.name, name }), { timeout: 60_000 })
      .toBeUndefined();
  });
});
