import { bucketKey, type EventBus, type KeyValueChange } from '../../lib/bus/index.ts';
import { type Session, sessionBucket, sessionKey, type SessionName } from '../../lib/envelope/index.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';

/** Sessions as this replica has heard of them: for lists. The permission of a call is read from the bus as well. */
export interface SessionView {
  /** That of a name, which may have changed meanwhile. */
  of(name: SessionName): Session | undefined;
  /** Those of a tenant, in no order. */
  ofTenant(tenant: string): Iterable<Session>;
  /** Takes a session that this replica has written itself. */
  remember(session: Session): void;
  /** Follows the sessions until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface ViewDeps {
  readonly bus: Pick<EventBus, 'watch'>;
  readonly logger: Logger;
  /** Sessions that are left out. Default: none. */
  readonly isOrphan?: (session: Session) => boolean;
}

/** The number of sessions is bounded by the shares of tenants in their bucket. */
export function createSessionView({ bus, logger, isOrphan = () => false }: ViewDeps): SessionView {
  const index = createIndex();
  return {
    of(name) {
      const found = index.of(bucketKey(sessionKey(name)));
      return found === undefined || isOrphan(found) ? undefined : found;
    },
    *ofTenant(tenant) {
      for (const session of index.ofTenant(tenant)) if (!isOrphan(session)) yield session;
    },
    remember: (session) => index.put(bucketKey(sessionKey(session)), session),
    async run(signal) {
      try {
        for await (const change of bus.watch<Session>(sessionBucket, signal)) take(index, change);
      } catch (error) {
        logger.error({ problem: messageOf(error) }, 'sessions are not followed');
      }
    },
  };
}

/** Sessions by their key and by their tenant. */
interface SessionIndex extends Pick<SessionView, 'ofTenant'> {
  of(key: string): Session | undefined;
  put(key: string, session: Session): void;
  drop(key: string): void;
  clear(): void;
}

function createIndex(): SessionIndex {
  const byKey = new Map<string, Session>();
  const byTenant = new Map<string, Set<string>>();
  const drop = (key: string): void => {
    const tenant = byKey.get(key)?.tenant ?? '';
    byKey.delete(key);
    const keys = byTenant.get(tenant);
    keys?.delete(key);
    if (keys?.size === 0) byTenant.delete(tenant);
  };
  return {
    drop,
    of: (key) => byKey.get(key),
    *ofTenant(tenant) {
      for (const key of byTenant.get(tenant) ?? []) {
        const session = byKey.get(key);
        if (session !== undefined) yield session;
      }
    },
    put(key, session) {
      drop(key);
      byKey.set(key, session);
      byTenant.set(session.tenant, (byTenant.get(session.tenant) ?? new Set()).add(key));
    },
    clear() {
      byKey.clear();
      byTenant.clear();
    },
  };
}

function take(index: SessionIndex, change: KeyValueChange<Session>): void {
  if (change.kind === 'begin') index.clear();
  if (change.kind === 'put') index.put(change.name, change.value);
  if (change.kind === 'end') index.drop(change.name);
}
