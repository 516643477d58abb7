import { join } from 'node:path';
import { writeApiKubeconfig } from '../../test/cluster/api/harness/api-credentials.ts';
import { startApiReplica } from '../../test/cluster/api/harness/api-replica.ts';
import { kubeconfigPath } from '../../test/cluster/harness/cluster.ts';
import { startOidc } from '../oidc/server.ts';
import { userToken } from '../oidc/sign-in.ts';
import { type BenchCluster, chartLimits } from './bench-cluster.ts';
import { bundle } from './bundle.ts';
import { environmentOfPod } from './pod-environment.ts';

/** One replica of the API, and a person of the run's tenant. */
export interface BenchApi {
  /** Base address. */
  readonly url: string;
  readonly pid: number;
  readonly token: string;
  /** A person of another tenant. */
  tokenOf(tenant: string): Promise<string>;
  stop(): Promise<void>;
}

/** Answers the path of the API. */
export const buildApi = async (): Promise<string> => join(await bundle('api'), 'api.js');

/** Starts what the image holds, with the rights of the chart's service account, beside an identity provider. */
export async function startBenchApi({ namespace }: BenchCluster): Promise<BenchApi> {
  const provider = await startOidc();
  const replica = await startApiReplica({
    name: 'bench',
    program: await buildApi(),
    env: {
      KUBECONFIG: await writeApiKubeconfig(kubeconfigPath(), 'bench-api'),
      WINDLASS_OIDC_ISSUER: provider.issuer,
      OIDC_ALLOW_HTTP: 'true',
      WINDLASS_LOG_LEVEL: 'warn',
      ...(await environmentOfPod(chartLimits.api)),
    },
  });
  return {
    url: replica.url,
    pid: replica.pid,
    token: await userToken(provider, { name: 'ada', tenant: namespace }),
    tokenOf: (tenant) => userToken(provider, { name: 'bob', tenant }),
    async stop() {
      await replica.stop();
      await provider.close();
    },
  };
}
