import { describe, expect, it } from 'vitest';
import { aSealWorld, aSigner } from '../../test/support/seal-world.ts';
import { EnvelopeError } from './envelope-error.ts';
import { envelopeLimits } from './limits.ts';
import { createEnvelopeProof } from './prove-envelope.ts';
import { readEnvelope } from './read-envelope.ts';
import type { SealKey } from './seal-key.ts';
import type { SealSession } from './sessions.ts';
import { issueToken, type SealClaims } from './token.ts';
import { createProofPool } from './proof-pool.ts';
import { createVouch } from './vouch.ts';

const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'fs.read', arguments: { path: 'a' } } };

async function world(parts: Parameters<ReturnType<typeof aSealWorld>['begin']>[1] = {}) {
  const base = aSealWorld();
  const signer = aSigner();
  const { security_token: token } = await base.begin(signer, parts);
  const prove = createEnvelopeProof(base);
  const verdict = async (envelope: object): Promise<string> => {
    try {
      return (await prove(readEnvelope(Buffer.from(JSON.stringify(envelope))))).tenant;
    } catch (error) {
      if (error instanceof EnvelopeError) return error.fault;
      throw error;
    }
  };
  const signed = (more: object = {}) => signer.sign({ token, timestamp: base.seconds(), payload, ...more });
  return { ...base, signer, token, prove, verdict, signed };
}

describe('a signed call', () => {
  it('GW-INV-13 to GW-INV-18 that is in order gives its session', async () => {
    const { verdict, signed } = await world();
    expect(await verdict(signed())).toBe('acme');
  });

  it('GW-INV-13 GW-SESS-10 of no session, or of a revoked one, is refused as inactive', async () => {
    const { verdict, signed, sessions } = await world();
    expect(await verdict(signed({ executionId: 'e-2' }))).toBe('session_inactive');
    await sessions.revoke({ tenant: 'acme', execution_id: 'e-1' });
    expect(await verdict({ ...signed(), signature: Buffer.alloc(64).toString('base64') })).toBe('session_inactive');
  });

  it.each<[string, string | undefined, (claims: SealClaims, key: SealKey) => Promise<string>]>([
    ['its own token', 'e-1', (claims, key) => issueToken(key, claims)],
    ['a token that is over', undefined, (claims, key) => issueToken(key, { ...claims, exp: claims.iat })],
    ['a token of another session', undefined, (claims, key) => issueToken(key, { ...claims, jti: 'other' })],
    ['a token of another context', undefined, (claims, key) => issueToken(key, { ...claims, scp: 'admin' })],
    ['a token of another tenant', undefined, (claims, key) => issueToken(key, { ...claims, tenant_id: 'rival' })],
    ['a forged token', undefined, (claims) => issueToken(aSealWorld().key, claims)],
  ])('GW-SESS-10 of a revoked session, under %s, is refused; the refusal names %s', async (_what, named, tokenOf) => {
    const { clock, key, seconds, sessions, signed, prove } = await world();
    const session = await sessions.find({ tenant: 'acme', execution_id: 'e-1' });
    const iat = seconds();
    const claims = { jti: session?.session_id ?? '', scp: 'default', tenant_id: 'acme', iat, exp: iat + 60 };
    const envelope = Buffer.from(JSON.stringify(signed({ token: await tokenOf(claims, key) })));
    await sessions.revoke({ tenant: 'acme', execution_id: 'e-1' });
    const proofs = createProofPool({ clock, key });
    const sender = { address: '192.0.2.1', signal: new AbortController().signal };
    const vouched = createVouch({ clock, key, sessions, proofs })(
      new Uint8Array(envelopeLimits.unprovedBytes + 1),
      sender,
      {
        executionId: 'e-1',
        token: await tokenOf(claims, key),
      },
    );
    const refused = await Promise.allSettled([prove(readEnvelope(envelope)), vouched]);
    const reasons = refused.map((answer) =>
      answer.status === 'rejected' ? (answer.reason as EnvelopeError) : undefined,
    );
    expect(reasons.map((error) => error?.fault)).toEqual(['session_inactive', 'session_inactive']);
    expect(reasons.map((error) => error?.session?.execution_id)).toEqual([named, named]);
  });

  it.each([
    [599_000, 'acme'],
    [600_000, 'session_expired'],
    [601_000, 'session_expired'],
  ])('GW-SESS-11 of a session of ten minutes after %i ms: %s', async (ms, want) => {
    const { verdict, signed, clock } = await world({ expires_at: '2026-01-01T00:10:00Z' });
    await clock.advance(ms);
    expect(await verdict(signed())).toBe(want);
  });

  it.each<[string, object]>([
    ['of another session', { jti: 'other' }],
    ['with another security context', { scp: 'admin' }],
    ['that has expired', { exp: 1 }],
  ])('GW-INV-14 with a token %s is refused', async (_what, claims) => {
    const { verdict, signed, key, seconds, sessions } = await world();
    const session = await sessions.find({ tenant: 'acme', execution_id: 'e-1' });
    const right = {
      jti: session?.session_id ?? '',
      scp: 'default',
      tenant_id: 'acme',
      iat: seconds(),
      exp: seconds() + 60,
    };
    const token = await issueToken(key, { ...right, ...claims });
    expect(await verdict(signed({ token }))).toBe('token_invalid');
    expect(await verdict(signed({ token: await issueToken(key, right) }))).toBe('acme');
  });

  it.each([
    [59_999, 'acme'],
    [60_000, 'token_invalid'],
    [60_001, 'token_invalid'],
  ])('GW-INV-12 with a token of a minute that was proved before, after %i ms: %s', async (ms, want) => {
    const { verdict, signed, key, seconds, sessions, clock } = await world();
    const { session_id: jti = '' } = (await sessions.find({ tenant: 'acme', execution_id: 'e-1' })) ?? {};
    const claims = { jti, scp: 'default', tenant_id: 'acme', iat: seconds(), exp: seconds() + 60 };
    const token = await issueToken(key, claims);
    expect(await verdict(signed({ token }))).toBe('acme');
    await clock.advance(ms);
    expect(await verdict(signed({ token, timestamp: seconds() }))).toBe(want);
  });

  it.each<[string, object, string]>([
    ['another tenant', { tenant_id: 'globex' }, 'session_inactive'],
    ['no tenant', { tenant_id: ' ' }, 'token_invalid'],
  ])('GW-INV-13 GW-TEN-06 AMB-119 with a token of %s is refused', async (_what, claims, unknown) => {
    const { verdict, signed, key, seconds, sessions } = await world();
    const { session_id: jti = '' } = (await sessions.find({ tenant: 'acme', execution_id: 'e-1' })) ?? {};
    const right = { jti, scp: 'default', tenant_id: 'acme', iat: seconds(), exp: seconds() + 60 };
    const token = await issueToken(key, { ...right, ...claims });
    expect(await verdict(signed({ token }))).toBe('token_invalid');
    expect(await verdict(signed({ token, executionId: 'e-2' }))).toBe(unknown);
    await sessions.revoke({ tenant: 'acme', execution_id: 'e-1' });
    expect(await verdict(signed({ token }))).toBe(unknown);
  });

  it('AMB-116 is proved in the session of its own tenant where two tenants have one id', async () => {
    const { begin, signer, seconds, token, verdict } = await world();
    const rival = aSigner();
    const { security_token } = await begin(rival, { tenant: 'globex' });
    const call = { timestamp: seconds(), payload };
    expect(await verdict(rival.sign({ ...call, token: security_token }))).toBe('globex');
    expect(await verdict(signer.sign({ ...call, token }))).toBe('acme');
    expect(await verdict(signer.sign({ ...call, token: security_token }))).toBe('signature_invalid');
  });

  it('GW-INV-15 signed by another key, or changed afterwards, is refused', async () => {
    const { verdict, signed, token, seconds } = await world();
    expect(await verdict(aSigner().sign({ token, timestamp: seconds(), payload }))).toBe('signature_invalid');
    const other = { ...payload, params: { name: 'fs.read', arguments: { path: 'b' } } };
    expect(await verdict({ ...signed(), payload: other })).toBe('signature_invalid');
    expect(await verdict({ ...signed(), timestamp: seconds() + 1 })).toBe('signature_invalid');
  });

  it('GW-INV-15 written otherwise with the same meaning is the same call', async () => {
    const { prove, signed } = await world();
    const { payload: call, ...rest } = signed();
    const spaced = JSON.stringify({ payload: call, ...rest }, undefined, 2);
    expect((await prove(readEnvelope(Buffer.from(spaced)))).tenant).toBe('acme');
  });

  it.each([
    [-31, 'not_fresh'],
    [-30, 'acme'],
    [30, 'acme'],
    [31, 'not_fresh'],
  ])('GW-INV-16 whose clock is %i s away: %s', async (offset, want) => {
    const { verdict, signed, seconds } = await world();
    expect(await verdict(signed({ timestamp: seconds() + offset }))).toBe(want);
  });

  it.each([
    ['00:00:11.999', 'acme'],
    ['00:00:10.999', 'not_fresh'],
    ['00:01:10.999', 'acme'],
    ['00:01:11.000', 'not_fresh'],
  ])(
    'GW-INV-16 AMB-012 at 00:00:40.500 counts by its signed second, not by the fraction of %s: %s',
    async (time, want) => {
      const { verdict, signed, clock } = await world();
      await clock.advance(40_500);
      const timestamp = `2026-01-01T${time}Z`;
      const envelope = signed({ timestamp: Math.floor(Date.parse(timestamp) / 1_000) });
      expect(await verdict({ ...envelope, timestamp })).toBe(want);
    },
  );

  it.each([
    [29, 'acme'],
    [30, 'acme'],
    [31, 'token_invalid'],
  ])('GW-INV-11 with a token that was issued in %i s from now: %s, also when it comes again', async (ahead, want) => {
    const { verdict, signed, key, seconds, sessions } = await world();
    const session = await sessions.find({ tenant: 'acme', execution_id: 'e-1' });
    const claims = { jti: session?.session_id ?? '', scp: 'default', tenant_id: 'acme' };
    const token = await issueToken(key, { ...claims, iat: seconds() + ahead, exp: seconds() + 120 });
    expect(await verdict(signed({ token }))).toBe(want);
    expect(await verdict(signed({ token, payload: { ...payload, id: 2 } }))).toBe(want);
  });

  it('GW-INV-17 AMB-001 counts once, also signed again; another call with the same token counts', async () => {
    const { verdict, signed, clock, seconds } = await world();
    const first = signed({ timestamp: seconds() + 30 });
    expect(await verdict(first)).toBe('acme');
    expect(await verdict(first)).toBe('replayed');
    expect(await verdict(signed({ timestamp: seconds() + 30 }))).toBe('replayed');
    expect(await verdict(signed({ payload: { ...payload, id: 2 } }))).toBe('acme');
    await clock.advance(60_000);
    expect(await verdict(first)).toBe('replayed');
    await clock.advance(1_000);
    expect(await verdict(first)).toBe('not_fresh');
  });

  it('GW-INV-17 counts once of many at the same time', async () => {
    const { verdict, signed } = await world();
    const envelope = signed();
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => verdict(envelope)));
    expect(verdicts.filter((one) => one === 'acme')).toHaveLength(1);
  });

  it.each([
    [['*'], 'acme'],
    [['fs.*'], 'acme'],
    [['web.*', 'fs.read'], 'acme'],
    [['fs.write'], 'out_of_session'],
    [[], 'out_of_session'],
  ])('GW-INV-18 GW-SESS-08 of a tool under the patterns %j: %s', async (patterns, want) => {
    const { verdict, signed } = await world({ allowed_tool_patterns: patterns });
    expect(await verdict(signed())).toBe(want);
  });

  it.each([
    [['fs.*'], 'out_of_session'],
    [['fs.read'], 'out_of_session'],
    [['fs.write', 'cmd'], 'acme'],
  ])('of a tool that waits for a person under the patterns %j: %s', async (patterns, want) => {
    const { verdict, signed } = await world({ waiting_tool_patterns: patterns });
    expect(await verdict(signed())).toBe(want);
  });

  it('is refused at the first link that fails, in the order of the specification', async () => {
    const { verdict, signed, token, seconds, sessions } = await world({ allowed_tool_patterns: [] });
    const stranger = aSigner();
    const late = seconds() - 31;
    const claims = { jti: 'x', scp: 'default', tenant_id: 'acme', iat: seconds(), exp: seconds() + 60 };
    const forged = await issueToken(aSealWorld().key, claims);
    expect(await verdict(stranger.sign({ token: forged, timestamp: late, payload }))).toBe('token_invalid');
    expect(await verdict(stranger.sign({ token, timestamp: late, payload }))).toBe('signature_invalid');
    expect(await verdict(signed({ timestamp: late }))).toBe('not_fresh');
    expect(await verdict(signed())).toBe('out_of_session');
    expect(await verdict(signed())).toBe('replayed');
    await sessions.revoke({ tenant: 'acme', execution_id: 'e-1' });
    expect(await verdict(stranger.sign({ token: forged, timestamp: late, payload }))).toBe('session_inactive');
    expect(await verdict(stranger.sign({ token: 'x', timestamp: late, payload }))).toBe('token_invalid');
  });
});

describe('a signed call under a session that the process has heard of', () => {
  it('GW-SESS-10 is refused once the stored session is revoked, also before the process hears of it', async () => {
    const base = await world();
    const heard = await base.sessions.find({ tenant: 'acme', execution_id: 'e-1' });
    const prove = createEnvelopeProof({ ...base, known: () => heard });
    const call = (id: number) =>
      prove(readEnvelope(Buffer.from(JSON.stringify(base.signed({ payload: { ...payload, id } })))));
    expect((await call(1)).tenant).toBe('acme');
    await base.sessions.revoke({ tenant: 'acme', execution_id: 'e-1' });
    await expect(call(2)).rejects.toMatchObject({ fault: 'session_inactive' });
  });

  it('GW-INV-13 counts under the stored session where another one has replaced it', async () => {
    const base = await world();
    const heard = await base.sessions.find({ tenant: 'acme', execution_id: 'e-1' });
    const other = aSigner();
    await base.sessions.create({
      ...heard,
      session_id: 's-2',
      pod_uid: 'p-2',
      public_key: other.publicKey,
    } as SealSession);
    const claims = { jti: 's-2', scp: 'default', tenant_id: 'acme', iat: base.seconds(), exp: base.seconds() + 60 };
    const token = await issueToken(base.key, claims);
    const prove = createEnvelopeProof({ ...base, known: () => heard });
    const envelope = other.sign({ token, timestamp: base.seconds(), payload });
    expect((await prove(readEnvelope(Buffer.from(JSON.stringify(envelope))))).session_id).toBe('s-2');
    await expect(prove(readEnvelope(Buffer.from(JSON.stringify(base.signed()))))).rejects.toMatchObject({
      fault: 'token_invalid',
    });
    await expect(prove(readEnvelope(Buffer.from(JSON.stringify(envelope))))).rejects.toMatchObject({
      fault: 'replayed',
    });
  });

  it.each([
    [59_000, 'acme'],
    [60_000, 'token_invalid'],
    [61_000, 'token_invalid'],
  ])('GW-INV-14 whose token, proved before, lasts a minute, after %i ms: %s', async (ms, want) => {
    const base = await world();
    const session = await base.sessions.find({ tenant: 'acme', execution_id: 'e-1' });
    const begun = base.seconds();
    const claims = { jti: session?.session_id ?? '', scp: 'default', tenant_id: 'acme', iat: begun, exp: begun + 60 };
    const token = await issueToken(base.key, claims);
    expect(await base.verdict(base.signed({ token }))).toBe('acme');
    await base.clock.advance(ms);
    expect(await base.verdict(base.signed({ token, timestamp: base.seconds() }))).toBe(want);
  });
});
