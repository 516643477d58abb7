import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createGatewayClient, type GatewayClient } from '../../client/index.ts';
import { issueToken, type SealKey } from '../../lib/envelope/index.ts';
import { writeAccountKubeconfig } from '../../test/cluster/harness/account-kubeconfig.ts';
import { kubeconfigPath } from '../../test/cluster/harness/cluster.ts';
import { startNatsServer } from '../../test/nats/nats-server.ts';
import { startOidc } from '../oidc/server.ts';
import { userToken } from '../oidc/sign-in.ts';
import { type BenchCluster, chartLimits } from './bench-cluster.ts';
import { bundle } from './bundle.ts';
import { startHolder, type StreamHolder } from './edge/stream-holder.ts';
import { issuer } from './lane-setup.ts';
import { environmentOfPod } from './pod-environment.ts';

/** One replica of the gateway with a nats-server of its own, and an operator of the run's tenant. */
export interface BenchGateway {
  /** Process; it keeps its ports and what NATS holds when it is started again. */
  readonly process: StreamHolder;
  /** With a fresh access token: those of the provider last ten minutes. */
  client(): Promise<GatewayClient>;
  /** A security token for one session. */
  sealToken(context: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts what the image holds, with the rights of the chart's service account, beside an identity provider. */
export async function startBenchGateway({ namespace: tenant }: BenchCluster): Promise<BenchGateway> {
  const folder = await bundle('gateway');
  const seal: SealKey = { ...generateKeyPairSync('ed25519'), ...issuer };
  const provider = await startOidc();
  const nats = await startNatsServer();
  const kubeconfig = await writeAccountKubeconfig(kubeconfigPath(), 'windlass-gateway', 'bench-gateway');
  const pod = await environmentOfPod(chartLimits.gateway);
  const gateway = await startHolder({
    name: 'gateway',
    args: () => [join(folder, 'gateway.js')],
    env: ({ port, pagesPort }) => ({
      KUBECONFIG: kubeconfig,
      WINDLASS_LOG_LEVEL: 'warn',
      WINDLASS_HTTP_HOST: '127.0.0.1',
      SEAL_GATEWAY_PORT: String(port),
      SEAL_GATEWAY_INTERNAL_PORT: String(pagesPort),
      SEAL_GATEWAY_OPERATOR_JWT_ISSUER: provider.issuer,
      SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE: 'windlass',
      SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM: String(seal.publicKey.export({ format: 'pem', type: 'spki' })),
      OIDC_ALLOW_HTTP: 'true',
      WINDLASS_NATS_URL: nats.url,
      WINDLASS_DRAIN_SECONDS: '0',
      ...pod,
    }),
  });
  return {
    process: gateway,
    client: async () =>
      createGatewayClient({
        server: `http://${gateway.address}`,
        token: await userToken(provider, { name: 'olga', tenant, roles: ['svc:operator'] }),
      }),
    sealToken: (context) => {
      const iat = Math.floor(Date.now() / 1_000);
      return issueToken(seal, { jti: randomUUID(), scp: context, tenant_id: tenant, iat, exp: iat + 3_600 });
    },
    async stop() {
      await gateway.stop();
      await nats.stop();
      await provider.close();
    },
  };
}
