import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { issueToken, type SealKey, signEnvelope } from '../../../lib/envelope/index.ts';

export interface LaneAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly text: string;
  /** Text of the result; empty where there is none. */
  readonly content: string;
  readonly isError: boolean | undefined;
}

/** An agent with a session at a gateway. */
export interface LaneAgent {
  readonly token: string;
  /** The body of a call. */
  sign(args: Readonly<Record<string, unknown>>, tool?: string): string;
  call(args: Readonly<Record<string, unknown>>, tool?: string): Promise<LaneAnswer>;
}

export const laneKey = (): SealKey => ({
  ...generateKeyPairSync('ed25519'),
  issuer: 'windlass',
  audience: 'windlass-tools',
});

export async function startAgent(
  gateway: { readonly url: string },
  key: SealKey,
  { tenant = 'acme', patterns = ['*'] }: { readonly tenant?: string; readonly patterns?: readonly string[] } = {},
): Promise<LaneAgent> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const executionId = randomUUID();
  const now = Math.floor(Date.now() / 1_000);
  const claims = { jti: randomUUID(), scp: 'default', tenant_id: tenant, iat: now, exp: now + 3_600 };
  const token = await issueToken(key, claims);
  const made = await fetch(`${gateway.url}/v1/seal/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      execution_id: executionId,
      agent_id: 'desk',
      security_context: 'default',
      public_key_b64: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
      security_token: token,
      allowed_tool_patterns: patterns,
    }),
  });
  if (made.status !== 200) throw new Error(await made.text());
  const sign: LaneAgent['sign'] = (args, tool = 'orders.get') => {
    const call = { executionId, token, tool, arguments: args, id: randomUUID(), now: Date.now() };
    return JSON.stringify(signEnvelope(privateKey, call));
  };
  return {
    token,
    sign,
    async call(args, tool) {
      const response = await fetch(`${gateway.url}/v1/invoke`, { method: 'POST', body: sign(args, tool) });
      const text = await response.text();
      const { result } = JSON.parse(text) as { result?: { content: { text: string }[]; isError: boolean } };
      const headers = [...response.headers].map((pair) => pair.join(': '));
      return {
        status: response.status,
        headers,
        text,
        content: result?.content[0]?.text ?? '',
        isError: result?.isError,
      };
    },
  };
}
