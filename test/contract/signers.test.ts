import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, verify } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { execPath } from 'node:process';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { readEnvelope } from '../../lib/envelope/index.ts';

it('AMB-012 the example signer writes an envelope that the verifier reads and that its key has signed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-signer-'));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const file = join(folder, 'key.pem');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const program = resolve(import.meta.dirname, '../../examples/signers/sign.mjs');
  const args = JSON.stringify({ z: 'ö"\\\n', a: [1, 0.5, { b: null, a: true }] });
  const out = execFileSync(execPath, [program, file, 'header.payload.sig', 'execution-1', 'orders.place', args]);
  rmSync(folder, { recursive: true });
  const envelope = readEnvelope(Buffer.from(out.toString().trim()));
  expect(envelope).toMatchObject({ executionId: 'execution-1', tool: 'orders.place', arguments: JSON.parse(args) });
  expect(verify(null, envelope.signedBytes, publicKey, envelope.signature)).toBe(true);
});
