import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import type { EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createSealSessions, issueSession, type SealKey } from '../../lib/envelope/index.ts';
import { newId } from '../../lib/ids.ts';
import { aSigner } from '../../test/support/seal-world.ts';
import { issuer } from './lane-setup.ts';

/** An agent that signs calls, and the keys that its servers need. */
export interface SignedCaller {
  /** Key of SEAL tokens, as PEM. */
  readonly sealKey: string;
  /** Key of the caller, as PEM. */
  readonly callerKey: string;
  /** So many envelopes, each another call of the tool. They are fresh for half a minute. */
  envelopes(count: number, tool: string): Buffer[];
}

const pem = (key: KeyObject): string => String(key.export({ format: 'pem', type: 'spki' }));
const spkiOfRaw = (base64: string): KeyObject =>
  createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: base64 }, format: 'jwk' });

/** Makes the keys of SEAL tokens, and a session in the bucket of the bus. */
export async function signedCaller(bus: EventBus, tenant: string): Promise<SignedCaller> {
  const key: SealKey = { ...generateKeyPairSync('ed25519'), ...issuer };
  const signer = aSigner();
  const executionId = randomUUID();
  const request = {
    executionId,
    podUid: randomUUID(),
    tenant,
    publicKey: signer.publicKey,
    securityContext: 'default',
  };
  const deps = { key, sessions: createSealSessions(bus), clock: systemClock, newId };
  const { security_token: token } = await issueSession(deps, request);
  let made = 0;
  return {
    sealKey: pem(key.publicKey),
    callerKey: pem(spkiOfRaw(signer.publicKey.replaceAll('+', '-').replaceAll('/', '_').replace('=', ''))),
    envelopes(count, tool) {
      const timestamp = Math.floor(Date.now() / 1_000);
      return Array.from({ length: count }, () => {
        made += 1;
        const args = { id: createHash('sha256').update(String(made)).digest('hex').slice(0, 24) };
        // Names in the order of the canonical form, so that the baseline can sign over what it reads.
        const payload = { id: made, jsonrpc: '2.0', method: 'tools/call', params: { arguments: args, name: tool } };
        return Buffer.from(JSON.stringify(signer.sign({ token, timestamp, payload, executionId })));
      });
    },
  };
}
