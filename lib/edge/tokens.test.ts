import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  argsHash,
  commandIdOf,
  edgeLimits,
  mintCommandToken,
  mintEnrollmentToken,
  mintNodeToken,
  nodeIdOf,
  readCommandToken,
  readEnrollmentToken,
  readNodeToken,
} from './index.ts';

const ours = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const now = 1_790_000_000_000;
const enrollment = { jti: 'j-1', tid: 'acme', issuedBy: 'ops', name: 'web-1', now, ttlSeconds: 900 };
const node = { nodeId: 'n-1', tid: 'acme', jti: 'j-2', publicKey: ours.publicKey, issuedAt: now, lifeMs: 86_400_000 };
const command = {
  author: 'ops',
  tid: 'acme',
  node: 'n-1',
  commandId: 'c-1',
  tool: 'cmd.run',
  args: { command: 'uptime' },
  context: 'default',
  deadlineSeconds: 60,
  now,
  lifeMs: 120_000,
};

describe('tokens of edge mode', () => {
  it('a token has the bytes that the library writes for its claims', async () => {
    const token = await mintCommandToken(ours.privateKey, { ...command, author: 'Zoë, "ops" \u2028' });
    const same = new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' });
    expect(token).toBe(await same.sign(ours.privateKey));
  });

  it('EDGE-RES-30 an enrollment token counts with its signature, audience, issuer, tenant and time', async () => {
    const token = await mintEnrollmentToken(ours.privateKey, enrollment);
    const claims = {
      jti: 'j-1',
      tid: 'acme',
      issuedBy: 'ops',
      name: 'web-1',
      nbf: now / 1_000,
      exp: now / 1_000 + 900,
    };
    expect(await readEnrollmentToken(ours.publicKey, token, now)).toEqual(claims);
    expect(await readEnrollmentToken(ours.publicKey, token, now + 899_999)).toEqual(claims);
    expect(await readEnrollmentToken(ours.publicKey, token, now + 900_000)).toBeUndefined();
    expect(await readEnrollmentToken(ours.publicKey, token, now - 1_000)).toBeUndefined();
    expect(await readEnrollmentToken(other.publicKey, token, now)).toBeUndefined();
    const wrong = [{ aud: 'edge-node' }, { iss: 'x' }, { tid: '' }, { tid: 7 }, { nbf: undefined }, { exp: undefined }];
    for (const change of [...wrong, { jti: '' }, { exp: now / 1_000 + 901 }]) {
      const changed = { ...decodeJwt(token), ...change };
      const forged = await new SignJWT(changed).setProtectedHeader({ alg: 'EdDSA' }).sign(ours.privateKey);
      expect([change, await readEnrollmentToken(ours.publicKey, forged, now)]).toEqual([change, undefined]);
    }
  });

  it('EDGE-REST-02 an enrollment token lives no longer than 900 s, whatever is asked', async () => {
    const token = await mintEnrollmentToken(ours.privateKey, { ...enrollment, ttlSeconds: 901 });
    expect(decodeJwt(token).exp).toBe(now / 1_000 + 900);
  });

  it('EDGE-RES-32 AMB-112 a node token names host, tenant and key, and ends after 24 hours', async () => {
    const token = await mintNodeToken(ours.privateKey, node);
    const claims = await readNodeToken(ours.publicKey, token, now);
    expect(claims).toMatchObject({ nodeId: 'n-1', tid: 'acme', jti: 'j-2' });
    expect(await readNodeToken(ours.publicKey, token, now + 86_399_999)).toEqual(claims);
    expect(await readNodeToken(ours.publicKey, token, now + 86_400_000)).toBeUndefined();
    expect(await readNodeToken(ours.publicKey, token, 'any')).toEqual(claims);
    expect(await readNodeToken(other.publicKey, token, 'any')).toBeUndefined();
    expect(await mintNodeToken(ours.privateKey, node)).toBe(token);
  });

  it('takes no token of one kind for another, and none that is too long', async () => {
    const tokens = [
      await mintEnrollmentToken(ours.privateKey, enrollment),
      await mintNodeToken(ours.privateKey, node),
      await mintCommandToken(ours.privateKey, command),
    ];
    const readers = [readEnrollmentToken, readNodeToken, readCommandToken];
    for (const [at, token] of tokens.entries()) {
      const read = await Promise.all(readers.map((reader) => reader(ours.publicKey, token, now)));
      expect(read.map((claims) => claims !== undefined)).toEqual([0, 1, 2].map((kind) => kind === at));
    }
    const long = await mintCommandToken(ours.privateKey, { ...command, author: 'a'.repeat(edgeLimits.tokenLength) });
    expect(await readCommandToken(ours.publicKey, long, now)).toBeUndefined();
    for (const text of ['', 'a.b.c', '..', 'eyJhbGciOiJub25lIn0.e30.']) {
      expect(await readNodeToken(ours.publicKey, text, 'any')).toBeUndefined();
    }
  });

  it('EDGE-RES-33 a command token binds tenant, author, host, command, tool and arguments', async () => {
    const claims = await readCommandToken(ours.publicKey, await mintCommandToken(ours.privateKey, command), now);
    expect(claims).toMatchObject({ author: 'ops', tid: 'acme', node: 'n-1', commandId: 'c-1', tool: 'cmd.run' });
    expect(claims).toMatchObject({
      context: 'default',
      deadlineSeconds: 60,
      ah: argsHash('cmd.run', { command: 'uptime' }),
    });
    expect(argsHash('cmd.run', { b: 1, a: 2 })).toBe(argsHash('cmd.run', { a: 2, b: 1 }));
    expect(argsHash('cmd.run', { a: 1 })).not.toBe(argsHash('fs.read', { a: 1 }));
  });

  it('derives ids as UUIDs: equal facts give equal ids', () => {
    expect(nodeIdOf('j-1')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(nodeIdOf('j-1')).toBe(nodeIdOf('j-1'));
    expect(nodeIdOf('j-2')).not.toBe(nodeIdOf('j-1'));
    expect(commandIdOf('r', 'n')).not.toBe(commandIdOf('rn', ''));
  });
});
