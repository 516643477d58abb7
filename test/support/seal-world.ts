import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { BucketDefinition } from '../../lib/bus/index.ts';
import { createMemoryBucket } from '../../lib/bus/kv/memory-bucket.ts';
import { createSealSessions, issueSession, loadSealKey, type SealSession } from '../../lib/envelope/index.ts';
import { newId } from '../../lib/ids.ts';
import { createManualClock } from './manual-clock.ts';
import { silentLogger } from './silent-logger.ts';

/** An agent's steps to sign a call, without any code of lib/envelope. */
export interface Signer {
  readonly publicKey: string;
  sign(call: SignedCall): Record<string, unknown>;
}

interface SignedCall {
  readonly token: string;
  readonly timestamp: number;
  readonly payload: unknown;
  readonly executionId?: string;
}

export function aSigner(): Signer {
  const pair = generateKeyPairSync('ed25519');
  return {
    publicKey: pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
    sign: (call) => envelopeOf(pair.privateKey, call),
  };
}

function envelopeOf(key: KeyObject, { token, timestamp, payload, executionId = 'e-1' }: SignedCall) {
  const text = sorted({ payload, security_token: token, timestamp });
  return {
    protocol: 'seal/v1',
    security_token: token,
    signature: sign(null, Buffer.from(text), key).toString('base64'),
    timestamp,
    payload,
    metadata: { execution_id: executionId },
  };
}

/** JSON with the names of each object in order; enough for the plain names of tests. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );

/** Sessions and buckets in memory under a stopped clock. */
export function aSealWorld() {
  const clock = createManualClock();
  const issuer = { SEAL_GATEWAY_SEAL_JWT_ISSUER: 'windlass', SEAL_GATEWAY_SEAL_JWT_AUDIENCE: 'windlass-tools' };
  const key = loadSealKey(issuer, () => '', silentLogger);
  const buckets = new Map<string, unknown>();
  const bus = {
    bucket<T>(definition: BucketDefinition) {
      const known = buckets.get(definition.name) ?? createMemoryBucket<T>(clock, definition);
      buckets.set(definition.name, known);
      return known as ReturnType<typeof createMemoryBucket<T>>;
    },
  };
  const sessions = createSealSessions(bus);
  const seconds = (): number => Math.floor(clock.now() / 1_000);
  const begin = async (signer: Signer, parts: Partial<SealSession> = {}) => {
    const { execution_id: executionId = 'e-1', tenant = 'acme', expires_at: expiresAt } = parts;
    const request = { executionId, tenant, podUid: 'p-1', securityContext: 'default', publicKey: signer.publicKey };
    const { allowed_tool_patterns: patterns, waiting_tool_patterns: waiting } = parts;
    return issueSession(
      { key, sessions, clock, newId },
      {
        ...request,
        ...(patterns === undefined ? {} : { allowedToolPatterns: patterns }),
        ...(waiting === undefined ? {} : { waitingToolPatterns: waiting }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      },
    );
  };
  return { clock, key, bus, sessions, seconds, begin };
}
