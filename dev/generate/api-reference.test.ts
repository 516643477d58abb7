import { describe, expect, it } from 'vitest';
import { apiReference, gatewayReference } from './api-reference.ts';

const callOf = (page: string, path: string): string =>
  page.split('```').find((block) => block.startsWith('sh\n') && block.includes(`"$SERVER${path}"`)) ?? '';

describe('the example of an operation', () => {
  it('GW-OP-01 of POST /v1/mcp sends what vouches for one message, and the message', () => {
    const call = callOf(gatewayReference(), '/v1/mcp');
    for (const header of ['Authorization: Bearer', 'Seal-Execution-Id:', 'Seal-Timestamp:', 'Seal-Signature:'])
      expect(call).toContain(`-H "${header} $`);
    expect(call).toContain('"method":"tools/list"');
    expect(call).not.toContain('X-Svc-Signature');
  });

  it.each([
    ['an envelope, whose proof it holds', gatewayReference(), '/v1/invoke', '@envelope.json'],
    ['a webhook', apiReference(), '/v1/webhooks/<source>', '-H "X-Svc-Signature: sha256=$DIGEST"'],
    ['a management operation', gatewayReference(), '/v1/tools', '-H "Authorization: Bearer $TOKEN"'],
  ])('of %s has its own proof', (_title, page, path, want) => {
    const call = callOf(page, path);
    expect(call).toContain(want);
    expect(call.match(/Authorization|X-Svc-Signature|Seal-/g) ?? []).toHaveLength(want.startsWith('@') ? 0 : 1);
  });
});
