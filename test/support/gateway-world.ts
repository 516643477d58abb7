import { createUpstreamRoom } from '../../lib/tools/web/upstream-room.ts';
import { globalNamespace } from '../../crds/labels.ts';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { marked } from '../../gateway/bypass.ts';
import type { Operator } from '../../gateway/identity/operator.ts';
import { createTenancy } from '../../gateway/identity/tenancy.ts';
import { createBypassProof, createBypassSession } from '../../gateway/lane/bypass-proof.ts';
import { createInvoke } from '../../gateway/lane/invoke.ts';
import { createAuditedRefusals } from '../../gateway/lane/lane.ts';
import { createMcpServer } from '../../gateway/mcp/mcp-server.ts';
import { createInvokeRoutes } from '../../gateway/routes/invoke/index.ts';
import { createMcpRoutes } from '../../gateway/routes/mcp/index.ts';
import { createSessionRoutes } from '../../gateway/routes/sessions/index.ts';
import { createToolRoutes } from '../../gateway/routes/tools/index.ts';
import { createSessionView } from '../../gateway/sessions/session-view.ts';
import { createToolRegistry } from '../../gateway/tools/tool-registry.ts';
import type { ToolSource } from '../../gateway/tools/tool-source.ts';
import { createWorkflowSource } from '../../gateway/tools/workflow-source.ts';
import type { GatewayEvent } from '../../lib/audit-chain/index.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { createSearches } from '../../lib/word-search.ts';
import { systemClock } from '../../lib/clock.ts';
import { createCredentials, createTokenExchange } from '../../lib/credentials/index.ts';
import {
  createCallCounter,
  createCallsUnderWay,
  createEnvelopeProof,
  createRevocations,
  createSessionProof,
  createSealSessions,
  createProofPool,
  createVouch,
  type SealVerifier,
} from '../../lib/envelope/index.ts';
import { createHttpApp, listen, type Route } from '../../lib/http/index.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import { readOpenApi } from '../../lib/openapi-document/index.ts';
import type { ChainLimits } from '../../lib/tool-chain/limits.ts';
import type { Resolve } from '../../lib/tools/web/vetted-agent.ts';
import { createUpstream } from '../../lib/upstream/index.ts';
import { type Answerer, answerJson, startHttpPeer } from './http-peer.ts';
import { contextReads } from './session-contexts.ts';
import { silentLogger } from './silent-logger.ts';

/** One replica of the gateway with everything real but the cluster and the provider of identities, and its upstream. */
export interface GatewayWorld {
  readonly url: string;
  /** Events, in their order. */
  readonly events: readonly GatewayEvent[];
  /** Paths of requests that reached the upstream. */
  readonly upstreamPaths: () => string[];
  /** How often a Secret was read. */
  readonly secretReads: () => number;
  /** Breaks every connection of the upstream. */
  readonly resetUpstream: () => void;
  close(): Promise<void>;
}

interface GatewayWorldOptions {
  readonly bus: EventBus;
  readonly key: SealVerifier;
  /** spec 3 §5.3. */
  readonly isBypass?: boolean;
  readonly security?: SecurityContextSpec;
  readonly answer?: Answerer;
  /** Default: none is written. */
  readonly logger?: Logger;
  /** Name of the upstream in place of its address. */
  readonly host?: string;
  /** Every address of the upstream's name. */
  readonly resolve?: Resolve;
  readonly limits?: ChainLimits;
  /** Fields of `orders.get`, as a user might apply them past the gateway. */
  readonly workflow?: Partial<ToolWorkflow['spec']>;
  /** How calls are authenticated, and the Secret of it; `BASE` in a text is the address of the upstream. */
  readonly credential?: {
    readonly settings: NonNullable<ApiSpec['spec']['credentials']>;
    readonly secret: Readonly<Record<string, string>>;
  };
  /** Further tools, before those of the workflows. */
  readonly sources?: readonly ToolSource[];
  /** More routes, which get the parts of the lane. */
  readonly routes?: (parts: WorldParts) => Route<Operator>[];
  readonly authenticate?: (headers: { readonly authorization?: string | undefined }) => Promise<Operator>;
}

type WorldParts = Pick<Parameters<typeof createInvokeRoutes>[0], 'noteRefusal' | 'invoke' | 'isBypass' | 'vouch'> &
  Omit<Parameters<typeof createToolRoutes>[0], 'searches'>;

const apiId = '11111111-1111-4111-8111-111111111111';
/** Secret values that may appear only in requests to the upstream. */
export const canary = 'canary-secret-5c1f';

/** The tool workflow `orders.get` of the tenant `acme`, and `orders.shared` of all. */
const workflowOf = (name: string, namespace: string, fields: Partial<ToolWorkflow['spec']> = {}): ToolWorkflow =>
  ({
    metadata: { name: name.replace('.', '-'), namespace, uid: `uid-${name}` },
    spec: {
      name,
      description: 'Reads an order.',
      input_schema: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
      api_spec_id: apiId,
      steps: [
        {
          name: 'read',
          operation_id: 'read',
          body_template: '{"id": "{{input.id}}"}',
          extractors: { id: '$.id' },
          on_error: 'AbortWorkflow',
        },
      ],
      ...fields,
    },
  }) as unknown as ToolWorkflow;

const bearer: NonNullable<GatewayWorldOptions['credential']> = {
  settings: { kind: 'bearer', secret: { name: 'shop-token' } },
  secret: { token: canary },
};

function toolsOf(upstream: ReturnType<typeof createUpstream>, server: string, parts: Tools) {
  const { credential = bearer, workflow, logger = silentLogger } = parts.options;
  const objects = [workflowOf('orders.get', 'tenant-acme', workflow), workflowOf('orders.shared', globalNamespace)];
  const api = {
    metadata: { name: 'shop', namespace: globalNamespace, uid: apiId },
    spec: {
      allow_internal_addresses: ['127.0.0.0/8'],
      credentials: JSON.parse(JSON.stringify(credential.settings).replace('BASE', server)) as unknown,
    },
  } as ApiSpec;
  const document = {
    openapi: '3.1.0',
    info: { title: 'shop', version: '1' },
    servers: [{ url: server }],
    paths: { '/orders': { get: { operationId: 'read', responses: { 200: { description: 'ok' } } } } },
  };
  const labels = { 'windlass.dev/credential': 'true' };
  const metadata = { name: 'shop-token', namespace: globalNamespace, uid: 's', resourceVersion: '1', labels };
  const encoded = ([key, value]: [string, string]) => [key, Buffer.from(value).toString('base64')];
  const data = Object.fromEntries(Object.entries(credential.secret).map(encoded));
  const kube = {
    async get() {
      parts.onSecret();
      return { metadata, data } as never;
    },
  };
  return createWorkflowSource({
    ...parts,
    ...(parts.options.limits === undefined ? {} : { limits: parts.options.limits }),
    clock: systemClock,
    room: createUpstreamRoom({ clock: systemClock, size: 70 * 1_048_576 }),
    logger,
    objects: { byIndex: (_index, place) => objects.filter((object) => object.metadata.namespace === place) },
    former: { has: () => false, isCurrent: true },
    whole: async (found) => found,
    apiSpecs: { getByUid: () => api, byIndex: () => [] },
    documents: {
      async indexOf() {
        const { index, problems } = readOpenApi(JSON.stringify(document));
        if (index === undefined) throw new Error(JSON.stringify(problems));
        return index;
      },
    },
    credentials: createCredentials({
      kube,
      clock: systemClock,
      tokens: createTokenExchange({ clock: systemClock, upstream }),
    }),
    upstream,
  });
}

type Tools = Pick<Parameters<typeof createWorkflowSource>[0], 'audit' | 'tenancy'> & {
  readonly onSecret: () => void;
  readonly options: GatewayWorldOptions;
};

/** Callers by the tenant that they say in place of a token. */
async function byTenant({ authorization = '' }: { readonly authorization?: string | undefined }): Promise<Operator> {
  const tenant = authorization.replace('Bearer ', '');
  return { subject: 'olga', kind: 'consumer', tenant, isAdmin: false, scopes: [], until: Number.POSITIVE_INFINITY };
}

type Proven = Pick<GatewayWorldOptions, 'bus' | 'key'> & {
  readonly sessions: ReturnType<typeof createSealSessions>;
  readonly isBypass: boolean;
};

function proofsOf({ bus, key, sessions, isBypass }: Proven) {
  const deps = { bus, clock: systemClock, sessions };
  return isBypass
    ? { prove: createBypassProof(deps), proveSession: createBypassSession(deps) }
    : { prove: createEnvelopeProof({ ...deps, key }), proveSession: createSessionProof({ ...deps, key }) };
}

export async function startGatewayWorld(options: GatewayWorldOptions): Promise<GatewayWorld> {
  const { bus, key, isBypass = false, security = {}, authenticate = byTenant } = options;
  const answer: Answerer = options.answer ?? ((_request, response) => answerJson(response, 200, { id: 'order-1' }));
  const peer = await startHttpPeer(answer);
  const upstream = createUpstream({
    clock: systemClock,
    resolve: options.resolve ?? (async () => [{ address: '127.0.0.1', family: 4 }]),
  });
  const events: GatewayEvent[] = [];
  let secretReads = 0;
  const stop = new AbortController();
  const deps = { bus, clock: systemClock, logger: options.logger ?? silentLogger, newId };
  const audit = {
    append: async (event: GatewayEvent) => void events.push(event),
    problem: () => undefined,
    close: async () => undefined,
  };
  const tenants = { namespaceOf: (slug: string) => (slug === '' ? undefined : `tenant-${slug}`) };
  const tenancy = createTenancy({ audit, tenants });
  const sessions = createSealSessions(bus);
  const calls = createCallsUnderWay(systemClock);
  const view = createSessionView(deps);
  const revocations = createRevocations({ ...deps, sessions, calls });
  const onSecret = (): void => void (secretReads += 1);
  const registry = createToolRegistry([
    ...(options.sources ?? []),
    toolsOf(upstream, peer.url.replace('127.0.0.1', options.host ?? '127.0.0.1'), {
      audit,
      tenancy,
      onSecret,
      options,
    }),
  ]);
  const securityOf = () => security;
  const { prove, proveSession } = proofsOf({ bus, key, sessions, isBypass });
  const rateLimit = { take: async () => undefined };
  const counter = createCallCounter(bus);
  const proofs = createProofPool({ clock: systemClock, key: isBypass ? undefined : key });
  const lane = { calls, counter, prove, rateLimit, registry, securityOf, tenants, proofs };
  const invoke = createInvoke({ ...deps, ...lane, audit });
  const running = [view.run(stop.signal), revocations.run(stop.signal)];
  await revocations.open(stop.signal);
  const vouch = isBypass ? async () => undefined : createVouch({ ...deps, key, sessions, proofs });
  const noteRefusal = createAuditedRefusals({ audit, clock: systemClock });
  const parts = { audit, noteRefusal, invoke, isBypass, vouch, registry, securityOf };
  const mcp = createMcpServer({ ...parts, proveSession, rateLimit, proofs });
  const sealKey = () => (isBypass ? undefined : key);
  const app = createHttpApp<Operator>({
    ...deps,
    routes: [
      ...createInvokeRoutes(parts),
      ...createMcpRoutes({ ...parts, mcp }),
      ...createSessionRoutes({
        ...deps,
        audit,
        sessions,
        view,
        revocations,
        tenancy,
        securityOf,
        kube: contextReads({}),
        sealKey,
      }),
      ...createToolRoutes({ ...parts, searches: createSearches(systemClock) }),
      ...(options.routes?.(parts) ?? []),
    ],
    authenticate,
    tenantOf: ({ tenant }) => tenant ?? '',
  });
  const listener = await listen(isBypass ? marked(app) : app, { port: 0, host: '127.0.0.1' });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    events,
    upstreamPaths: () => peer.requests.map(({ path }) => path),
    secretReads: () => secretReads,
    resetUpstream: () => peer.resetConnections(),
    async close() {
      await listener.close(AbortSignal.abort());
      stop.abort();
      await Promise.all(running);
      await revocations.close();
      await upstream.close();
      await peer.close();
    },
  };
}
