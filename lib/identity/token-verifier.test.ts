import { createHmac, createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { CompactSign, type JWTPayload } from 'jose';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { makeKey, type TestKey } from '../../test/support/keys.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createLogger } from '../logger.ts';
import { defaultAlgorithms } from './algorithms.ts';
import { createKeySet } from './key-set.ts';
import { createTokenVerifier, type TokenVerifierOptions } from './token-verifier.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const SECOND = NOW / 1_000;
const issuer = 'https://id.example.com';

let keys: Record<string, TestKey>;
beforeAll(async () => {
  const made = await Promise.all(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'].map((alg) => makeKey(alg, alg)));
  keys = Object.fromEntries(made.map((key) => [key.alg, key]));
});

const key = (alg = 'RS256'): TestKey => keys[alg] as TestKey;
const claims = (change: JWTPayload = {}): JWTPayload => ({
  iss: issuer,
  aud: 'windlass',
  sub: 'anna',
  exp: SECOND + 60,
  ...change,
});

function world(options: Partial<TokenVerifierOptions> = {}) {
  const clock = createManualClock(NOW);
  const published = Object.values(keys).map(({ publicJwk }) => publicJwk);
  let fetches = 0;
  const read: string[] = [];
  const lines: string[] = [];
  const logger = createLogger({
    level: 'debug',
    service: 'test',
    destination: { write: (line) => void lines.push(line) },
  });
  const set = createKeySet(
    {
      load: async () => {
        fetches += 1;
        return { keys: [...published] };
      },
      clock,
      logger: silentLogger,
    },
    { ttlMs: 300_000, graceMs: 0 },
  );
  const verifier = createTokenVerifier(
    {
      keys: set,
      clock,
      logger,
      read: ({ sub }) => {
        read.push(sub);
        return sub;
      },
    },
    { issuer, audience: 'windlass', algorithms: defaultAlgorithms, ...options },
  );
  return { clock, published, verifier, read, log: () => lines.join(''), fetches: () => fetches };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const refused = { code: 'unauthenticated', message: 'unauthorized' };

describe('a token', () => {
  it.each(['RS256', 'ES256', 'EdDSA'])('AMB-148 signed with %s is accepted', async (alg) => {
    await expect(world().verifier.verify(await key(alg).sign(claims()))).resolves.toBe('anna');
  });

  it('AMB-148 that ends at no time is refused', async () => {
    const { alg, privateKey } = key('ES256');
    const text = JSON.stringify(claims({ exp: 0 })).replace('"exp":0', '"exp":1e999');
    const token = await new CompactSign(Buffer.from(text)).setProtectedHeader({ alg, kid: alg }).sign(privateKey);
    await expect(world().verifier.verify(token)).rejects.toMatchObject(refused);
  });

  it('AMB-148 signed with EdDSA by its newer name is accepted', async () => {
    const ed25519 = await makeKey('Ed25519', 'new-name');
    const { verifier, published } = world();
    published.push(ed25519.publicJwk);
    await expect(verifier.verify(await ed25519.sign(claims()))).resolves.toBe('anna');
  });

  it.each(['PS256', 'ES384'])('AMB-148 signed with %s is refused unless configured', async (alg) => {
    const token = await key(alg).sign(claims());
    await expect(world().verifier.verify(token)).rejects.toMatchObject(refused);
    await expect(world({ algorithms: ['PS256', 'ES384'] }).verifier.verify(token)).resolves.toBe('anna');
  });

  it.each(['none', 'None', 'NONE', ''])('AMB-120 with the algorithm %j is refused', async (alg) => {
    const unsigned = `${encode({ alg, typ: 'JWT' })}.${encode(claims())}.`;
    await expect(world().verifier.verify(unsigned)).rejects.toMatchObject(refused);
    await expect(world().verifier.verify(`${unsigned}AAAA`)).rejects.toMatchObject(refused);
  });

  it.each(['HS256', 'HS384', 'HS512'])('AMB-120 signed with %s and the public key is refused', async (alg) => {
    const jwk = key().publicJwk;
    const publicKey = createPublicKey({ key: jwk as Record<string, unknown>, format: 'jwk' });
    const signed = `${encode({ alg, kid: 'RS256', typ: 'JWT' })}.${encode(claims())}`;
    for (const secret of [publicKey.export({ type: 'spki', format: 'pem' }), JSON.stringify(jwk), jwk.n ?? '']) {
      const signature = createHmac(alg.replace('HS', 'sha'), secret).update(signed).digest('base64url');
      await expect(world().verifier.verify(`${signed}.${signature}`)).rejects.toMatchObject(refused);
    }
  });

  it('AMB-120 whose header brings its own key is refused', async () => {
    const own = await makeKey('ES256');
    for (const header of [{ jwk: own.publicJwk }, { jku: 'https://evil.example.com/keys' }, { kid: 'ES256' }]) {
      const { verifier, clock } = world();
      const verdict = verifier.verify(await own.sign(claims(), header)).catch((error: unknown) => error);
      await vi.waitFor(async () => {
        await clock.advance(1_000);
        expect(await Promise.race([verdict, Promise.resolve()])).toMatchObject(refused);
      });
    }
  });

  it.each<[string, JWTPayload]>([
    ['without an issuer', { iss: undefined }],
    ['of a foreign issuer', { iss: 'https://other.example.com' }],
    ['whose issuer has one slash more', { iss: `${issuer}/` }],
    ['whose issuer differs in case', { iss: 'https://ID.example.com' }],
    ['whose issuer is a list', { iss: [issuer] as unknown as string }],
    ['without an audience', { aud: undefined }],
    ['of a foreign audience', { aud: 'other' }],
    ['of foreign audiences', { aud: ['other', 'windlass2'] }],
    ['of no audience', { aud: [] }],
    ['of an audience that only holds ours', { aud: 'windlass other' }],
    ['whose audience is an object', { aud: { windlass: true } as unknown as string }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
    ['whose subject is a number', { sub: 7 as unknown as string }],
    ['whose subject is longer than 255 characters', { sub: 'a'.repeat(256) }],
    ['whose subject holds a line break', { sub: 'anna\nadmin' }],
    ['without an expiry', { exp: undefined }],
    ['whose expiry is text', { exp: '2030-01-01' as unknown as number }],
    ['whose expiry is null', { exp: null as unknown as number }],
    ['whose not-before is text', { nbf: 'now' as unknown as number }],
  ])('AMB-148 %s is refused', async (_, change) => {
    await expect(world().verifier.verify(await key().sign(claims(change)))).rejects.toMatchObject(refused);
  });

  it.each<[string, JWTPayload]>([
    ['whose audience is one of several', { aud: ['other', 'windlass'] }],
    ['whose subject has 255 characters', { sub: 'a'.repeat(255) }],
    ['that was issued in the future', { iat: SECOND + 1_000 }],
  ])('AMB-148 %s is accepted', async (_, change) => {
    await expect(world().verifier.verify(await key().sign(claims(change)))).resolves.toBeDefined();
  });

  it.each([
    ['exp', -6, false],
    ['exp', -5, false],
    ['exp', -4, true],
    ['exp', 0, true],
    ['nbf', 4, true],
    ['nbf', 5, true],
    ['nbf', 6, false],
  ])('AMB-148 whose %s is %i s from now is accepted within 5 s: %s', async (claim, seconds, want) => {
    const verdict = world()
      .verifier.verify(await key().sign(claims({ [claim]: SECOND + seconds })))
      .then(
        () => true,
        ({ code }: { code: string }) => (code === 'unauthenticated' ? false : code),
      );
    expect(await verdict).toBe(want);
  });

  it.each([
    ['JWT', true],
    ['jwt', true],
    ['at+jwt', true],
    ['application/at+jwt', true],
    [undefined, true],
    ['logout+jwt', false],
    ['secevent+jwt', false],
    ['dpop+jwt', false],
  ])('of the type %s is accepted as an access token: %s', async (typ, want) => {
    const verdict = world().verifier.verify(await key().sign(claims(), { typ }));
    expect(await verdict.then(() => true).catch(() => false)).toBe(want);
  });

  it.each<[string, boolean, JWTPayload]>([
    ['the type Bearer', true, { typ: 'Bearer' }],
    ['the type JWT', true, { typ: 'JWT' }],
    ['the type ID', false, { typ: 'ID' }],
    ['the type Refresh', false, { typ: 'Refresh' }],
    ['the type DPoP', false, { typ: 'DPoP' }],
    ['a type that is no text', false, { typ: null }],
    ['the hash of an access token', false, { at_hash: 'c29tZQ' }],
    ['the key that its bearer has to prove', false, { cnf: { jkt: 'c29tZQ' } }],
    ['a claim cnf that is null', false, { cnf: null }],
  ])('that claims %s is accepted as an access token: %s', async (_, want, change) => {
    const verdict = world().verifier.verify(await key().sign(claims(change), { typ: 'JWT' }));
    expect(await verdict.then(() => true).catch(({ code }: { code: string }) => code !== 'unauthenticated')).toBe(want);
  });

  it.each([
    ['text', 'hello'],
    ['empty', ''],
    ['two parts', 'a.b'],
    ['five parts', 'a.b.c.d.e'],
    ['a header that is no JSON', `${Buffer.from('{').toString('base64url')}.e30.AA`],
    ['a payload that is no object', `${encode({ alg: 'RS256' })}.${encode([1])}.AA`],
    ['a header that is null', `${encode(null)}.${encode(claims())}.AA`],
  ])('AMB-024 that is %s is refused', async (_, token) => {
    await expect(world().verifier.verify(token)).rejects.toMatchObject(refused);
  });

  it('AMB-024 of which one character was changed is refused, at each position', async () => {
    const { verifier } = world();
    const token = await key('ES256').sign(claims());
    // The last character holds bits that belong to no byte.
    for (let index = 0; index < token.length - 1; index += 7) {
      const other = token[index] === 'A' ? 'B' : 'A';
      const changed = token.slice(0, index) + other + token.slice(index + 1);
      await expect(verifier.verify(changed)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
  });

  it('AMB-024 of any other text is refused, and nothing else happens', async () => {
    const { verifier, fetches } = world();
    const json = fc.json().map((text) => Buffer.from(text).toString('base64url'));
    const header = fc
      .record({ alg: fc.constantFrom('RS256', 'none', 'HS256', ''), kid: fc.option(fc.string()) })
      .map(encode);
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.tuple(fc.oneof(header, json), json, json).map((parts) => parts.join('.')),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        await expect(verifier.verify(text)).rejects.toMatchObject(refused);
      }),
      { numRuns: 500 },
    );
    expect(fetches()).toBe(1);
  });

  it('with a critical header that we do not know is refused', async () => {
    const payload = `${encode({ alg: 'RS256', kid: 'RS256', crit: ['exp2'], exp2: 1 })}.${encode(claims())}`;
    await expect(world().verifier.verify(`${payload}.AA`)).rejects.toMatchObject(refused);
  });

  it('of more than 12,288 characters is refused, and of up to that accepted', async () => {
    const { verifier } = world();
    const bare = (await key('ES256').sign(claims({ pad: '' }))).length;
    // Three bytes become four characters, so that one of every three lengths is the limit or next to it.
    const most = Math.floor(((12_288 - bare) * 3) / 4);
    const verdicts: [atMost: boolean, accepted: boolean][] = [];
    for (let pad = most - 2; pad <= most + 2; pad++) {
      const token = await key('ES256').sign(claims({ pad: 'x'.repeat(pad) }));
      const accepted = await verifier.verify(token).then(
        () => true,
        () => false,
      );
      verdicts.push([token.length <= 12_288, accepted]);
    }
    expect(verdicts.every(([atMost, accepted]) => atMost === accepted)).toBe(true);
    expect(new Set(verdicts.map(([atMost]) => atMost))).toEqual(new Set([true, false]));
  });

  it('GW-OP-03 of another issuer or an unknown algorithm sets off no fetch for its key', async () => {
    const { verifier, fetches, clock } = world();
    await verifier.verify(await key().sign(claims()));
    await clock.advance(1_000);
    const foreign = await key().sign(claims({ iss: 'https://other.example.com' }), { kid: 'foreign' });
    await expect(verifier.verify(foreign)).rejects.toMatchObject(refused);
    const algorithm = await key('PS256').sign(claims(), { kid: 'foreign' });
    await expect(verifier.verify(algorithm)).rejects.toMatchObject(refused);
    expect(fetches()).toBe(1);
  });

  it('AMB-121 that names no key is accepted as soon as it is signed with the one that replaced the only one', async () => {
    const { verifier, published, clock, fetches } = world();
    const [old, next] = [await makeKey('ES256'), await makeKey('ES256')];
    published.splice(0, published.length, old.publicJwk);
    await expect(verifier.verify(await old.sign(claims()))).resolves.toBe('anna');
    await clock.advance(1_000);
    published.splice(0, 1, next.publicJwk);
    await expect(verifier.verify(await next.sign(claims()))).resolves.toBe('anna');
    await expect(verifier.verify(await old.sign(claims()))).rejects.toMatchObject(refused);
    expect(fetches()).toBe(2);
  });

  it('that names a key and was not signed with it sets off no fetch', async () => {
    const { verifier, clock, fetches } = world();
    await verifier.verify(await key().sign(claims()));
    await clock.advance(1_000);
    const other = await makeKey('RS256', 'RS256');
    await expect(verifier.verify(await other.sign(claims()))).rejects.toMatchObject(refused);
    expect(fetches()).toBe(1);
  });

  it('leaves nothing of itself in the log, and the reason there alone', async () => {
    const { verifier, log } = world();
    const token = await key().sign(claims({ aud: 'other', sub: 'secret-subject' }));
    await expect(verifier.verify(token)).rejects.toMatchObject({ message: 'unauthorized' });
    expect(log()).toContain('"claim":"aud"');
    for (const part of [...token.split('.'), 'secret-subject']) expect(log()).not.toContain(part);
  });
});

describe('a token that comes again', () => {
  it('is read once', async () => {
    const { verifier, read } = world();
    const token = await key().sign(claims());
    for (let turn = 0; turn < 3; turn++) await expect(verifier.verify(token)).resolves.toBe('anna');
    expect(read).toEqual(['anna']);
  });

  it.each([
    [64_999, true],
    [65_000, false],
    [65_001, false],
  ])('%i ms later, having expired after 60 s and with 5 s of leeway, is accepted: %s', async (ms, want) => {
    const { verifier, clock } = world();
    const token = await key().sign(claims());
    await verifier.verify(token);
    await clock.advance(ms);
    const verdict = verifier.verify(token).then(() => true);
    expect(await verdict.catch(() => false)).toBe(want);
  });

  it('is refused once its key was withdrawn and the TTL is over', async () => {
    const { verifier, published, clock } = world();
    const token = await key().sign(claims({ exp: SECOND + 3_600 }));
    await verifier.verify(token);
    published.splice(0, published.length, key('ES256').publicJwk);
    await clock.advance(200_000);
    await expect(verifier.verify(token)).resolves.toBe('anna');
    await clock.advance(100_000);
    const verdict = verifier.verify(token).catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await verdict).toMatchObject(refused);
  });
});
