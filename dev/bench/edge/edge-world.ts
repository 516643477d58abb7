import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configMaps } from '../../../lib/kube/index.ts';
import { mintEnrollmentToken } from '../../../lib/edge/index.ts';
import { publicKeysName } from '../../../lib/keys/public-keys.ts';
import { projectDir } from '../../../test/cluster/harness/project.ts';
import { type NatsServer, startNatsServer } from '../../../test/nats/nats-server.ts';
import { type BenchCluster, chartLimits } from '../bench-cluster.ts';
import { bundle } from '../bundle.ts';
import { environmentOfPod } from '../pod-environment.ts';
import type { BareSetup } from './bare-setup.ts';
import { type ManyDaemons, startManyDaemons } from './many-daemons.ts';
import { relayKubeconfig } from './relay-account.ts';
import { type StreamHolder, startHolder } from './stream-holder.ts';

/** A server with its daemons. */
export interface EdgeSide {
  readonly holder: StreamHolder;
  readonly daemons: ManyDaemons;
}

/** A relay with enrolled hosts and, beside it, a bare server with as many; both have the environment of the relay's pod. */
export interface EdgeWorld {
  readonly tenant: string;
  readonly nats: NatsServer;
  readonly edgeKey: KeyObject;
  /** File of the same key. */
  readonly edgeKeyFile: string;
  readonly relay: EdgeSide;
  readonly bare: EdgeSide;
  close(): Promise<void>;
}

const pem = (key: KeyObject, type: 'pkcs8' | 'spki'): string =>
  key.export({ format: 'pem', type } as { format: 'pem'; type: 'pkcs8' }).toString();

export async function openEdgeWorld(bench: BenchCluster, hosts: number): Promise<EdgeWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-bench-edge-'));
  const nats = await startNatsServer();
  const stops: (() => Promise<unknown>)[] = [() => nats.stop(), () => rm(folder, { recursive: true })];
  const close = async (): Promise<void> => {
    for (const stop of stops.toReversed()) await stop();
  };
  const kept = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting;
    stops.push(() => started.stop());
    return started;
  };
  try {
    const edge = generateKeyPairSync('ed25519');
    const relayKey = join(folder, 'relay.pem');
    const edgeKeyFile = join(folder, 'edge.pem');
    await writeFile(relayKey, pem(generateKeyPairSync('ed25519').privateKey, 'pkcs8'), { mode: 0o600 });
    await writeFile(edgeKeyFile, pem(edge.privateKey, 'pkcs8'), { mode: 0o600 });
    const data = { 'edge.pem': pem(edge.publicKey, 'spki') };
    await bench.kube.create(configMaps, { metadata: { name: publicKeysName, namespace: bench.namespace }, data });
    const relay = {
      holder: await kept(startRelay(bench, { natsUrl: nats.url, relayKey })),
      daemons: await kept(startManyDaemons()),
    };
    const bare = { holder: await kept(startBare(nats.url)), daemons: await kept(startManyDaemons()) };
    const tokens = join(folder, 'tokens');
    await writeFile(tokens, (await enrollmentTokens(edge.privateKey, bench.namespace, hosts)).join('\n'));
    await relay.daemons.enroll(relay.holder.address, tokens);
    await bare.daemons.pretend(bare.holder.address, hosts, credentialBytes);
    return { tenant: bench.namespace, nats, edgeKey: edge.privateKey, edgeKeyFile, relay, bare, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** About as long as a node security token. */
const credentialBytes = 480;

async function startRelay(
  bench: BenchCluster,
  { natsUrl, relayKey }: { readonly natsUrl: string; readonly relayKey: string },
): Promise<StreamHolder> {
  const folder = await bundle('relay', 'relay');
  const kubeconfig = await relayKubeconfig(bench.kube, bench.namespace);
  const pod = await environmentOfPod(chartLimits.relay, 'relay');
  return startHolder({
    name: 'relay',
    args: () => [join(folder, 'relay.js')],
    env: ({ port, pagesPort }) => ({
      KUBECONFIG: kubeconfig,
      WINDLASS_LOG_LEVEL: 'warn',
      WINDLASS_HTTP_HOST: '127.0.0.1',
      WINDLASS_RELAY_PORT: String(port),
      WINDLASS_RELAY_INTERNAL_PORT: String(pagesPort),
      WINDLASS_RELAY_KEY: relayKey,
      WINDLASS_NATS_URL: natsUrl,
      // The installed relay's keys are those of its namespace; this one has keys of its own, and serves this tenant alone.
      WINDLASS_SYSTEM_NAMESPACE: bench.namespace,
      WINDLASS_SYSTEM_TENANT: bench.namespace,
      WINDLASS_DRAIN_SECONDS: '0',
      ...pod,
    }),
  });
}

const startBare = async (natsUrl: string): Promise<StreamHolder> => {
  const pod = await environmentOfPod(chartLimits.relay, 'relay');
  return startHolder({
    name: 'bare-streams',
    args: (ports) => [
      join(projectDir, 'dev/bench/bare-streams/main.ts'),
      JSON.stringify({ ...ports, natsUrl } satisfies BareSetup),
    ],
    env: () => pod,
  });
};

function enrollmentTokens(edgeKey: KeyObject, tenant: string, count: number): Promise<string[]> {
  const facts = { tid: tenant, issuedBy: 'bench', now: Date.now(), ttlSeconds: 900 };
  return Promise.all(
    Array.from({ length: count }, () => mintEnrollmentToken(edgeKey, { ...facts, jti: randomUUID() })),
  );
}
