import { type KeyObject, sign } from 'node:crypto';
import { canonicalJson } from '../definition/canonical.ts';

/** One call of a tool before it is signed. */
export interface CallToSign {
  readonly executionId: string;
  readonly token: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Id of the JSON-RPC request. */
  readonly id: string | number;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** The payload of an envelope, or a body that is signed like one (docs/gateway.md). */
export interface PayloadToSign {
  readonly payload: unknown;
  readonly token: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** The signature by a private Ed25519 key, as base64, and the time that it covers (spec 3 §2.2). */
export function signPayload(key: KeyObject, { payload, token, now }: PayloadToSign) {
  const timestamp = Math.floor(now / 1_000);
  const signed = Buffer.from(canonicalJson({ payload, security_token: token, timestamp }));
  return { timestamp, signature: sign(null, signed, key).toString('base64') };
}

/** The envelope of a call, signed by a private Ed25519 key (spec 3 §2.2, docs/tools.md). */
export function signEnvelope(key: KeyObject, call: CallToSign) {
  const { executionId, token, tool, id, now } = call;
  const params = { name: tool, arguments: call.arguments };
  const payload = { jsonrpc: '2.0' as const, id, method: 'tools/call' as const, params };
  return {
    protocol: 'seal/v1' as const,
    security_token: token,
    ...signPayload(key, { payload, token, now }),
    payload,
    metadata: { execution_id: executionId },
  };
}
