import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerJson, type HttpPeer, startHttpPeer } from '../../test/support/http-peer.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { systemClock } from '../clock.ts';
import { createOidcVerifier } from './oidc-verifier.ts';

let peer: HttpPeer;
let failures: number;
let verifier: ReturnType<typeof open>;

beforeEach(async () => {
  failures = 0;
  const keys = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'AA', kid: 'a' }] };
  peer = await startHttpPeer((_, response) =>
    failures-- > 0 ? answerJson(response, 503, {}) : answerJson(response, 200, keys),
  );
  verifier = open();
});
afterEach(async () => {
  await verifier.close();
  await peer.close();
});

const open = () =>
  createOidcVerifier(
    { clock: systemClock, logger: silentLogger, read: () => undefined },
    {
      issuer: peer.url,
      jwksUrl: `${peer.url}/keys`,
      audience: 'windlass',
      allowHttp: true,
      algorithms: ['EdDSA'],
      ttlMs: 300_000,
      graceMs: 0,
    },
  );

describe('a verifier that prepares', () => {
  it('has asked for the keys once when they are there', async () => {
    await verifier.prepare(new AbortController().signal);
    expect(peer.requests).toHaveLength(1);
  });

  it('asks again until the provider answers', async () => {
    failures = 1;
    await verifier.prepare(new AbortController().signal);
    expect(peer.requests).toHaveLength(2);
  });

  it('is done when its time is up, with the keys or without', async () => {
    failures = Number.POSITIVE_INFINITY;
    await verifier.prepare(AbortSignal.timeout(100));
    expect(peer.requests).toHaveLength(1);
  });
});
