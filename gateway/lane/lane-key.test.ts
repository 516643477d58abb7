import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { createEventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { ConfigError } from '../../lib/config.ts';
import { issueToken, type SealKey, type SealVerifier } from '../../lib/envelope/index.ts';
import { readToken } from '../../lib/envelope/token.ts';
import { newId } from '../../lib/ids.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { readGatewayConfig } from '../config.ts';
import { createLane } from './lane.ts';

const observer = {
  connected: () => undefined,
  called: () => undefined,
  waiting: () => undefined,
  dropped: () => undefined,
  delivered: () => undefined,
  answered: () => undefined,
};
const deps = { clock: systemClock, logger: silentLogger, observer, newId, random: Math.random };
const bus = createEventBus(deps, 'test', undefined);
afterAll(() => bus.close(0));

/** The lane as the settings make it; nothing of it is opened. */
function verifierOf(env: Readonly<Record<string, string>>): SealVerifier | undefined {
  const config = readGatewayConfig({
    WINDLASS_NATS_URL: 'nats://127.0.0.1:4222',
    SEAL_GATEWAY_OPERATOR_JWT_ISSUER: 'https://id.example.com',
    SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE: 'windlass',
    ...env,
  });
  const cluster = { informers: { securityContexts: { cache: {} } }, tenants: {} };
  return createLane({ ...deps, config, bus, cluster } as never).sealKey();
}

const pem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();
const ed25519 = generateKeyPairSync('ed25519');
const claims = () => {
  const now = Math.floor(Date.now() / 1_000);
  return { jti: 't', scp: 'default', tenant_id: 'acme', iat: now, exp: now + 60 };
};
const isTaken = async (verifier: SealVerifier | undefined, key: SealKey): Promise<boolean> =>
  verifier !== undefined && (await readToken(verifier, await issueToken(key, claims()), Date.now())) !== undefined;

describe('the key of session tokens', () => {
  it.each<[string, KeyObject]>([
    ['Ed25519', ed25519.publicKey],
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey],
    ['EC on P-256', generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey],
  ])('GW-ENV-08 is the PEM of the setting, with its lines: %s', (_title, key) => {
    expect(verifierOf({ SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM: pem(key) })?.publicKey.equals(key)).toBe(true);
  });

  it.each<[string, string]>([
    ['without its lines', pem(ed25519.publicKey).split('\n')[1] ?? ''],
    ['of a private key', ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['in raw Base64', ed25519.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')],
    ['of a short RSA key', pem(generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey)],
    ['of another curve', pem(generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey)],
    ['of a key for agreement', pem(generateKeyPairSync('x25519').publicKey)],
    ['that is cut', pem(ed25519.publicKey).slice(0, 60)],
  ])('GW-ENV-08 AMB-120 refuses a PEM %s, and names the setting', (_title, text) => {
    const open = () => verifierOf({ SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM: text });
    expect(open).toThrow(ConfigError);
    expect(open).toThrow('SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM');
  });

  it('GW-ENV-04 GW-ENV-05 takes tokens of the issuer and for the audience of the settings, literally', async () => {
    const verifier = verifierOf({
      SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM: pem(ed25519.publicKey),
      SEAL_GATEWAY_SEAL_JWT_ISSUER: 'https://seal.example.com/',
      SEAL_GATEWAY_SEAL_JWT_AUDIENCE: 'tools',
    });
    const key: SealKey = { ...ed25519, issuer: 'https://seal.example.com/', audience: 'tools' };
    expect(await isTaken(verifier, key)).toBe(true);
    for (const change of [{ issuer: 'https://seal.example.com' }, { audience: 'tool' }, { audience: 'Tools' }])
      expect(await isTaken(verifier, { ...key, ...change })).toBe(false);
  });
});
