import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { SecurityContextSpec } from '../../crds/schema/agent.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { marked } from '../../gateway/bypass.ts';
import type { Operator } from '../../gateway/identity/operator.ts';
import { createTenancy } from '../../gateway/identity/tenancy.ts';
import { createBypassProof } from '../../gateway/lane/bypass-proof.ts';

import { createInvoke } from '../../gateway/lane/invoke.ts';
import { createInvokeRoutes } from '../../gateway/routes/invoke/index.ts';
import { createSessionRoutes } from '../../gateway/routes/sessions/index.ts';
import { createToolRoutes } from '../../gateway/routes/tools/index.ts';
import { createSessionView } from '../../gateway/sessions/session-view.ts';
import { createToolRegistry } from '../../gateway/tools/tool-registry.ts';
import { createWorkflowSource } from '../../gateway/tools/workflow-source.ts';
import type { GatewayEvent } from '../../lib/audit-chain/index.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createCredentials, createTokenExchange } from '../../lib/credentials/index.ts';
import {
  createCallCounter,
  createCallsUnderWay,
  createEnvelopeProof,
  createRevocations,
  createSessions,
  type SealVerifier,
} from '../../lib/envelope/index.ts';
import { createHttpApp, listen, type Route } from '../../lib/http/index.ts';
import { newId } from '../../lib/ids.ts';
import { silentLogger } from '../../lib/logger.ts';
import { readOpenApi } from '../../lib/openapi-document/index.ts';
import { createUpstream } from '../../lib/upstream/index.ts';
import { answerJson, type Answerer, startHttpPeer } from './http-peer.ts';

/** One replica of the gateway with everything real but the cluster and the provider of identities, and its upstream. */
export interface GatewayWorld {
  readonly url: string;
  /** Events, in their order. */
  readonly events: readonly GatewayEvent[];
  /** Paths of requests that reached the upstream. */
  readonly upstreamPaths: () => string[];
  /** How often a Secret was read. */
  readonly secretReads: () => number;
  close(): Promise<void>;
}

interface GatewayWorldOptions {
  readonly bus: EventBus;
  readonly key: SealVerifier;
  /** spec 3 §5.3. */
  readonly isBypass?: boolean;
  readonly security?: SecurityContextSpec;
  readonly answer?: Answerer;
  /** More routes, which get the parts of the lane. */
  readonly routes?: (parts: WorldParts) => Route<Operator>[];
  readonly authenticate?: (headers: { readonly authorization?: string | undefined }) => Promise<Operator>;
}

type WorldParts = Pick<Parameters<typeof createInvokeRoutes>[0], 'audit' | 'invoke' | 'isBypass'> &
  Parameters<typeof createToolRoutes>[0];

const apiId = '11111111-1111-4111-8111-111111111111';
/** Secret values that nobody may find anywhere but in requests to the upstream. */
export const canary = 'canary-secret-5c1f';

/** The tool workflow `orders.get` of the tenant `acme`, and `orders.shared` of all. */
const workflowOf = (name: string, namespace: string): ToolWorkflow =>
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
    },
  }) as unknown as ToolWorkflow;

const objects = [workflowOf('orders.get', 'tenant-acme'), workflowOf('orders.shared', 'windlass-system')];

function toolsOf(upstream: ReturnType<typeof createUpstream>, server: string, parts: Tools) {
  const api = {
    metadata: { name: 'shop', namespace: 'windlass-system', uid: apiId },
    spec: {
      allow_internal_addresses: ['127.0.0.0/8'],
      credentials: { kind: 'bearer', secret: { name: 'shop-token' } },
    },
  } as ApiSpec;
  const document = {
    openapi: '3.1.0',
    info: { title: 'shop', version: '1' },
    servers: [{ url: server }],
    paths: { '/orders': { get: { operationId: 'read', responses: { 200: { description: 'ok' } } } } },
  };
  const labels = { 'windlass.dev/credential': 'true' };
  const metadata = { name: 'shop-token', namespace: 'windlass-system', uid: 's', resourceVersion: '1', labels };
  const data = { token: Buffer.from(canary).toString('base64') };
  const kube = {
    async get() {
      parts.onSecret();
      return { metadata, data } as never;
    },
  };
  return createWorkflowSource({
    ...parts,
    clock: systemClock,
    logger: silentLogger,
    workflows: { byIndex: (_index, place) => objects.filter((object) => object.metadata.namespace === place) },
    onChange: () => undefined,
    whole: async (found) => found,
    apiSpecs: { getByUid: () => api, byIndex: () => [] },
    documents: {
      async indexOf() {
        const { index, problems } = readOpenApi(JSON.stringify(document));
        if (index === undefined) throw new Error(JSON.stringify(problems));
        return index;
      },
    },
    credentials: createCredentials({ kube, tokens: createTokenExchange({ clock: systemClock, upstream }) }),
    upstream,
  });
}

type Tools = Pick<Parameters<typeof createWorkflowSource>[0], 'audit' | 'tenancy'> & { readonly onSecret: () => void };

/** Callers by the tenant that they say in place of a token. */
async function byTenant({ authorization = '' }: { readonly authorization?: string | undefined }): Promise<Operator> {
  const tenant = authorization.replace('Bearer ', '');
  return { subject: 'olga', kind: 'consumer', tenant, isAdmin: false, until: Number.POSITIVE_INFINITY };
}

export async function startGatewayWorld(options: GatewayWorldOptions): Promise<GatewayWorld> {
  const { bus, key, isBypass = false, security = {}, authenticate = byTenant } = options;
  const answer: Answerer = options.answer ?? ((_request, response) => answerJson(response, 200, { id: 'order-1' }));
  const peer = await startHttpPeer(answer);
  const upstream = createUpstream({
    clock: systemClock,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  const events: GatewayEvent[] = [];
  let secretReads = 0;
  const stop = new AbortController();
  const deps = { bus, clock: systemClock, logger: silentLogger, newId };
  const audit = {
    append: async (event: GatewayEvent) => void events.push(event),
    problem: () => undefined,
    close: async () => undefined,
  };
  const tenants = { namespaceOf: (slug: string) => (slug === '' ? undefined : `tenant-${slug}`) };
  const tenancy = createTenancy({ audit, tenants, systemNamespace: 'windlass-system' });
  const sessions = createSessions(bus);
  const calls = createCallsUnderWay(systemClock);
  const view = createSessionView(deps);
  const revocations = createRevocations({ ...deps, sessions, calls });
  const onSecret = (): void => void (secretReads += 1);
  const registry = createToolRegistry([toolsOf(upstream, peer.url, { audit, tenancy, onSecret })]);
  const securityOf = () => security;
  const prove = isBypass
    ? createBypassProof({ clock: systemClock, sessions })
    : createEnvelopeProof({ ...deps, key, sessions });
  const rateLimit = { take: async () => undefined };
  const counter = createCallCounter(bus);
  const invoke = createInvoke({ ...deps, audit, calls, counter, prove, rateLimit, registry, securityOf, tenants });
  const running = [view.run(stop.signal), revocations.run(stop.signal)];
  await revocations.open(stop.signal);
  const parts = { audit, invoke, isBypass, registry, securityOf };
  const sealKey = () => (isBypass ? undefined : key);
  const app = createHttpApp<Operator>({
    ...deps,
    routes: [
      ...createInvokeRoutes(parts),
      ...createSessionRoutes({ ...deps, audit, sessions, view, revocations, tenancy, sealKey }),
      ...createToolRoutes(parts),
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
