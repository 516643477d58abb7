import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type EdgeHost, edgeHostName, type EdgeHostState } from '../../../../crds/schema/edge-host.ts';
import { defineResource, type KubeClient, type KubeObject, pods } from '../../../../lib/kube/index.ts';
import {
  createHttpClient,
  type HttpClient,
  type Received,
  type ReceivedEvent,
  type Sending,
} from '../../api/harness/http.ts';
import { podsOf } from '../../chart/release.ts';
import { releaseNamespace } from '../../chart/rendering.ts';
import { connect, kubeconfigPath } from '../../harness/cluster.ts';
import { edgeHosts } from '../../harness/kinds.ts';
import { projectDir } from '../../harness/project.ts';
import { makeTestNamespace } from '../../harness/test-namespace.ts';
import { pause, waitForObject } from '../../harness/wait.ts';
import { programPath } from '../../outputs/programs.ts';

const run = promisify(execFile);

/** Every scope of edge mode. */
export const edgeScopes = ['enroll', 'hosts.read', 'hosts.write', 'groups.write', 'fleet.read', 'fleet.manage'].map(
  (scope) => `svc.edge.${scope}`,
);

/** Events of a fleet run over HTTP, to its end. */
export interface InvokedRun {
  readonly status: number;
  readonly id: string;
  readonly events: readonly ReceivedEvent[];
}

/**
 * The installed API and relay as operators and daemons reach them, and a tenant of its own. Requests are those of an
 * operator with every scope, unless they say otherwise.
 */
export interface EdgeWorld {
  readonly kube: KubeClient;
  /** Slug and namespace. */
  readonly tenant: string;
  /** Where daemons connect to, as the API says; and the file of the authority that vouches for it. */
  readonly endpoint: string;
  readonly caFile: string;
  http(path: string, sending?: Sending): Promise<Received>;
  /** Mints an enrollment token. */
  enrollmentToken(name?: string): Promise<string>;
  /** Runs a tool on hosts, and follows the run to its end. */
  invoke(body: object): Promise<InvokedRun>;
  token(roles?: readonly string[]): Promise<string>;
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Waits until the host is in this state. */
  hostIs(nodeId: string, state: EdgeHostState, timeoutMs?: number): Promise<EdgeHost>;
  close(): Promise<void>;
}

export async function openEdgeWorld(purpose: string): Promise<EdgeWorld> {
  const { kube } = await connect();
  const namespace = await makeTestNamespace(kube, purpose);
  const world = await openEdgeWorldOf(kube, namespace.name);
  return {
    ...world,
    async close() {
      await world.close();
      await namespace.remove();
      await kube.close();
    },
  };
}

/** The same for a tenant of the test's own, which stays when the world is closed. */
export async function openEdgeWorldOf(kube: KubeClient, tenant: string): Promise<EdgeWorld> {
  const api = await openApi(kube, tenant);
  const client = createHttpClient(api.url);
  const token = tokenSource(tenant);
  const http = async (path: string, sending: Sending = {}): Promise<Received> =>
    client.send(path, { token: await token(), ...sending });
  const mint = async (name?: string) => {
    const answer = await http('/v1/edge/enrollment-tokens', { body: { ...(name && { name }), ttl_seconds: 600 } });
    if (answer.status !== 200) throw new Error(`no enrollment token: ${answer.status} ${answer.text}`);
    return answer.json<{ readonly token: string; readonly controller_endpoint: string }>();
  };
  return {
    kube,
    tenant,
    endpoint: (await mint()).controller_endpoint,
    caFile: join(dirname(kubeconfigPath()), 'relay', 'ca.pem'),
    http,
    token,
    enrollmentToken: async (name) => (await mint(name)).token,
    invoke: async (body) => followedRun(client, await token(), body),
    kubectl,
    hostIs: (nodeId, state, timeoutMs = 30_000) =>
      waitForObject(
        kube,
        { resource: edgeHosts, namespace: tenant, name: edgeHostName(nodeId) },
        ({ status }) => status?.status === state,
        { timeoutMs, what: `host ${nodeId} ${state}` },
      ),
    async close() {
      await client.close();
      await api.close();
    },
  };
}

/** A way to the API that survives the loss of one of its replicas. */
async function openApi(kube: KubeClient, name: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const metadata = { name: `${name}-api`, namespace: releaseNamespace };
  const selector = { 'app.kubernetes.io/name': 'windlass', 'app.kubernetes.io/component': 'api' };
  const spec = { type: 'NodePort', selector, ports: [{ port: 8080, targetPort: 'public' }] };
  const made = await kube.create(services, { metadata, spec });
  const [pod] = await podsOf(kube, 'relay');
  const url = `http://${pod?.status?.hostIP}:${made.spec.ports[0]?.nodePort}`;
  // The nodes learn of a new Service within moments.
  await until('the API behind its Service', async () => (await statusOf(`${url}/health`)) === 200, 30_000);
  return { url, close: () => kube.delete(services, metadata).then(() => undefined) };
}

const statusOf = (url: string): Promise<number> =>
  fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    ({ status }) => status,
    () => 0,
  );

interface Service extends KubeObject {
  readonly spec: {
    readonly type: string;
    readonly selector: Readonly<Record<string, string>>;
    readonly ports: readonly { readonly port: number; readonly targetPort: string; readonly nodePort?: number }[];
  };
}
const services = defineResource<Service>({
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
});

function tokenSource(tenant: string): EdgeWorld['token'] {
  const known = new Map<string, { readonly text: Promise<string>; readonly until: number }>();
  return (roles = edgeScopes) => {
    const key = roles.join(' ');
    const found = known.get(key);
    if (found !== undefined && Date.now() < found.until) return found.text;
    const args = ['--user', 'edna', '--tenant', tenant, ...roles.flatMap((role) => ['--role', role])];
    const text = run(join(projectDir, 'dev/oidc/token'), args).then(({ stdout }) => stdout.trim());
    known.set(key, { text, until: Date.now() + tokenMs });
    return text;
  };
}

const tokenMs = 240_000;

async function followedRun(client: HttpClient, token: string, body: object): Promise<InvokedRun> {
  const stream = await client.open('/v1/edge/fleet/invoke', { token, method: 'POST', body });
  const events: ReceivedEvent[] = [];
  for await (const event of stream.events) events.push(event);
  const id = stream.headers['x-fleet-command-id'];
  return { status: stream.status, id: typeof id === 'string' ? id : '', events };
}

async function kubectl(args: readonly string[], input?: string): Promise<string> {
  const child = run(await programPath('kubectl'), ['--kubeconfig', kubeconfigPath(), ...args]);
  if (input !== undefined) child.child.stdin?.end(input);
  return (await child).stdout;
}

/** Hosts whose streams each relay replica holds, by the name of its pod. */
export async function hostsByRelay(kube: KubeClient): Promise<ReadonlyMap<string, number>> {
  const found = await Promise.all(
    (await podsOf(kube, 'relay')).map(async ({ metadata, status }): Promise<[string, number]> => {
      const answer = await fetch(`http://${status?.podIP}:50057/metrics`).then((response) => response.text());
      const counts = [...answer.matchAll(/^windlass_relay_hosts\{[^}]*\} (\d+)$/gm)].map(([, count]) => Number(count));
      return [metadata.name ?? '', counts.reduce((sum, count) => sum + count, 0)];
    }),
  );
  return new Map(found);
}

/** The relay that holds most streams. */
export async function busiestRelay(kube: KubeClient): Promise<string> {
  const [most] = [...(await hostsByRelay(kube))].toSorted(([, a], [, b]) => b - a);
  return most?.[0] ?? '';
}

/** Waits until as many replicas of the relay are ready as the chart has. */
export async function relaysAreReady(kube: KubeClient, timeoutMs = 90_000): Promise<void> {
  const areReady = async (): Promise<boolean> => {
    const ready = (await podsOf(kube, 'relay')).filter(({ status }) => status?.containerStatuses?.[0]?.ready === true);
    return ready.length === 2;
  };
  await until('two ready replicas of the relay', areReady, timeoutMs);
}

async function until(what: string, isSo: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`gave up after ${timeoutMs} ms: ${what}`);
    await pause(500);
  }
}

/** Deletes one replica: as an eviction does, or at once, so that it cannot say goodbye. */
export async function deleteRelay(world: EdgeWorld, name: string, how: 'gracefully' | 'at once'): Promise<void> {
  const now = how === 'at once' ? ['--grace-period=0', '--force'] : ['--wait=false'];
  await world.kubectl(['--namespace', releaseNamespace, 'delete', 'pod', name, ...now]);
}

/** Whether a pod of the release is still there. */
export const isThere = async (kube: KubeClient, name: string): Promise<boolean> =>
  (await kube.listAll(pods, { namespace: releaseNamespace })).items.some(({ metadata }) => metadata.name === name);
