import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createSealTokenRoute } from '../../api/routes/seal/token.ts';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { Operator } from '../../gateway/identity/operator.ts';
import { createTenancy } from '../../gateway/identity/tenancy.ts';
import { createInvoke } from '../../gateway/lane/invoke.ts';
import { createAuditedRefusals } from '../../gateway/lane/lane.ts';
import { createAuditEventRoutes } from '../../gateway/routes/audit-events/index.ts';
import { createInvokeRoutes } from '../../gateway/routes/invoke/index.ts';
import { createSessionRoutes } from '../../gateway/routes/sessions/index.ts';
import { createToolRoutes } from '../../gateway/routes/tools/index.ts';
import { createSessionView } from '../../gateway/sessions/session-view.ts';
import { serveRegisteredTools } from '../../gateway/tools/serve-registered.ts';
import { createToolRegistry } from '../../gateway/tools/tool-registry.ts';
import type { GatewayTool } from '../../gateway/tools/tool-source.ts';
import { createAuditChain, pemOf } from '../../lib/audit-chain/index.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { createSearches } from '../../lib/word-search.ts';
import { systemClock } from '../../lib/clock.ts';
import {
  createCallCounter,
  createCallsUnderWay,
  createEnvelopeProof,
  createRevocations,
  createSealSessions,
  createProofPool,
  createVouch,
  type SealKey,
} from '../../lib/envelope/index.ts';
import type { Caller } from '../../lib/identity/index.ts';
import { newId } from '../../lib/ids.ts';
import { contextReads } from './session-contexts.ts';
import { startTestServer, type TestServer } from './http-server.ts';
import { silentLogger } from './silent-logger.ts';

/** A tool gateway and the API's issuer of tokens, both on real NATS. There is no cluster. */
export interface TestGateway {
  readonly url: string;
  /** Address of the API. */
  readonly api: string;
  /** Signs tokens. */
  readonly key: SealKey;
  /** The key that signs checkpoints, PEM. */
  readonly auditPublicKey: string;
  /** By name. */
  readonly contexts: Map<string, SecurityContextSpec>;
  close(): Promise<void>;
}

/** Bearer tokens are the slug of the tenant; that of the API's consumer is `consumer`. */
export async function startTestGateway(bus: EventBus, tools: readonly GatewayTool[]): Promise<TestGateway> {
  const pair = generateKeyPairSync('ed25519');
  const key: SealKey = { ...pair, issuer: 'windlass', audience: 'windlass-tools' };
  const auditKey = generateKeyPairSync('ed25519').privateKey;
  const deps = { bus, clock: systemClock, logger: silentLogger, newId };
  const audit = createAuditChain({ ...deps, key: auditKey });
  const tenants = { namespaceOf: (slug: string) => `tenant-${slug}` };
  const tenancy = createTenancy({ audit, tenants });
  const sessions = createSealSessions(bus);
  const calls = createCallsUnderWay(systemClock);
  const view = createSessionView(deps);
  const revocations = createRevocations({ ...deps, sessions, calls });
  const registry = createToolRegistry([sourceOf(tools)]);
  const contexts = new Map<string, SecurityContextSpec>([['default', {}]]);
  const securityOf = (_tenant: string | undefined, name: string) => contexts.get(name);
  const kube = contextReads({ 'tenant-acme': contexts });
  const proofs = createProofPool({ clock: systemClock, key });
  const lane = { calls, counter: createCallCounter(bus), registry, securityOf, tenants, proofs };
  const prove = createEnvelopeProof({ ...deps, key, sessions });
  const invoke = createInvoke({ ...deps, ...lane, audit, prove, rateLimit: { take: async () => undefined } });
  const stop = new AbortController();
  const registeredTools = serveRegisteredTools({ bus, registry, securityOf }, stop.signal);
  const running = [view.run(stop.signal), revocations.run(stop.signal), registeredTools];
  await revocations.open(stop.signal);
  const routes = [
    ...createInvokeRoutes({
      noteRefusal: createAuditedRefusals({ audit, clock: systemClock }),
      invoke,
      vouch: createVouch({ ...deps, key, sessions, proofs }),
      isBypass: false,
    }),
    ...createSessionRoutes({
      ...deps,
      audit,
      sessions,
      view,
      revocations,
      tenancy,
      kube,
      securityOf,
      sealKey: () => key,
    }),
    ...createToolRoutes({ registry, securityOf, searches: createSearches(systemClock) }),
    ...createAuditEventRoutes({ ...deps, tenancy, auditKeys: { signing: pemOf(auditKey), former: [] } }),
  ];
  const server = await serve(routes, operatorOf);
  const token = createSealTokenRoute({ ...deps, kube, tenants, key, audit: { record: () => undefined } });
  const api = await serve([token], callerOf);
  return {
    url: server.url,
    api: api.url,
    key,
    auditPublicKey: pemOf(auditKey),
    contexts,
    async close() {
      await Promise.all([server.close(), api.close()]);
      stop.abort();
      await Promise.all(running);
      await revocations.close();
      await audit.close();
    },
  };
}

const serve = (routes: readonly unknown[], who: (token: string) => unknown): Promise<TestServer> =>
  startTestServer(routes as never, {
    authenticate: (async ({ authorization = '' }: { authorization?: string }) =>
      who(authorization.replace('Bearer ', ''))) as never,
    tenantOf: (({ tenant }: { tenant: string }) => tenant) as never,
  });

const operatorOf = (tenant: string): Operator => ({
  subject: 'olga',
  kind: 'consumer',
  tenant,
  isAdmin: false,
  scopes: [],
  until: Number.POSITIVE_INFINITY,
});

const callerOf = (tenant: string): Caller => ({
  subject: 'olga',
  kind: 'consumer',
  tenant,
  roles: tenant === 'consumer' ? [] : ['svc:operator'],
  scopes: [],
  until: Number.POSITIVE_INFINITY,
});

const sourceOf = (tools: readonly GatewayTool[]) => ({
  list: () => tools,
  find: (_tenant: string | undefined, name: string) => tools.find((tool) => tool.name === name),
});

/** The gateway as API and controllers meet it over the bus: it answers for these tools until the signal aborts. */
export async function serveTools(bus: EventBus, tools: readonly GatewayTool[], signal: AbortSignal): Promise<void> {
  const registry = createToolRegistry([sourceOf(tools)]);
  await serveRegisteredTools({ bus, registry, securityOf: () => ({}) }, signal);
}

/** A tool that answers with its arguments; where one is `fail: true` it fails. */
export const echoTool = (name: string): GatewayTool => ({
  name,
  description: 'Answers with its arguments.',
  input_schema: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
  source: 'workflow',
  skip_judge: false,
  fleet_capable: false,
  call: async (caller, args) => ({
    content: JSON.stringify(args),
    structured: { args, execution_id: caller.executionId, call: randomUUID() },
    isError: args['fail'] === true,
  }),
});
