import type { Clock } from '../lib/clock.ts';
import { chooseDoor } from './doors/choose.ts';
import type { Cluster } from './doors/kubernetes/kubernetes-door.ts';
import { CliError } from './exit-codes.ts';
import type { Doors, GlobalOptions } from './session.ts';

interface ConnectDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** What a command talks to is loaded when it is asked for and not before, so that `--help` stays fast. */
export function connect(deps: ConnectDeps): Doors {
  return {
    async door(options) {
      const choice = chooseDoor(options, deps.env);
      if (choice.kind === 'http') throw new CliError('usage', 'not yet');
      const [{ createKubernetesDoor }, cluster] = await Promise.all([
        import('./doors/kubernetes/kubernetes-door.ts'),
        clusterOf(deps, options),
      ]);
      return createKubernetesDoor({ ...cluster, clock: deps.clock });
    },
    async cluster(options) {
      if (chooseDoor(options, deps.env).kind === 'kubernetes') return clusterOf(deps, options);
      throw new CliError(
        'usage',
        'this command needs rights in the cluster; the HTTP API cannot do it',
        options.server === undefined
          ? 'Name the cluster with --context or --kubeconfig, or unset WINDLASS_SERVER.'
          : 'Leave out --server, and use a kubeconfig.',
      );
    },
  };
}

/** Finds the cluster as kubectl does and prepares a client for it. */
async function clusterOf({ env, clock }: ConnectDeps, options: GlobalOptions): Promise<Cluster> {
  const [{ findCredentials }, { createKubeClient }, { createOutputReader }] = await Promise.all([
    import('../lib/kube/kubeconfig-credentials.ts'),
    import('../lib/kube/http-client.ts'),
    import('../lib/execution/output-reader.ts'),
  ]);
  const { kubeconfig, context, namespace } = options;
  const credentials = await findCredentials({ env, now: () => clock.now(), kubeconfig, context });
  const kube = createKubeClient({ credentials, clock }, { userAgent: 'windlass-cli' });
  const outputs = createOutputReader(kube, env);
  return { kube, outputs, namespace: namespace ?? credentials.namespace ?? 'default' };
}
