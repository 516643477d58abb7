import type { Clock } from '../lib/clock.ts';
import type { Cluster, GlobalOptions } from './session.ts';

interface ConnectDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/**
 * Finds the cluster as kubectl does and prepares a client for it. The client is loaded here and not before, so that
 * `--help` stays fast.
 */
export function connect({ env, clock }: ConnectDeps): (options: GlobalOptions) => Promise<Cluster> {
  return async ({ kubeconfig, context, namespace }) => {
    const [{ findCredentials }, { createKubeClient }, { createOutputReader }] = await Promise.all([
      import('../lib/kube/kubeconfig-credentials.ts'),
      import('../lib/kube/http-client.ts'),
      import('../lib/execution/output-reader.ts'),
    ]);
    const credentials = await findCredentials({ env, now: () => clock.now(), kubeconfig, context });
    const kube = createKubeClient({ credentials, clock }, { userAgent: 'windlass-cli' });
    const outputs = createOutputReader(kube, env);
    return { kube, outputs, namespace: namespace ?? credentials.namespace ?? 'default' };
  };
}
