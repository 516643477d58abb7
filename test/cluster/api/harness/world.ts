import { type OidcServer, startOidc } from '../../../../dev/oidc/server.ts';
import { serviceAccountToken, userToken } from '../../../../dev/oidc/sign-in.ts';
import type { KubeClient } from '../../../../lib/kube/index.ts';
import { type NatsServer, startNatsServer } from '../../../nats/nats-server.ts';
import { connect } from '../../harness/cluster.ts';
import { type Controllers, startControllers } from '../../harness/controllers.ts';
import { installedControllersWork } from '../../harness/installed.ts';
import { stopLeftovers } from '../../harness/process-record.ts';
import { makeTestNamespace, type TestNamespace } from '../../harness/test-namespace.ts';
import { writeApiKubeconfig } from './api-credentials.ts';
import { type ApiReplica, startApiReplica } from './api-replica.ts';
import { createHttpClient, type HttpClient, type Received, type Sending } from './http.ts';

/** Whose token: a person of a tenant, or a service account. */
export type Bearer =
  | { readonly user: string; readonly tenant?: string; readonly roles?: readonly string[] }
  | { readonly serviceAccount: string; readonly tenant?: string; readonly roles?: readonly string[] };

export interface ApiWorldOptions {
  /** Names namespaces and logs. */
  readonly purpose: string;
  /** @default 1 */
  readonly replicas?: number;
  /** Further settings of every replica, WINDLASS_…; they win over the harness's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Those that name the first tenant. */
  readonly envFor?: (tenant: string) => Readonly<Record<string, string>>;
  /** Without it no replica knows of an event bus. @default true */
  readonly nats?: boolean;
}

/**
 * The API as it runs: replicas of this source with the rights of the chart's service account, before the development
 * cluster, a nats-server and an identity provider that are real, and two tenants of its own.
 */
export interface ApiWorld {
  /** The administrator's access to the cluster. */
  readonly kube: KubeClient;
  readonly provider: OidcServer;
  /** Not started where the options say so. */
  readonly nats: NatsServer | undefined;
  readonly replicas: readonly ApiReplica[];
  /** One for each replica. */
  readonly clients: readonly HttpClient[];
  /** Slugs, which are also the names of the namespaces. */
  readonly tenant: string;
  readonly otherTenant: string;
  /** An access token, made anew only when the last one of this bearer is a few minutes old. */
  token(bearer: Bearer): Promise<string>;
  /** Asks the first replica, or the one given. */
  http(path: string, sending?: Sending, replica?: number): Promise<Received>;
  /** Ends every process that it started, and deletes the tenants. */
  close(): Promise<void>;
}

const TOKEN_MS = 300_000;

export async function startApiWorld(options: ApiWorldOptions): Promise<ApiWorld> {
  await stopLeftovers();
  const made: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of made.reverse()) await end();
  };
  try {
    return await build(options, made, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function build(
  options: ApiWorldOptions,
  made: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<ApiWorld> {
  const { kube, kubeconfig } = await connect();
  made.push(() => kube.close());
  const [tenant, otherTenant] = await makeTenants(kube, options.purpose, made);
  await ensureControllers(kube, kubeconfig, made);
  const provider = await startOidc();
  made.push(() => provider.close());
  const nats = options.nats === false ? undefined : await startNatsServer();
  if (nats !== undefined) made.push(() => nats.stop());
  const env = {
    KUBECONFIG: await writeApiKubeconfig(kubeconfig, `api-${options.purpose}`),
    WINDLASS_OIDC_ISSUER: provider.issuer,
    OIDC_ALLOW_HTTP: 'true',
    ...(nats === undefined ? {} : { WINDLASS_NATS_URL: nats.url }),
    ...options.env,
    ...options.envFor?.(tenant),
  };
  const replicas: ApiReplica[] = [];
  const clients: HttpClient[] = [];
  for (let index = 0; index < (options.replicas ?? 1); index++) {
    const replica = await startApiReplica({ name: options.purpose, env });
    const client = createHttpClient(replica.url);
    made.push(
      () => replica.stop(),
      () => client.close(),
    );
    replicas.push(replica);
    clients.push(client);
  }
  const http = (path: string, sending?: Sending, replica = 0): Promise<Received> => {
    const client = clients[replica];
    if (client === undefined) throw new Error(`there is no replica ${replica}`);
    return client.send(path, sending);
  };
  return { kube, provider, nats, replicas, clients, tenant, otherTenant, token: tokenSource(provider), http, close };
}

async function makeTenants(
  kube: KubeClient,
  purpose: string,
  made: (() => Promise<unknown>)[],
): Promise<[string, string]> {
  const names: string[] = [];
  for (const which of [purpose, `${purpose}-other`]) {
    const namespace: TestNamespace = await makeTestNamespace(kube, which);
    made.push(() => namespace.remove());
    names.push(namespace.name);
  }
  return [names[0] ?? '', names[1] ?? ''];
}

/** Those of the chart where it is installed, else a process of this source. */
async function ensureControllers(
  kube: KubeClient,
  kubeconfig: string,
  made: (() => Promise<unknown>)[],
): Promise<void> {
  if (await installedControllersWork(kube)) return;
  const controllers: Controllers = await startControllers({ kubeconfig, name: 'api-world' });
  made.push(() => controllers.stop());
  await controllers.ready();
}

function tokenSource(provider: OidcServer): (bearer: Bearer) => Promise<string> {
  const known = new Map<string, { readonly token: Promise<string>; readonly until: number }>();
  return (bearer) => {
    const key = JSON.stringify(bearer);
    const found = known.get(key);
    if (found !== undefined && Date.now() < found.until) return found.token;
    const { tenant, roles } = bearer;
    const token =
      'user' in bearer
        ? userToken(provider, { name: bearer.user, tenant, roles })
        : serviceAccountToken(provider, { name: bearer.serviceAccount, tenant, roles });
    known.set(key, { token, until: Date.now() + TOKEN_MS });
    return token;
  };
}
