import { randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { bucketStreamName } from '../../lib/bus/streams.ts';
import { createSealSessions, type SealSession, sessionBucket } from '../../lib/envelope/index.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';

/** 1 MiB for keys, 300 bytes each and 64 in a block, makes 54 blocks; a tenant alone has 43 of them. */
const shareBytes = 43 * 64 * 300;

/** The attacker may make sessions with as many patterns as a body has room for, of any expiry. */
describe('Mallory and the sessions of signed calls that all tenants store in NATS', () => {
  let test: TestBus;
  let bus: EventBus;

  beforeAll(async () => {
    test = await startTestBus();
    bus = test.connect({ WINDLASS_KEYS_MAX_MB: 1 });
    while (bus.problem() !== undefined) await systemClock.sleep(10);
  }, 300_000);
  afterAll(() => test?.stop());

  /** As the server counts what it keeps. */
  async function storedBytes({ server }: TestBus): Promise<number> {
    const connection = await connect({ servers: server.url });
    try {
      const manager = await jetstreamManager(connection);
      return (await manager.streams.info(bucketStreamName(sessionBucket))).state.bytes;
    } finally {
      await connection.close();
    }
  }

  const large = (tenant: string, id: string): SealSession => ({
    execution_id: id,
    session_id: id,
    agent_id: 'a',
    public_key: 'key',
    pod_uid: '',
    security_context: 'default',
    tenant,
    allowed_tool_patterns: Array.from({ length: 200 }, () => randomBytes(64).toString('hex')),
    expires_at: '2026-01-01T00:00:00.000Z',
    registered: 'body',
  });

  /** Bytes that were stored before the refusal. */
  async function storedUntil(make: (at: number) => SealSession, by: EventBus = bus) {
    const sessions = createSealSessions(by);
    for (let at = 0, bytes = 0; bytes < 4 * shareBytes; at += 1) {
      const session = make(at);
      try {
        await sessions.register(session, Date.parse('2026-02-01T00:00:00Z'));
      } catch (error) {
        return { bytes, error };
      }
      bytes += JSON.stringify(session).length;
    }
    return { bytes: Number.POSITIVE_INFINITY, error: undefined };
  }

  it('large ones count by their bytes, and the refusal names what is full', async () => {
    const { bytes, error } = await storedUntil((at) => large('mallory', `x-${at}`));
    expect(error).toMatchObject({ code: 'limit_exceeded', reason: 'KeyShareUsed' });
    expect(String(error)).toContain('its share of all sessions of seven days (nats.keys.maxMb)');
    expect(bytes).toBeGreaterThan(shareBytes / 2);
    expect(bytes).toBeLessThanOrEqual(shareBytes);
  }, 60_000);

  it('a write that another writer was faster with takes nothing of the share', async () => {
    const bucket = bus.bucket<string>({ name: 'hostile_weighed', ttlMs: 3_600_000, isWeighed: true });
    const text = 'x'.repeat(30_000);
    const first = (await bucket.create('key', text, 'ada')) ?? 0;
    const second = await bucket.update('key', text, first, 'ada');
    expect(second).toBeGreaterThan(first);
    // Each would take 101 keys, of 2,752 in all.
    for (let times = 0; times < 100; times += 1) {
      expect(await bucket.update('key', text, first, 'ada')).toBeUndefined();
    }
    expect(await bucket.update('key', text, second ?? 0, 'ada')).toBeGreaterThan(second ?? 0);
  }, 60_000);

  it('Ada of another tenant is served beside her; one that takes the place of an expired one counts again', async () => {
    const { bytes, error } = await storedUntil(() => large('ada', 'the-same'));
    expect(error).toMatchObject({ reason: 'KeyShareUsed' });
    expect(bytes).toBeGreaterThan(shareBytes / 20);
    expect(bytes).toBeLessThanOrEqual(shareBytes);
  }, 60_000);

  it('small ones take no more of the store than the share of all of them, names and headers included', async () => {
    const store = await startTestBus();
    try {
      const own = store.connect({ WINDLASS_KEYS_MAX_MB: 1 });
      while (own.problem() !== undefined) await systemClock.sleep(10);
      const small = (at: number): SealSession => ({ ...large('trudy', `y-${at}`), allowed_tool_patterns: [] });
      const { error } = await storedUntil(small, own);
      expect(error).toMatchObject({ reason: 'KeyShareUsed' });
      const bytes = await storedBytes(store);
      expect(bytes).toBeGreaterThan(shareBytes / 2);
      expect(bytes).toBeLessThanOrEqual(shareBytes);
    } finally {
      await store.stop();
    }
  }, 60_000);
});
