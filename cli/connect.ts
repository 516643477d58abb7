import type { Clock } from '../lib/clock.ts';
import type { Environment } from '../lib/config.ts';
import { type BackendChoice, chooseBackend, chooseGateway, flagsOf } from './backends/choose.ts';
import type { Backend } from './backends/backend.ts';
import type { CliCluster } from './backends/kubernetes/deps.ts';
import { CliError } from './exit-codes.ts';
import type { FilePort } from './files.ts';
import type { Accounts } from './login/accounts.ts';
import type { ProviderChoice } from './login/provider.ts';
import type { Backends, GlobalOptions } from './command-context.ts';
import type { Terminal } from './terminal.ts';

interface ConnectDeps {
  readonly env: Environment;
  readonly clock: Clock;
  readonly files: FilePort;
  readonly terminal: Terminal;
  readonly interrupted: AbortSignal;
  readonly fetch: typeof fetch;
}

/** A backend's module is loaded on first use, so that `--help` stays fast. */
export function connect(deps: ConnectDeps): Backends {
  return {
    backend(options) {
      const choice = chooseBackend(options, deps.env);
      return choice.kind === 'http' ? httpBackend(deps, options, choice) : kubernetesBackend(deps, options);
    },
    async cluster(options) {
      if (chooseBackend(options, deps.env).kind === 'kubernetes') return clusterOf(deps, options);
      throw new CliError(
        'usage',
        'this command needs rights in the cluster; the HTTP API cannot do it',
        options.server === undefined
          ? 'Name the cluster with --context or --kubeconfig, or unset WINDLASS_SERVER.'
          : 'Leave out --server, and use a kubeconfig.',
      );
    },
    async gateway(options) {
      const choice = chooseGateway(options, deps.env);
      const [{ openGateway }, login] = await Promise.all([import('./backends/tool-gateway/open.ts'), loginParts(deps)]);
      return openGateway({ ...deps, ...login }, options, choice);
    },
    server(options) {
      const choice = chooseBackend(options, deps.env);
      if (choice.kind === 'http') return choice.server;
      throw new CliError(
        'usage',
        '--server is missing: a login is for the HTTP API',
        'Give --server URL, or set WINDLASS_SERVER. A kubeconfig needs no login.',
      );
    },
    accounts: () => accountsOf(deps),
  };
}

async function kubernetesBackend(deps: ConnectDeps, options: GlobalOptions): Promise<Backend> {
  const [{ createKubernetesBackend, wordsOf }, cluster] = await Promise.all([
    import('./backends/kubernetes/kubernetes-backend.ts'),
    clusterOf(deps, options),
  ]);
  const words = wordsOf(cluster.namespace, flagsOf({ ...options, namespace: undefined }));
  return createKubernetesBackend({ ...cluster, words, clock: deps.clock });
}

/** Finds the cluster as kubectl does and prepares a client for it. */
async function clusterOf(deps: ConnectDeps, options: GlobalOptions): Promise<CliCluster> {
  const { env, clock, terminal, interrupted } = deps;
  const [{ findCredentials }, { createKubeClient }, { withCountedQuota }, { createOutputReader }] = await Promise.all([
    import('../lib/kube/kubeconfig-credentials.ts'),
    import('../lib/kube/http-client.ts'),
    import('./quota/counted-quota.ts'),
    import('../lib/execution/output-reader.ts'),
  ]);
  const { kubeconfig, context, namespace } = options;
  const credentials = await findCredentials({ env, now: () => clock.now(), kubeconfig, context });
  const client = createKubeClient({ credentials, clock }, { userAgent: 'windlass-cli' });
  const kube = withCountedQuota(client, { clock, note: (line) => terminal.note(line), interrupted });
  const outputs = createOutputReader(kube, env, clock);
  return { kube, outputs, namespace: namespace ?? credentials.namespace ?? 'default' };
}

async function httpBackend(
  deps: ConnectDeps,
  options: GlobalOptions,
  { server }: Extract<BackendChoice, { kind: 'http' }>,
): Promise<Backend> {
  const [{ openHttpBackend }, login] = await Promise.all([import('./backends/http/open.ts'), loginParts(deps)]);
  return openHttpBackend({ ...deps, ...login }, options, server);
}

async function accountsOf(deps: ConnectDeps): Promise<Accounts> {
  const [{ createAccounts }, login] = await Promise.all([import('./login/accounts.ts'), loginParts(deps)]);
  return createAccounts({ ...deps, ...login });
}

/** The provider is loaded when a token has to be had or renewed, which is seldom. */
async function loginParts({ env, clock, fetch, interrupted }: ConnectDeps) {
  const { createLoginStore, loginFolder } = await import('./login/login-store.ts');
  return {
    logins: createLoginStore(loginFolder(env), clock),
    findProvider: async (choice: ProviderChoice) => {
      const { findProvider } = await import('./login/provider.ts');
      return findProvider({ fetch, signal: interrupted }, choice);
    },
  };
}
