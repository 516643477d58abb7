import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createMemoryBucket } from '../bus/kv/memory-bucket.ts';
import type { KeyValueBucket } from '../bus/index.ts';
import { createSealSessions, type SealSession, sessionBucket } from './sessions.ts';

const session: SealSession = {
  execution_id: 'e-1',
  session_id: 's-1',
  agent_id: 'a-1',
  public_key: 'key',
  pod_uid: 'p-1',
  security_context: 'default',
  tenant: 'acme',
  allowed_tool_patterns: ['*'],
  expires_at: '2026-01-01T01:00:00.000Z',
};

function createBuckets(clock: ReturnType<typeof createManualClock>) {
  const buckets = new Map<string, KeyValueBucket<unknown>>();
  const bucket = <T>(definition: { readonly name: string; readonly ttlMs: number }): KeyValueBucket<T> => {
    const made = buckets.get(definition.name) ?? createMemoryBucket<unknown>(clock, definition);
    buckets.set(definition.name, made);
    return made as KeyValueBucket<T>;
  };
  return { bucket };
}

/** Sessions of a bucket in which the version before has left a session, by the id of its execution alone. */
async function after(left: SealSession) {
  const clock = createManualClock();
  const { bucket } = createBuckets(clock);
  await bucket<SealSession>(sessionBucket).create(left.execution_id, left, left.tenant);
  return { sessions: createSealSessions({ bucket }), now: clock.now() };
}

describe('a session of a tenant whose namespace was deleted', () => {
  /** `uid` is that of the namespace; undefined while there is none. */
  function open() {
    const clock = createManualClock();
    const now: { uid: string | undefined } = { uid: 'first' };
    const tenants = {
      namespaceOf: (slug: string) => (now.uid === undefined ? undefined : `tenant-${slug}`),
      uidOf: () => now.uid,
    };
    const buckets = createBuckets(clock);
    return {
      now,
      sessions: createSealSessions(buckets, tenants),
      unaware: createSealSessions(buckets),
      at: clock.now(),
    };
  }

  it.each([undefined, 'second'])('is as one that never was, where the uid of the namespace is %s', async (uid) => {
    const { now, sessions } = open();
    await sessions.create(session);
    expect(await sessions.find(session)).toEqual({ ...session, namespace_uid: 'first' });
    now.uid = uid;
    expect([await sessions.find(session), await sessions.lookUp(session)]).toEqual([undefined, undefined]);
  });

  it('gives way to a session of the tenant that has the slug now, though it is revoked', async () => {
    const { now, sessions, at } = open();
    await sessions.create(session);
    await sessions.revoke(session);
    now.uid = 'second';
    const made = { ...session, session_id: 's-2', namespace_uid: 'second' };
    expect(await sessions.register({ ...session, session_id: 's-2' }, at)).toEqual(made);
    now.uid = 'third';
    await sessions.create({ ...session, session_id: 's-3' });
    expect(await sessions.find(session)).toMatchObject({ session_id: 's-3', namespace_uid: 'third' });
  });

  it('that a version before has made, without the namespace, lives to its end', async () => {
    const { now, sessions, unaware } = open();
    await unaware.create(session);
    now.uid = 'second';
    expect(await sessions.find(session)).toEqual(session);
  });
});

describe('a session that the version before has kept by its execution alone', () => {
  it('AMB-116 is not replaced once it is revoked', async () => {
    const { sessions, now } = await after({ ...session, session_id: 's-0', revoked: true });
    await expect(sessions.create(session)).rejects.toMatchObject({ code: 'conflict', reason: 'SessionRevoked' });
    await expect(sessions.register(session, now)).rejects.toMatchObject({ code: 'conflict', reason: 'SessionExists' });
    expect(await sessions.find(session)).toBeUndefined();
  });

  it.each<[string, Partial<SealSession>]>([
    ['is active', {}],
    ['is of another tenant', { revoked: true, tenant: 'globex' }],
  ])('keeps no other from being made where it %s', async (_title, parts) => {
    const { sessions, now } = await after({ ...session, session_id: 's-0', ...parts });
    expect(await sessions.register(session, now)).toEqual(session);
    await sessions.create(session);
    expect(await sessions.find(session)).toEqual(session);
  });
});
