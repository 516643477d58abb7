import { generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createGatewayClient, createWindlassClient, type Gateway, type GatewayClient } from '../../../client/index.ts';
import { userToken } from '../../../dev/oidc/sign-in.ts';
import { signEnvelope } from '../../../lib/envelope/sign-envelope.ts';
import { type KubeClient, type Pod, pods } from '../../../lib/kube/index.ts';
import { isReady } from '../harness/api-pods.ts';
import { connect, kubeconfigPath } from '../harness/cluster.ts';
import { makeTestNamespace } from '../harness/test-namespace.ts';
import { pause, waitForView } from '../harness/wait.ts';
import { type OrderDesk, startOrderDesk } from './order-desk.ts';

const system = 'windlass-system';

/** One pod of the installation, and its address. */
interface InstalledPod {
  readonly name: string;
  readonly uid: string;
  readonly url: string;
}

/** A key that may sign calls for one execution. */
export interface SigningSession {
  readonly executionId: string;
  readonly token: string;
  readonly key: KeyObject;
}

/** The answer to a signed call. */
export interface Called {
  readonly status: number;
  readonly text: string;
  readonly result: Gateway.InvokeToolAnswer['result'] | undefined;
  readonly error: { readonly code: number; readonly message: string; readonly data: unknown } | undefined;
}

/** The gateway of dev/demo/install with a tenant of its own, an operator of that tenant, and a desk to order at. */
export interface GatewayStage {
  readonly kube: KubeClient;
  /** Slug, and name of the namespace. */
  readonly tenant: string;
  readonly desk: OrderDesk;
  /** Address of one replica of the API. */
  readonly api: string;
  /** The access token of a person of the tenant. */
  token(roles: readonly string[]): Promise<string>;
  /** Replicas that are ready just now. */
  replicas(): Promise<readonly [InstalledPod, ...InstalledPod[]]>;
  client(roles?: readonly string[], replica?: string): Promise<GatewayClient>;
  session(options?: SessionOptions): Promise<SigningSession>;
  /** Signs a call and sends it to the replica. */
  call(session: SigningSession, call: ToolCall, replica?: string): Promise<Called>;
  /** Calls `orders.place`, in a session of its own, until it answers: a Service that is young refuses its first callers. */
  warmUp(): Promise<void>;
  /** Every event of the tenant, oldest first. */
  events(): Promise<Gateway.ListAuditEventsAnswer['items']>;
  strike(): Promise<void>;
}

interface SessionOptions {
  readonly context?: string;
  readonly patterns?: readonly string[];
  /** Roles and scopes of the operator who makes it, beside svc:operator. */
  readonly roles?: readonly string[];
}

interface ToolCall {
  readonly tool: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly path?: '/v1/invoke' | '/v1/seal/invoke';
}

/** Needs the installation of dev/demo/install, and a machine that reaches pods. */
export async function openGatewayStage(purpose: string, latencyMs = 0): Promise<GatewayStage> {
  const { kube } = await connect();
  const made: (() => Promise<unknown>)[] = [() => kube.close()];
  const strike = async (): Promise<void> => {
    for (const end of made.toReversed()) await end();
  };
  try {
    const namespace = await makeTestNamespace(kube, purpose);
    made.push(() => namespace.remove());
    const [replica] = await installed(kube, 'gateway', 8_090);
    const image = await imageOf(kube, replica.name);
    const desk = await startOrderDesk(kube, { tenant: namespace.name, image, latencyMs });
    made.push(() => desk.remove());
    const [{ url: api }] = await installed(kube, 'api', 8_080);
    const actions = actionsOf(kube, namespace.name);
    return { ...actions, warmUp: () => warmUp(actions), kube, tenant: namespace.name, desk, api, strike };
  } catch (error) {
    await strike();
    throw error;
  }
}

type Actions = Pick<GatewayStage, 'token' | 'replicas' | 'client' | 'session' | 'call' | 'events'>;

async function warmUp({ session, call }: Actions): Promise<void> {
  const own = await session();
  const args = { customer: 'ada', item: 'tea', quantity: 1 };
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const { result } = await call(own, { tool: 'orders.place', args });
    if (result?.isError === false) return;
    await pause(500);
  }
  throw new Error('the order desk does not answer');
}

function actionsOf(kube: KubeClient, tenant: string): Actions {
  const token = (roles: readonly string[]): Promise<string> => userToken(provider(), { name: 'olga', tenant, roles });
  const replicas = () => installed(kube, 'gateway', 8_090);
  const client = async (roles: readonly string[] = ['svc:operator'], replica?: string) =>
    createGatewayClient({ server: replica ?? (await replicas())[0].url, token: await token(roles) });
  return {
    token,
    replicas,
    client,
    async session({ context = 'default', patterns, roles = [] } = {}) {
      const { publicKey, privateKey: key } = generateKeyPairSync('ed25519');
      const executionId = `run-${randomBytes(6).toString('hex')}`;
      // A test may have rolled the API out since.
      const [{ url: server }] = await installed(kube, 'api', 8_080);
      const windlass = createWindlassClient({ server, token: await token(['svc:operator']) });
      const issued = await windlass.issueSealToken({ body: { security_context: context, ttl_seconds: 600 } });
      await (await client(['svc:operator', ...roles])).createSession({
        body: {
          execution_id: executionId,
          agent_id: 'order-agent',
          security_context: context,
          public_key_b64: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
          security_token: issued.security_token,
          ...(patterns && { allowed_tool_patterns: [...patterns] }),
        },
      });
      return { executionId, token: issued.security_token, key };
    },
    async call(session, call, replica) {
      const url = replica ?? (await replicas())[0].url;
      return invoke(`${url}${call.path ?? '/v1/invoke'}`, envelopeOf(session, call));
    },
    events: async () => allEvents(await client()),
  };
}

/** Pods of a component that are ready. */
function installed(kube: KubeClient, component: string, port: number): Promise<[InstalledPod, ...InstalledPod[]]> {
  const labelSelector = `app.kubernetes.io/name=windlass,app.kubernetes.io/component=${component}`;
  const readyOf = (all: ReadonlyMap<string, Pod>) => {
    const ready = [...all.values()].filter(isReady);
    const [first, ...rest] = ready.map(({ metadata: { name = '', uid = '' }, status }) => ({
      name,
      uid,
      url: `http://${status?.podIP}:${port}`,
    }));
    return first && ([first, ...rest] satisfies [InstalledPod, ...InstalledPod[]]);
  };
  const what = `a ready pod of the ${component}: dev/demo/install installs it`;
  return waitForView(kube, { resource: pods, namespace: system, labelSelector }, readyOf, { what });
}

async function imageOf(kube: KubeClient, name: string): Promise<string> {
  const { spec } = await kube.get(pods, { namespace: system, name });
  return spec.containers[0]?.image ?? '';
}

/** The identity provider that dev/oidc/install left. */
export function provider(): { issuer: string; ca: string } {
  const folder = join(dirname(kubeconfigPath()), 'oidc');
  return {
    issuer: readFileSync(join(folder, 'issuer'), 'utf8').trim(),
    ca: readFileSync(join(folder, 'ca.crt'), 'utf8'),
  };
}

/** A signed call, as it is sent. */
export function envelopeOf({ executionId, token, key }: SigningSession, { tool, args = {} }: ToolCall): string {
  return JSON.stringify(
    signEnvelope(key, { executionId, token, tool, arguments: args, id: randomUUID(), now: Date.now() }),
  );
}

/** Sends an envelope to one replica. */
export async function invoke(url: string, body: string, signal?: AbortSignal): Promise<Called> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body, ...(signal && { signal }) });
  const text = await response.text();
  const { result, error } = JSON.parse(text) as Pick<Called, 'result' | 'error'>;
  return { status: response.status, text, result, error };
}

async function allEvents(client: GatewayClient): Promise<Gateway.ListAuditEventsAnswer['items']> {
  const found: Gateway.ListAuditEventsAnswer['items'][number][] = [];
  let cursor: string | undefined;
  do {
    const { items, next_cursor } = await client.listAuditEvents({ cursor, limit: 200 });
    found.push(...items);
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}
