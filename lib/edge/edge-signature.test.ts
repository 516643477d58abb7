import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rawPublicKey } from '../envelope/public-key.ts';
import {
  challengeBytes,
  isChallengeSignedBy,
  isRotationProof,
  isSealedBy,
  openEdgeCommand,
  readEdgeEvent,
  readRotation,
  rotationProofBytes,
  type SealedMessage,
  sealRotation,
  signedBytes,
} from './index.ts';

interface Vector {
  readonly title: string;
  readonly kind: 'event' | 'command' | 'rotation';
  readonly stream_id: string;
  readonly sequence: string;
  readonly without_envelope_hex: string;
  readonly signed_hex: string;
  readonly wire_hex: string;
}

const published = JSON.parse(
  readFileSync(new URL('../../docs/reference/edge-vectors.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, string>> & {
  readonly vectors: readonly Vector[];
  readonly challenge: Readonly<Record<string, string>>;
  readonly rotation_proof: Readonly<Record<string, string>>;
};

const hex = (text = ''): Buffer => Buffer.from(text, 'hex');
const privateKey = (seed = ''): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([hex('302e020100300506032b657004220420'), hex(seed)]),
    format: 'der',
    type: 'pkcs8',
  });
const daemonKey = createPublicKey(privateKey(published['daemon_key_hex']));
const relayKey = createPublicKey(privateKey(published['relay_key_hex']));
const newKey = privateKey(published['new_key_hex']);
const nodeId = published['node_id'] ?? '';

function opened({ kind, wire_hex: wire }: Vector): SealedMessage | undefined {
  if (kind === 'event') return readEdgeEvent(hex(wire)).sealed;
  return kind === 'rotation' ? readRotation(hex(wire)).sealed : undefined;
}

describe('published vectors of edge mode', () => {
  for (const vector of published.vectors) {
    const { title, stream_id: streamId } = vector;

    it(`AMB-011 AMB-202 ${title}: the signature is over the received bytes without their envelope`, () => {
      const sealed = opened(vector);
      if (sealed === undefined) return;
      const { sequence } = sealed.envelope;
      expect(Buffer.from(sealed.rest).toString('hex')).toBe(vector.without_envelope_hex);
      expect(signedBytes({ ...sealed, streamId, sequence }).toString('hex')).toBe(vector.signed_hex);
      expect(isSealedBy(daemonKey, sealed, streamId)).toBe(true);
      expect(isSealedBy(relayKey, sealed, streamId)).toBe(false);
      expect(isSealedBy(daemonKey, sealed, `${streamId}0`)).toBe(false);
      expect(isSealedBy(daemonKey, { ...sealed, rest: Buffer.concat([sealed.rest, hex('00')]) }, streamId)).toBe(false);
    });
  }

  it('EDGE-FLOW-06 takes commands that the pinned relay key has signed, for this host, stream and place', () => {
    const commands = published.vectors.filter(({ kind }) => kind === 'command');
    expect(commands).toHaveLength(2);
    for (const { wire_hex: wire, sequence, stream_id: streamId } of commands) {
      const place = { key: relayKey, nodeId, streamId, after: BigInt(sequence) - 1n };
      const read = (change: Partial<typeof place>): unknown => openEdgeCommand(hex(wire), { ...place, ...change });
      expect(openEdgeCommand(hex(wire), place).sequence).toBe(BigInt(sequence));
      expect(() => read({ key: daemonKey })).toThrow('has not signed');
      expect(() => read({ streamId: 'another' })).toThrow('has not signed');
      expect(() => read({ nodeId: 'another' })).toThrow('another host');
      expect(() => read({ after: BigInt(sequence) })).toThrow('repeats');
    }
  });

  it('AMB-113 EDGE-PROTO-49 signs a rotation by the new key over node id and key, without anything between', () => {
    const { signed_hex: signed = '', signature_hex: signature = '' } = published.rotation_proof;
    const newPublicKey = hex(published['new_public_key_hex']);
    expect(rotationProofBytes(nodeId, newPublicKey).toString('hex')).toBe(signed);
    const key = createPublicKey(newKey);
    expect(isRotationProof(key, { nodeId, newPublicKey }, hex(signature))).toBe(true);
    expect(isRotationProof(key, { nodeId: `${nodeId}0`, newPublicKey }, hex(signature))).toBe(false);
    expect(isRotationProof(daemonKey, { nodeId, newPublicKey }, hex(signature))).toBe(false);
  });

  it('EDGE-PROTO-47 EDGE-PROTO-48 writes the published rotation byte for byte', () => {
    const vector = published.vectors.find(({ kind }) => kind === 'rotation');
    const pair = { privateKey: newKey, publicKey: createPublicKey(newKey) };
    const sealing = {
      key: privateKey(published['daemon_key_hex']),
      nodeId,
      token: 'header.payload.signature',
      sequence: 1n,
      now: Number(published['timestamp_seconds']) * 1_000,
    };
    expect(Buffer.from(sealRotation(pair, sealing)).toString('hex')).toBe(vector?.wire_hex);
    expect(rawPublicKey(pair.publicKey).toString('hex')).toBe(published['new_public_key_hex']);
  });

  it('EDGE-FLOW-01 signs the nonce of an attestation under a domain of its own', () => {
    const { nonce_hex: nonce, signed_hex: signed, signature_hex: signature } = published.challenge;
    expect(challengeBytes(hex(nonce)).toString('hex')).toBe(signed);
    expect(isChallengeSignedBy(daemonKey, hex(nonce), hex(signature))).toBe(true);
    expect(isChallengeSignedBy(daemonKey, hex(nonce), hex(signature).subarray(1))).toBe(false);
    expect(isChallengeSignedBy(relayKey, hex(nonce), hex(signature))).toBe(false);
  });
});
