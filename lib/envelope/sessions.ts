import type { EventBus, KeyValueBucket } from '../bus/index.ts';
import { AppError } from '../errors.ts';
import { firstAnswer } from '../retry.ts';
import type { TenantDirectory } from '../tenant/tenant-directory.ts';
import { envelopeLimits } from './limits.ts';

/** The signer of tool calls for one execution, and its tools (spec 3 §2.3). */
export interface SealSession {
  readonly execution_id: string;
  /** Also the `jti` of the token that was issued with it. */
  readonly session_id: string;
  readonly agent_id: string;
  /** Base64 of the raw Ed25519 key. */
  readonly public_key: string;
  /** Uid of the pod that attested. */
  readonly pod_uid: string;
  /** Name of the SecurityContext. */
  readonly security_context: string;
  readonly tenant: string;
  /** Uid of the tenant's namespace when it was made. Absent: made by a version before, or in a namespace without a label. */
  readonly namespace_uid?: string;
  readonly allowed_tool_patterns: readonly string[];
  /** Tools that a person must approve (ADR 0082): no signed call of them, over any route, is taken. */
  readonly waiting_tool_patterns?: readonly string[];
  /** RFC 3339. */
  readonly expires_at: string;
  readonly revoked?: boolean;
  /** The event of its making is not stored yet: no call is taken, and its maker may try again. */
  readonly pending?: boolean;
  /**
   * Made by an operator at the gateway (spec 3 §4.1). Any token of the tenant and the security context signs in. This
   * is the SHA-256 of the body that asked for the session. Absent: made by an attestation, whose own token alone signs
   * in.
   */
  readonly registered?: string;
  /** Scopes of tools of hosts that the operator held who made it (ADR 0095). Absent: none, or made by an attestation. */
  readonly scopes?: readonly string[];
}

/** A session without what a call reads from its stored form alone: tools, and scopes. */
export type HeardSession = Omit<SealSession, 'pod_uid' | 'allowed_tool_patterns' | 'waiting_tool_patterns' | 'scopes'>;

export function heardOf(session: SealSession): HeardSession {
  const {
    pod_uid: _pod,
    allowed_tool_patterns: _allowed,
    waiting_tool_patterns: _waiting,
    scopes: _scopes,
    ...heard
  } = session;
  return heard;
}

/** The pair that a session is found by: an id of an execution has a meaning in its tenant alone (spec 3 §2.3, §5.4). */
export type SessionName = Pick<SealSession, 'tenant' | 'execution_id'>;

/** One text for each pair, and another one for every other pair. */
export const sessionKey = ({ tenant, execution_id }: SessionName): string => JSON.stringify([tenant, execution_id]);

/** The subject of events of a session: its agent, or the execution where it is of none. */
export const sessionSubject = ({
  agent_id: agentId,
  execution_id,
}: Pick<SealSession, 'agent_id' | 'execution_id'>): string => agentId || execution_id;

/** The namespaces that tenants have now. */
type SessionTenants = Pick<TenantDirectory, 'namespaceOf' | 'uidOf'>;

/**
 * Whether the namespace that a session was made in is gone, or another one has its slug by now: nothing is done for it then. A
 * session that names no namespace lives to its end.
 */
export function isOrphaned(
  { tenant, namespace_uid: made }: HeardSession,
  tenants: SessionTenants | undefined,
): boolean {
  if (tenants === undefined || made === undefined) return false;
  if (tenants.namespaceOf(tenant) === undefined) return true;
  const uid = tenants.uidOf(tenant);
  return uid !== undefined && uid !== made;
}

/**
 * The sessions of all replicas. A session that `isOrphaned` is as one that never was. Calls throw AppError `unavailable` where
 * the bus cannot be reached.
 */
export interface SealSessions {
  find(name: SessionName): Promise<SealSession | undefined>;
  /**
   * The session that a call names. Where the tenant of its token has none of this id, it is that of the tenant that
   * used the id first. The token does not belong to it, which is another answer than that of no session (requirements
   * AMB-119).
   */
  lookUp(name: SessionName): Promise<SealSession | undefined>;
  /**
   * Stores the session; it replaces that of another pod. Where the same pod has one with the same key, gives that one: a request
   * that is repeated may come to two replicas at a time.
   * @throws AppError `conflict` for another key of the same pod, and where the session before is revoked: a revoked execution gets
   * no other one.
   */
  create(session: SealSession): Promise<SealSession>;
  /**
   * Stores the session of an operator; where the same body has made one before, gives that one.
   * @throws AppError `conflict` where the execution has another session that is active or revoked (AMB-116).
   */
  register(session: SealSession, now: number): Promise<SealSession>;
  /**
   * Takes calls in a session that `register` has stored as pending.
   * @throws AppError `conflict` where another body has replaced it meanwhile.
   */
  activate(session: SealSession): Promise<SealSession>;
  /** The next envelope fails. False where there is no session. */
  revoke(name: SessionName): Promise<boolean>;
}

/** Where sessions are kept. A session with many patterns takes as much as many sessions. */
export const sessionBucket = {
  name: 'seal_sessions',
  ttlMs: envelopeLimits.longestSessionMs,
  isWeighed: true,
  holds: 'sessions of seven days',
};

/** The tenant that used an id of an execution first. */
const ownerBucket = {
  name: 'seal_session_owners',
  ttlMs: envelopeLimits.longestSessionMs,
  holds: 'sessions of seven days',
};

/** Writers of one session at a time: attestations of a pod that tries again, and one who revokes. */
const attempts = 5;

/** Without `tenants`, sessions outlive the namespaces of their tenants. */
export function createSealSessions(bus: Pick<EventBus, 'bucket'>, tenants?: SessionTenants): SealSessions {
  const bucket = bus.bucket<SealSession>(sessionBucket);
  const owners = bus.bucket<string>(ownerBucket);
  const stores: Stores = { bucket, owners, isOrphan: (session) => isOrphaned(session, tenants) };
  const find = (name: SessionName) => findIn(stores, name);
  return {
    find,
    async lookUp(name) {
      const own = await find(name);
      if (own !== undefined) return own;
      const owner = await owners.get(name.execution_id);
      return owner === undefined ? undefined : await find({ ...name, tenant: owner.value });
    },
    async create(made) {
      const session = stamped(made, tenants);
      const stored = await firstAnswer(attempts, () => tryCreate(stores, session));
      if (stored === undefined) throw busy(session.execution_id);
      return stored;
    },
    async register(made, now) {
      const session = stamped(made, tenants);
      const stored = await firstAnswer(attempts, () => tryRegister(stores, session, now));
      if (stored === undefined) throw busy(session.execution_id);
      return stored;
    },
    async activate(session) {
      const active = await firstAnswer(attempts, () => tryActivate(bucket, session));
      if (active === undefined) throw busy(session.execution_id);
      return active;
    },
    async revoke(name) {
      const isThere = await firstAnswer(attempts, () => tryRevoke(bucket, sessionKey(name)));
      if (isThere === undefined) throw busy(name.execution_id);
      return isThere;
    },
  };
}

async function findIn({ bucket, isOrphan }: Stores, name: SessionName): Promise<SealSession | undefined> {
  const found = (await bucket.get(sessionKey(name)))?.value;
  return found === undefined || isOrphan(found) ? undefined : found;
}

/** With the namespace that its tenant has now. */
function stamped(session: SealSession, tenants: SessionTenants | undefined): SealSession {
  const namespace_uid = tenants?.uidOf(session.tenant);
  return namespace_uid === undefined ? session : { ...session, namespace_uid };
}

/** Whether there is a session, revoked by now; undefined where another one wrote first. */
async function tryRevoke(bucket: KeyValueBucket<SealSession>, key: string): Promise<boolean | undefined> {
  const found = await bucket.get(key);
  if (found === undefined) return false;
  if (found.value.revoked === true) return true;
  const written = await bucket.update(key, { ...found.value, revoked: true }, found.revision);
  return written === undefined ? undefined : true;
}

interface Stores {
  readonly bucket: KeyValueBucket<SealSession>;
  readonly owners: KeyValueBucket<string>;
  readonly isOrphan: (session: SealSession) => boolean;
}

/** The session that is stored then; undefined where another writer was faster. */
async function tryCreate(stores: Stores, session: SealSession): Promise<SealSession | undefined> {
  const { bucket, isOrphan } = stores;
  const key = sessionKey(session);
  const found = await bucket.get(key);
  if (found === undefined) return (await tryFirst(stores, session, revoked)) ? session : undefined;
  const before = isOrphan(found.value) ? undefined : found.value;
  if (before?.revoked === true) throw revoked(session);
  if (before?.pod_uid === session.pod_uid) {
    if (before.public_key === session.public_key) return before;
    throw otherKey();
  }
  return (await bucket.update(key, session, found.revision, session.tenant)) === undefined ? undefined : session;
}

/** Stores the first session of its name, and its tenant as the owner of the id. False where another writer was faster. */
async function tryFirst(
  { bucket, owners }: Stores,
  session: SealSession,
  refusal: (name: SessionName) => AppError,
): Promise<boolean> {
  if (await wasRevoked(bucket, session)) throw refusal(session);
  const { execution_id, tenant } = session;
  await owners.create(execution_id, tenant, tenant);
  return (await bucket.create(sessionKey(session), session, tenant)) !== undefined;
}

/** Whether a version that kept sessions by the id of their execution alone has revoked the one of this execution. */
async function wasRevoked(
  bucket: KeyValueBucket<SealSession>,
  { tenant, execution_id }: SessionName,
): Promise<boolean> {
  const before = (await bucket.get(execution_id))?.value;
  return before?.revoked === true && before.tenant === tenant;
}

/** The session that is stored then; undefined where another writer was faster. */
async function tryRegister(stores: Stores, session: SealSession, now: number): Promise<SealSession | undefined> {
  const { bucket, isOrphan } = stores;
  const key = sessionKey(session);
  const found = await bucket.get(key);
  if (found === undefined) return (await tryFirst(stores, session, taken)) ? session : undefined;
  const isLeft = isOrphan(found.value);
  if (found.value.revoked === true && !isLeft) throw taken(session);
  if (isLeft || isOver(found.value, now))
    return (await bucket.update(key, session, found.revision, session.tenant)) === undefined ? undefined : session;
  if (found.value.registered === session.registered) return found.value;
  throw taken(session);
}

/** Another body takes the place of a session that nothing can be called in. */
const isOver = ({ expires_at: end, pending = false }: SealSession, now: number): boolean =>
  pending || Date.parse(end) <= now;

/** The session as it is then; undefined where another writer was faster. */
async function tryActivate(
  bucket: KeyValueBucket<SealSession>,
  session: SealSession,
): Promise<SealSession | undefined> {
  const key = sessionKey(session);
  const found = await bucket.get(key);
  if (found === undefined || found.value.registered !== session.registered) throw taken(session);
  const { pending: _, ...active } = found.value;
  if (found.value.pending !== true) return active;
  return (await bucket.update(key, active, found.revision)) === undefined ? undefined : active;
}

const revoked = ({ execution_id }: SessionName): AppError =>
  new AppError('conflict', `the session of execution ${execution_id} is revoked; start another execution`, {
    reason: 'SessionRevoked',
  });

const otherKey = (): AppError =>
  new AppError('conflict', 'agent_public_key is not the one that this pod has attested with; start another pod', {
    reason: 'OtherKey',
  });

const taken = ({ execution_id }: SessionName): AppError =>
  new AppError('conflict', `the execution ${execution_id} has a session already; revoked ones are not replaced`, {
    reason: 'SessionExists',
  });

const busy = (executionId: string): AppError =>
  new AppError('unavailable', `the session of execution ${executionId} is being written by others; try again`, {
    reason: 'SessionBusy',
  });
