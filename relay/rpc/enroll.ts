import { type KeyObject, randomBytes } from 'node:crypto';
import type { EdgeHostStatus } from '../../crds/schema/edge-host.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  type EnrollmentClaims,
  edgeBuckets,
  edgeLimits,
  isChallengeSignedBy,
  mintNodeToken,
  nodeIdOf,
  readEnrollmentToken,
  wholeSeconds,
} from '../../lib/edge/index.ts';
import { edgeIssuer, signEdgeToken, textClaims, verifiedClaims } from '../../lib/edge/jwt.ts';
import { rawPublicKey, readPublicKey, readRawPublicKey } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import { shortHash } from '../../lib/ids.ts';
import type {
  AttestNodeRequest,
  AttestNodeResponse,
  ChallengeNodeRequest,
  ChallengeNodeResponse,
} from '../../proto/generated/windlass/node/v1/node.ts';
import { type HostStore, isRevoked, type StoredHost } from '../hosts/host-store.ts';
import { hostRevoked } from '../streams/live-stream.ts';
import type { ChallengeLimit } from './challenge-limit.ts';

/** NODE_ROLE_EDGE. */
const edgeRole = 1;
const attestationAudience = 'edge-attestation';

export interface EnrollDeps {
  readonly clock: Clock;
  readonly bus: Pick<EventBus, 'bucket'>;
  readonly hosts: HostStore;
  readonly relayKey: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  /** Signs enrollment and command tokens. */
  readonly edgePublicKey: KeyObject;
  readonly nodeTokenMs: number;
  /** How often daemons are asked to say that they live. */
  readonly heartbeatMs: number;
}

/** A token that was redeemed, and for which key. */
interface Redemption {
  readonly public_key: string;
  /** Milliseconds; the token of the host follows from it. */
  readonly issued_at: number;
  /** The host was made: it is never made again by this token. */
  readonly done?: boolean;
}

/** Begins an enrollment. The attestation is signed, so that every replica knows it and none keeps it. */
export async function attestNode(
  { clock, relayKey }: Pick<EnrollDeps, 'clock' | 'relayKey'>,
  { role, publicKey, version, name }: AttestNodeRequest,
): Promise<AttestNodeResponse> {
  if (role !== edgeRole) throw new AppError('invalid', 'role must be NODE_ROLE_EDGE');
  if (version.length > 64) throw new AppError('invalid', 'version has more than 64 characters');
  if (name.length > edgeLimits.nameLength) throw new AppError('invalid', 'name has more than 253 characters');
  const key = rawPublicKey(readRawPublicKey(publicKey, 'public_key')).toString('base64');
  const nonce = randomBytes(32);
  const iat = Math.floor(clock.now() / 1_000);
  const exp = iat + edgeLimits.attestationMs / 1_000;
  const claims = { iss: edgeIssuer, aud: attestationAudience, key, nonce: nonce.toString('base64url'), name, iat, exp };
  const attestationId = await signEdgeToken(relayKey.privateKey, name === '' ? { ...claims, name: '-' } : claims);
  return { attestationId, nonce, expiresAt: new Date(exp * 1_000) };
}

interface ChallengeDeps extends EnrollDeps {
  readonly limit: ChallengeLimit;
}

/**
 * Ends an enrollment: proves the key, redeems the token, makes the host, issues its credential (EDGE-FLOW-02). `address` is that of
 * the daemon, or of what is before it.
 */
export async function challengeNode(
  deps: ChallengeDeps,
  request: ChallengeNodeRequest,
  address: string,
): Promise<ChallengeNodeResponse> {
  const { enrollment, attested } = await deps.limit.prove(address, () => proofOf(deps, request));
  return deps.limit.redeem(attested.nonce, () => redeem(deps, enrollment, attested));
}

/** Asks nothing but the request. Throws AppError `invalid`, `not_found` and `unauthenticated`. */
async function proofOf(
  { clock, relayKey, edgePublicKey }: EnrollDeps,
  request: ChallengeNodeRequest,
): Promise<{ readonly enrollment: EnrollmentClaims; readonly attested: AttestedKey }> {
  if (request.role !== edgeRole) throw new AppError('invalid', 'role must be NODE_ROLE_EDGE');
  const token = request.bootstrapProof?.value ?? '';
  if (token === '') throw new AppError('invalid', 'bootstrap_proof.enrollment_token is missing');
  const check = { audience: attestationAudience, now: clock.now() };
  const claims = await verifiedClaims(relayKey.publicKey, request.attestationId, check);
  const attested = claims === undefined ? undefined : textClaims(claims, ['key', 'nonce', 'name']);
  if (attested === undefined) throw new AppError('not_found', 'the attestation is over; attest again');
  const key = readPublicKey(attested.key, 'public_key');
  if (!isChallengeSignedBy(key, Buffer.from(attested.nonce, 'base64url'), request.signature)) {
    throw new AppError('unauthenticated', 'the attested key has not signed the nonce');
  }
  const enrollment = await readEnrollmentToken(edgePublicKey, token, clock.now());
  if (enrollment === undefined)
    throw new GrpcError('unauthenticated', 'the enrollment token is not valid or has expired; issue another one');
  return { enrollment, attested: { key, text: attested.key, name: attested.name, nonce: attested.nonce } };
}

interface AttestedKey {
  readonly key: KeyObject;
  readonly text: string;
  readonly name: string;
  /** Base64 of what the key has signed; each attestation has its own. */
  readonly nonce: string;
}

/**
 * One key wins a token. The host follows from the token, so that whatever a crash left is finished by the same key, and by
 * no other. Where the server has refused the host, nothing is left, and any key may use the token again (EDGE-FLOW-02).
 */
async function redeem(
  deps: EnrollDeps,
  enrollment: EnrollmentClaims,
  attested: AttestedKey,
): Promise<ChallengeNodeResponse> {
  const bucket = deps.bus.bucket<Redemption>(edgeBuckets.enrollments);
  const { jti, tid: tenant, issuedBy: enrolledBy } = enrollment;
  const nodeId = nodeIdOf(jti);
  const mine: Redemption = { public_key: attested.text, issued_at: deps.clock.now() };
  const created = await bucket.create(jti, mine, tenant);
  const entry = created === undefined ? await bucket.get(jti) : { value: mine, revision: created };
  if (entry?.value.public_key !== attested.text) throw redeemed();
  const name = enrollment.name ?? (attested.name === '-' ? undefined : attested.name);
  const free = (): Promise<void> => bucket.delete(jti, entry.revision);
  const host =
    entry.value.done === true
      ? await deps.hosts.find(tenant, nodeId)
      : await unlessRefused(free, () => deps.hosts.create({ tenant, nodeId, name, enrolledBy }));
  if (host === undefined) throw redeemed();
  if (isRevoked(host)) throw hostRevoked();
  const binding = { jti, nodeId, key: attested.text, at: entry.value.issued_at };
  const discard = async (): Promise<void> => {
    if (host.object.status === undefined && (await deps.hosts.discard(host))) await free();
  };
  await unlessRefused(discard, () => bind(deps.hosts, host, binding));
  if (entry.value.done !== true) await bucket.update(jti, { ...entry.value, done: true }, entry.revision);
  return credential(deps, { nodeId, tenant, jti, key: attested.key, issuedAt: entry.value.issued_at });
}

/** Errors by which the server says that it has done nothing. Any other one leaves open what was done. */
const refusals: ReadonlySet<string> = new Set(['forbidden', 'invalid', 'not_found', 'limit_exceeded']);

/** Takes back what was done before where the server refuses the work. An undoing that fails leaves it to the same key. */
async function unlessRefused<T>(undo: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && refusals.has(error.code)) await undo().catch(() => undefined);
    throw error;
  }
}

interface Binding {
  readonly jti: string;
  readonly nodeId: string;
  readonly key: string;
  readonly at: number;
}

/** Writes the key of a new host, once: a host that has one keeps it. */
async function bind(hosts: HostStore, host: StoredHost, binding: Binding): Promise<void> {
  const { jti, nodeId, key, at } = binding;
  if (host.object.status === undefined) {
    const time = new Date(at).toISOString();
    const status: EdgeHostStatus = {
      node_id: nodeId,
      status: 'Disconnected',
      since: time,
      enrolled_at: time,
      keys: { current: key },
      token_jti: tokenIdOf(jti),
    };
    if ((await hosts.write(host, status)) !== undefined) return;
  }
  const now = await hosts.find(host.tenant, nodeId);
  const stored = now?.object.status;
  if (stored?.keys.current !== key || stored.token_jti !== tokenIdOf(jti)) throw redeemed();
}

async function credential(
  { relayKey, edgePublicKey, nodeTokenMs, heartbeatMs }: EnrollDeps,
  {
    nodeId,
    tenant,
    jti,
    key,
    issuedAt,
  }: Readonly<Record<'nodeId' | 'tenant' | 'jti', string>> & {
    readonly key: KeyObject;
    readonly issuedAt: number;
  },
): Promise<ChallengeNodeResponse> {
  const facts = { nodeId, tid: tenant, jti: tokenIdOf(jti), publicKey: key, issuedAt, lifeMs: nodeTokenMs };
  const issued = Math.floor(issuedAt / 1_000) * 1_000;
  return {
    nodeId,
    nodeSecurityToken: await mintNodeToken(relayKey.privateKey, facts),
    issuedAt: new Date(issued),
    expiresAt: new Date(issued + nodeTokenMs),
    relayPublicKey: rawPublicKey(relayKey.publicKey),
    commandPublicKey: rawPublicKey(edgePublicKey),
    heartbeatInterval: wholeSeconds(heartbeatMs),
    tenantId: tenant,
  };
}

/** The token of an enrollment has a name that follows from it, so that repeating the call gives the same one. */
const tokenIdOf = (jti: string): string => `e-${shortHash(jti, 32)}`;

/** Only the holder of a token that we have signed learns of it. */
const redeemed = (): GrpcError =>
  new GrpcError('unauthenticated', 'the enrollment token was redeemed already; issue another one');
