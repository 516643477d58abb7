import type { KubeClient } from '../../../lib/kube/index.ts';
import { connect } from './cluster.ts';
import { type Controllers, startControllers } from './controllers.ts';
import { installedControllersWork } from './installed.ts';
import { makeTestNamespace } from './test-namespace.ts';

/** A namespace with controllers that work in it. */
export interface UsedControllers {
  readonly kube: KubeClient;
  readonly namespace: string;
  release(): Promise<void>;
}

/**
 * The controllers that the chart installed, where it has, and a tenant for them to work in; without an
 * installation, a process of this source that ends with the test.
 */
export async function useControllers(purpose: string): Promise<UsedControllers> {
  const cluster = await connect();
  const { kube } = cluster;
  const installed = await installedControllersWork(kube);
  const namespace = await makeTestNamespace(kube, purpose);
  let own: Controllers | undefined;
  if (!installed) {
    own = await startControllers({ kubeconfig: cluster.kubeconfig, name: purpose });
    await own.ready();
  }
  return {
    kube,
    namespace: namespace.name,
    async release() {
      await namespace.remove();
      await own?.stop();
      await kube.close();
    },
  };
}
