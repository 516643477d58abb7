import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type KubeClient, pods } from '../../../lib/kube/index.ts';
import { type ApiProxy, startApiProxy } from './api-proxy.ts';
import { connect } from './cluster.ts';
import { type Controllers, startControllers } from './controllers.ts';
import { bringInstalledBack, controllersIdentity, scaleInstalledTo } from './installed.ts';
import { workflowExecutions } from './kinds.ts';
import { stopLeftovers } from './process-record.ts';
import { buildDir } from './project.ts';
import { makeTestNamespace } from './test-namespace.ts';
import { waitForNone } from './wait.ts';

/** A test's own world: a tenant, proxies before the API server, and controllers that run alone. */
export interface Stage {
  /** Straight to the API server, past every proxy. */
  readonly kube: KubeClient;
  readonly namespace: string;
  /** Where controllers of the stage may hold a Lease. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** One more proxy; `name` tells them apart. Behind it controllers have the rights that the chart gives, if installed. */
  proxy(name: string): Promise<ApiProxy>;
  /** Controllers of this source behind a proxy, ready to work. */
  controllers(proxy: ApiProxy, env?: Readonly<Record<string, string>>): Promise<Controllers>;
  /** Stops everything that the stage started, removes its namespace and asks for the installed controllers again. */
  strike(): Promise<void>;
}

export async function openStage(purpose: string): Promise<Stage> {
  const cluster = await connect();
  const { kube, kubeconfig } = cluster;
  await stopLeftovers();
  const as = await controllersIdentity(kube);
  await scaleInstalledTo(kube, 0);
  const namespace = await makeTestNamespace(kube, purpose);
  const proxies: ApiProxy[] = [];
  const running: Controllers[] = [];
  return {
    kube,
    namespace: namespace.name,
    // The chart's role allows its own Lease and no other.
    lease: { namespace: as === undefined ? namespace.name : 'windlass-system', name: 'windlass-controllers' },
    async proxy(name) {
      await mkdir(buildDir, { recursive: true });
      const file = join(buildDir, `${purpose}-${name}.kubeconfig`);
      const proxy = await startApiProxy({ upstream: kubeconfig, kubeconfig: file, as });
      proxies.push(proxy);
      return proxy;
    },
    async controllers(proxy, env = {}) {
      const started = await startControllers({ kubeconfig: proxy.kubeconfig, name: purpose, env });
      running.push(started);
      await started.ready();
      return started;
    },
    async strike() {
      for (const proxy of proxies) {
        proxy.setRules({});
        await proxy.comeUp();
      }
      // While controllers and their rights are still there, so that finalizers are released.
      // Thousands of objects take longer than an ordinary request may.
      await kube.deleteCollection(workflowExecutions, { namespace: namespace.name }, { timeoutMs: 150_000 });
      await waitForNone(kube, { resource: pods, namespace: namespace.name }, { timeoutMs: 90_000 }).catch(
        () => undefined,
      );
      await namespace.remove();
      await Promise.all(running.map((controllers) => controllers.stop()));
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await bringInstalledBack(kube);
      await kube.close();
    },
  };
}
