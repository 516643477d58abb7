import { generateKeyPairSync, verify } from 'node:crypto';
import { expect, it } from 'vitest';
import { readEnvelope } from './read-envelope.ts';
import { signEnvelope } from './sign-envelope.ts';

it('AMB-012 signs what the verifier reads, whatever order its members come in', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const args = { z: 'ö"\\\n', a: [1, 0.5, 1e21, { b: null, a: true }] };
  const call = { executionId: 'e-1', token: 'a.b.c', tool: 'orders.place', arguments: args, id: 7, now: 1_999 };
  const { payload, ...rest } = signEnvelope(privateKey, call);
  const envelope = readEnvelope(Buffer.from(JSON.stringify({ payload, ...rest })));
  expect(envelope).toMatchObject({
    session: { tenant: '', execution_id: 'e-1' },
    tool: 'orders.place',
    arguments: args,
    id: 7,
    sentAt: 1_000,
  });
  expect(verify(null, envelope.signedBytes(), publicKey, envelope.signature)).toBe(true);
});
