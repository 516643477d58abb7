import { writeApiKubeconfig } from '../../test/cluster/api/harness/api-credentials.ts';
import { startApiReplica } from '../../test/cluster/api/harness/api-replica.ts';
import { kubeconfigPath } from '../../test/cluster/harness/cluster.ts';
import { startOidc } from '../oidc/server.ts';
import { userToken } from '../oidc/sign-in.ts';
import type { BenchCluster } from './bench-cluster.ts';

/** One replica of the API, and a person of the run's tenant. */
export interface BenchApi {
  /** Base address. */
  readonly url: string;
  readonly pid: number;
  readonly token: string;
  stop(): Promise<void>;
}

/** Starts the API from source, with the rights of the chart's service account, beside an identity provider. */
export async function startBenchApi({ namespace }: BenchCluster): Promise<BenchApi> {
  const provider = await startOidc();
  const replica = await startApiReplica({
    name: 'bench',
    env: {
      KUBECONFIG: await writeApiKubeconfig(kubeconfigPath(), 'bench-api'),
      WINDLASS_OIDC_ISSUER: provider.issuer,
      OIDC_ALLOW_HTTP: 'true',
      WINDLASS_LOG_LEVEL: 'warn',
    },
  });
  return {
    url: replica.url,
    pid: replica.pid,
    token: await userToken(provider, { name: 'ada', tenant: namespace }),
    async stop() {
      await replica.stop();
      await provider.close();
    },
  };
}
