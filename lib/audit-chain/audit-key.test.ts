import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyIdOf, loadFormerKeys, pemOf } from './index.ts';

const [first, second] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const load = (pem?: string) =>
  loadFormerKeys(pem === undefined ? {} : { WINDLASS_GATEWAY_AUDIT_FORMER_KEYS: pem }).map(keyIdOf);

describe('keys that signed checkpoints before', () => {
  it('are none, one or several in one text', () => {
    expect(load()).toEqual([]);
    expect(load(pemOf(first.publicKey))).toEqual([keyIdOf(first.publicKey)]);
    const both = `# 2025\n${pemOf(first.publicKey)}# 2026\n${pemOf(second.publicKey)}`;
    expect(load(both)).toEqual([first, second].map(({ publicKey }) => keyIdOf(publicKey)));
  });

  it.each([
    ['a text', 'key'],
    ['a private key', first.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    [
      'a key of another kind',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    ],
    [
      'a spoilt key behind a good one',
      `${pemOf(first.publicKey)}-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n`,
    ],
  ])('are refused where the text holds %s, without a part of it', (_what, pem) => {
    expect(() => load(pem)).toThrow('must hold public Ed25519 keys');
  });
});
