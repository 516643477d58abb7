import { createPublicKey, type KeyObject } from 'node:crypto';
import type { AuditChain } from '../../lib/audit-chain/index.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { ConfigError } from '../../lib/config.ts';
import {
  algorithmsOf,
  createCallCounter,
  createCallsUnderWay,
  createEnvelopeProof,
  createProofPool,
  createRefusalNotes,
  createRevocations,
  createSessionProof,
  createSealSessions,
  createVouch,
  isOrphaned,
  type NoteRefusal,
  type ProveEnvelope,
  type ProveSession,
  type Revocations,
  type SealVerifier,
  type SealSessions,
  type Vouch,
} from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { RateLimit } from '../../lib/http/rate-limit.ts';
import { readPublicKeys } from '../../lib/keys/public-keys.ts';
import type { GatewayCluster } from '../cluster/cluster.ts';
import { type GatewayConfig, isBypass } from '../config.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Tenancy } from '../identity/tenancy.ts';
import { createMcpServer, type McpServer } from '../mcp/mcp-server.ts';
import { withNews } from '../registry/replica-news.ts';
import { createSessionView, type SessionView } from '../sessions/session-view.ts';
import { createBuiltinSource } from '../tools/builtin-source.ts';
import { createContainerSource } from '../tools/container-source.ts';
import { serveRegisteredTools } from '../tools/serve-registered.ts';
import { createToolRegistry, type ToolRegistry } from '../tools/tool-registry.ts';
import type { ToolSource } from '../tools/tool-source.ts';
import { createBypassProof, createBypassSession } from './bypass-proof.ts';
import { createInvoke, type Invoke } from './invoke.ts';
import { createSecurityOf, type SecurityOf } from './security-of.ts';

/** Parts of the invocation lane that have a life of their own, and those that routes share. */
export interface Lane {
  readonly invoke: Invoke;
  readonly mcp: McpServer;
  readonly vouch: Vouch;
  readonly noteRefusal: NoteRefusal;
  readonly registry: ToolRegistry;
  readonly securityOf: SecurityOf;
  readonly sessions: SealSessions;
  readonly view: SessionView;
  readonly revocations: Revocations;
  readonly sealKey: () => SealVerifier | undefined;
  /** Resolves when calls can be taken, or when `stop` aborts. */
  open(stop: AbortSignal): Promise<void>;
  /** Follows sessions, replicas and tools until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** After the last call. */
  close(): Promise<void>;
}

interface LaneDeps extends GatewayDeps {
  readonly bus: EventBus;
  readonly audit: AuditChain;
  readonly cluster: GatewayCluster;
  readonly tenancy: Tenancy;
  readonly rateLimit: RateLimit;
  /** Sources beside the built-in tools, in the order of their rank. */
  readonly toolSources?: readonly ToolSource[];
}

interface RefusalDeps {
  readonly audit: Pick<AuditChain, 'append'>;
  readonly clock: Clock;
}

/** Notes of refused calls in the audit. A refusal that cannot be written is a refusal still; a mismatch of tenants is answered 503. */
export const createAuditedRefusals = ({ audit, clock }: RefusalDeps): NoteRefusal =>
  createRefusalNotes({
    clock,
    write: (event) =>
      event.type === 'TenantMismatch' ? audit.append(event) : audit.append(event).catch(() => undefined),
  });

export function createLane(deps: LaneDeps): Lane {
  const { bus, clock, cluster, config, tenancy, toolSources = [] } = deps;
  const sessions = createSealSessions(bus, cluster.tenants);
  const calls = createCallsUnderWay(clock);
  const view = createSessionView({ ...deps, isOrphan: (session) => isOrphaned(session, cluster.tenants) });
  const generationOf = (uid: string): number | undefined => generationIn(cluster, uid);
  const revocations = createRevocations({
    ...deps,
    sessions,
    calls: withNews({ calls, clock, generationOf, hasSynced: () => cluster.hasSynced }),
  });
  const builtin = createBuiltinSource(deps);
  const registry = createToolRegistry([createContainerSource(), builtin, ...toolSources]);
  const securityOf = createSecurityOf({ contexts: cluster.informers.securityContexts.cache, tenancy });
  const key = createKeyHolder(deps);
  const { proveSession, ...proofs } = createProofs(deps, { key: key.verifier, sessions, view });
  const checks = { ...proofs, calls, counter: createCallCounter(bus), registry, securityOf, tenants: cluster.tenants };
  const invoke = createInvoke({ ...deps, ...checks });
  return {
    invoke,
    vouch: proofs.vouch,
    noteRefusal: createAuditedRefusals(deps),
    mcp: createMcpServer({ ...deps, ...checks, invoke, proveSession }),
    registry,
    securityOf,
    sessions,
    view,
    revocations,
    sealKey: () => (isBypass(config) ? undefined : key.verifier),
    async open(stop) {
      await Promise.all([key.load(stop), revocations.open(stop)]);
    },
    async run(signal) {
      const registered = serveRegisteredTools({ bus, registry, securityOf }, signal);
      await Promise.all([view.run(signal), revocations.run(signal), builtin.run(signal), registered]);
    },
    close: () => revocations.close(),
  };
}

/** The generation of an object that a call would use now; undefined where none would. */
function generationIn({ informers }: GatewayCluster, uid: string): number | undefined {
  for (const { cache } of [
    informers.apiSpecs,
    informers.toolWorkflows,
    informers.cliTools,
    informers.securityContexts,
  ]) {
    const found = cache.getByUid(uid);
    if (found !== undefined) return found.metadata.generation ?? 0;
  }
  return undefined;
}

interface ProofParts {
  readonly key: SealVerifier;
  readonly sessions: SealSessions;
  readonly view: SessionView;
}

/** Proofs of calls of tools, and of any other request, and their turns. */
function createProofs({ bus, clock, config }: LaneDeps, { key, sessions, view }: ProofParts) {
  const proofs = createProofPool({ clock, key: isBypass(config) ? undefined : key });
  const prove: ProveEnvelope = isBypass(config)
    ? createBypassProof({ clock, sessions })
    : createEnvelopeProof({ bus, clock, key, sessions, known: (name) => view.of(name) });
  const proveSession: ProveSession = isBypass(config)
    ? createBypassSession({ clock, sessions })
    : createSessionProof({ clock, key, sessions });
  const vouch: Vouch = isBypass(config)
    ? async () => undefined
    : createVouch({ clock, key, sessions, proofs, known: (name) => view.of(name) });
  return { prove, proveSession, proofs, vouch };
}

interface KeyHolder {
  /** Usable once `load` has resolved. */
  readonly verifier: SealVerifier;
  load(stop: AbortSignal): Promise<void>;
}

/** The public key of SEAL tokens: that of the setting, or the one that the API publishes. @throws ConfigError */
function createKeyHolder({ config, kube, clock, logger }: LaneDeps): KeyHolder {
  let publicKey = configuredKey(config);
  const verifier: SealVerifier = {
    issuer: config.SEAL_GATEWAY_SEAL_JWT_ISSUER,
    audience: config.SEAL_GATEWAY_SEAL_JWT_AUDIENCE,
    get publicKey() {
      if (publicKey !== undefined) return publicKey;
      throw new AppError('unavailable', 'the key of SEAL tokens is not known yet', { reason: 'NoSealKey' });
    },
  };
  return {
    verifier,
    async load(stop) {
      if (publicKey !== undefined || isBypass(config)) return;
      const namespace = config.WINDLASS_SYSTEM_NAMESPACE;
      publicKey = (await readPublicKeys({ kube, clock, logger, namespace }, stop)).seal;
    },
  };
}

const variable = 'SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM';

function configuredKey({ [variable]: pem }: GatewayConfig): KeyObject | undefined {
  if (pem === undefined) return undefined;
  const key = keyOf(pem);
  if (key !== undefined && algorithmsOf(key).length > 0) return key;
  const problem =
    'must be a SubjectPublicKeyInfo PEM with its BEGIN and END lines, of an RSA key of 2048 bits or more, an EC key ' +
    'on P-256, or an Ed25519 key';
  throw new ConfigError([{ name: variable, problem }]);
}

function keyOf(pem: string): KeyObject | undefined {
  // A private key would be taken as well, and its public half used: no operator is to put one here.
  if (!/^-----BEGIN PUBLIC KEY-----\s/.test(pem.trimStart())) return undefined;
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}
