import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createMemoryBucket } from '../bus/kv/memory-bucket.ts';
import { newId } from '../ids.ts';
import { issueSession } from './issue-session.ts';
import { loadSealKey, type SealKey } from './seal-key.ts';
import { createSealSessions } from './sessions.ts';
import { readToken } from './token.ts';

const config = { SEAL_GATEWAY_SEAL_JWT_ISSUER: 'our-issuer', SEAL_GATEWAY_SEAL_JWT_AUDIENCE: 'our-tools' };
const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const rawKey = (): string =>
  generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');

function world() {
  const clock = createManualClock();
  const key = loadSealKey({ ...config, WINDLASS_SEAL_KEY: '/key' }, () => pem, silentLogger);
  const sessions = createSealSessions({ bucket: (definition) => createMemoryBucket(clock, definition) });
  return { clock, key, sessions, newId };
}

const request = {
  executionId: 'e-1',
  agentId: 'a-1',
  podUid: 'p-1',
  tenant: 'acme',
  publicKey: rawKey(),
  securityContext: 'default',
};

describe('a session that is issued', () => {
  it('ATTEST-07 has a token with all claims', async () => {
    const deps = world();
    const issued = await issueSession(deps, request);
    const iat = deps.clock.now() / 1_000;
    expect(decodeJwt(issued.security_token)).toEqual({
      iss: 'our-issuer',
      aud: 'our-tools',
      jti: issued.session_id,
      scp: 'default',
      tenant_id: 'acme',
      iat,
      exp: iat + 3_600,
    });
    expect(issued.expires_at).toBe('2026-01-01T01:00:00.000Z');
  });

  it('ATTEST-08 GW-SESS-06 GW-SESS-07 is found by its execution, with the key that was submitted', async () => {
    const deps = world();
    const issued = await issueSession(deps, request);
    expect(await deps.sessions.find({ tenant: 'acme', execution_id: 'e-1' })).toEqual({
      execution_id: 'e-1',
      session_id: issued.session_id,
      agent_id: 'a-1',
      public_key: request.publicKey,
      pod_uid: 'p-1',
      security_context: 'default',
      tenant: 'acme',
      allowed_tool_patterns: ['*'],
      expires_at: '2026-01-01T01:00:00.000Z',
    });
    expect(await deps.sessions.find({ tenant: 'acme', execution_id: 'e-2' })).toBeUndefined();
  });

  it('AMB-142 is none for a key of small order', async () => {
    const deps = world();
    const publicKey = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]).toString('base64');
    await expect(issueSession(deps, { ...request, publicKey })).rejects.toMatchObject({ code: 'invalid' });
    expect(await deps.sessions.find({ tenant: 'acme', execution_id: 'e-1' })).toBeUndefined();
  });

  it('replaces the one before of the same execution', async () => {
    const deps = world();
    await issueSession(deps, request);
    const second = await issueSession(deps, { ...request, podUid: 'p-2', publicKey: rawKey() });
    expect(await deps.sessions.find({ tenant: 'acme', execution_id: 'e-1' })).toMatchObject({
      session_id: second.session_id,
      pod_uid: 'p-2',
    });
  });

  it('AMB-197 is given again to the same pod and key, and refused to another key of that pod', async () => {
    const deps = world();
    const first = await issueSession(deps, { ...request, expiresAt: '2026-01-01T00:10:00.900Z' });
    await deps.clock.advance(60_000);
    const again = await issueSession(deps, request);
    expect(again).toMatchObject({ session_id: first.session_id, expires_at: '2026-01-01T00:10:00.000Z' });
    expect(await readToken(deps.key, again.security_token, deps.clock.now())).toMatchObject({ jti: first.session_id });
    const other = issueSession(deps, { ...request, publicKey: rawKey() });
    await expect(other).rejects.toMatchObject({ code: 'conflict', reason: 'OtherKey' });
  });

  it('AMB-197 is one for two requests of a pod with one key at a time, so that both tokens are good', async () => {
    const deps = world();
    const [one, other] = await Promise.all([issueSession(deps, request), issueSession(deps, request)]);
    expect(one.session_id).toBe(other.session_id);
    expect(await deps.sessions.find({ tenant: 'acme', execution_id: 'e-1' })).toMatchObject({
      session_id: one.session_id,
    });
  });

  it('AMB-017 AMB-197 is of one of two keys that a pod sends at a time, and the other one is refused', async () => {
    const deps = world();
    const asked = [request, { ...request, publicKey: rawKey() }].map((each) => issueSession(deps, each));
    const [given, refused] = (await Promise.allSettled(asked)).toSorted(({ status }) =>
      status === 'fulfilled' ? -1 : 1,
    );
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'conflict', reason: 'OtherKey' } });
    const session = await deps.sessions.find({ tenant: 'acme', execution_id: 'e-1' });
    expect(given).toMatchObject({ status: 'fulfilled', value: { session_id: session?.session_id } });
  });

  it('GW-SESS-10 is revoked at once, and for ever', async () => {
    const deps = world();
    await issueSession(deps, request);
    expect(await deps.sessions.revoke({ tenant: 'acme', execution_id: 'e-1' })).toBe(true);
    expect(await deps.sessions.revoke({ tenant: 'acme', execution_id: 'e-1' })).toBe(true);
    expect(await deps.sessions.revoke({ tenant: 'acme', execution_id: 'e-2' })).toBe(false);
    expect(await deps.sessions.find({ tenant: 'acme', execution_id: 'e-1' })).toMatchObject({ revoked: true });
    await expect(issueSession(deps, request)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('lasts no longer than seven days', async () => {
    const deps = world();
    const { expires_at } = await issueSession(deps, { ...request, expiresAt: '9999-12-31T00:00:00Z' });
    expect(expires_at).toBe('2026-01-08T00:00:00.000Z');
  });
});

describe('a SEAL token', () => {
  const other = loadSealKey(config, () => '', silentLogger);
  const claims = { jti: 'j', scp: 's', tenant_id: 'acme' };
  const now = Date.parse('2026-01-01T00:00:00Z') / 1_000;
  const sign = (key: SealKey, payload: object, alg = 'EdDSA') =>
    new SignJWT({ iss: 'our-issuer', aud: 'our-tools', iat: now, exp: now + 60, ...claims, ...payload })
      .setProtectedHeader({ alg })
      .sign(key.privateKey);

  it.each<[string, object, boolean]>([
    ['as issued', {}, true],
    ['GW-INV-02 GW-INV-06 of another issuer', { iss: 'our-issuer/' }, false],
    ['GW-INV-07 for another audience', { aud: 'others' }, false],
    ['GW-INV-07 for its audience as a list', { aud: ['our-tools'] }, true],
    ['GW-INV-07 for its audience and another one', { aud: ['our-tools', 'others'] }, false],
    ['GW-INV-07 for no audience', { aud: [] }, false],
    ['GW-INV-08 without jti', { jti: undefined }, false],
    ['GW-INV-09 without scp', { scp: undefined }, false],
    ['GW-INV-10 without tenant_id', { tenant_id: undefined }, false],
    ['GW-INV-10 with an empty tenant_id', { tenant_id: ' ' }, false],
    ['GW-INV-11 without iat', { iat: undefined }, false],
    ['GW-INV-12 without exp', { exp: undefined }, false],
    ['GW-INV-12 that ends in a second', { exp: now + 1 }, true],
    ['GW-INV-12 that ends now', { exp: now }, false],
    ['GW-INV-12 that ended a second ago', { exp: now - 1 }, false],
  ])('%s counts: %s %s', async (_what, payload, want) => {
    const { key } = world();
    expect((await readToken(key, await sign(key, payload), now * 1_000)) !== undefined).toBe(want);
  });

  it('GW-INV-02 of another key, or of no key, is refused', async () => {
    const { key } = world();
    expect(await readToken(key, await sign(other, {}), now * 1_000)).toBeUndefined();
    const [, body = ''] = (await sign(key, {})).split('.');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${body}.`;
    expect(await readToken(key, unsigned, now * 1_000)).toBeUndefined();
    expect(await readToken(key, 'no token', now * 1_000)).toBeUndefined();
  });
});

describe('the key of SEAL tokens', () => {
  it.each<[string, () => string]>([
    [
      'is missing',
      () => {
        throw new Error('ENOENT');
      },
    ],
    ['holds no PEM', () => 'x'],
    [
      'holds an RSA key',
      () =>
        generateKeyPairSync('rsa', { modulusLength: 2_048 })
          .privateKey.export({ format: 'pem', type: 'pkcs8' })
          .toString(),
    ],
  ])('whose file %s is refused by the name of its setting', (_what, readFile) => {
    expect(() => loadSealKey({ ...config, WINDLASS_SEAL_KEY: '/key' }, readFile, silentLogger)).toThrow(
      /WINDLASS_SEAL_KEY/,
    );
  });
});
