import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAuditedRefusals } from '../../gateway/lane/lane.ts';
import { createSealInvokeRoutes } from '../../api/routes/seal/invoke.ts';
import { createInvoke } from '../../gateway/lane/invoke.ts';
import { createInvokeRoutes } from '../../gateway/routes/invoke/index.ts';
import { createToolRegistry } from '../../gateway/tools/tool-registry.ts';
import { createCallsUnderWay, createEnvelopeProof, createProofPool, createVouch } from '../../lib/envelope/index.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import { startTestServer, type TestServer } from '../support/http-server.ts';
import { aSealWorld, aSigner, type Signer } from '../support/seal-world.ts';

let base: ReturnType<typeof aSealWorld>;
let signer: Signer;
let token: string;
let lanes: Record<'api' | 'gateway', TestServer>;

const unused = async (): Promise<never> => Promise.reject(new Error('the lane has stopped the call before'));

beforeEach(async () => {
  base = aSealWorld();
  signer = aSigner();
  token = (await base.begin(signer, { allowed_tool_patterns: ['fs.*'] })).security_token;
  const rateLimit = { take: async () => undefined };
  const audit = { append: async () => undefined, problem: () => undefined, close: async () => undefined };
  const proofs = createProofPool(base);
  const invoke = createInvoke({
    audit,
    rateLimit,
    clock: base.clock,
    calls: createCallsUnderWay(base.clock),
    counter: { take: unused },
    prove: createEnvelopeProof(base),
    proofs,
    registry: createToolRegistry([]),
    securityOf: () => ({}),
    tenants: { namespaceOf: () => undefined },
  });
  const api = createSealInvokeRoutes({
    rateLimit,
    audit: { record: () => undefined },
    clock: base.clock,
    admission: createCallsUnderWay(base.clock),
    prove: createEnvelopeProof(base),
    proofs,
    vouch: createVouch({ ...base, proofs }),
    toolbox: createToolbox({ builtin_dispatchers: [] }, {}),
    calls: { take: unused },
    callerOf: unused,
    events: { raise: () => undefined },
    newId: () => 'id',
    container: { problem: () => undefined, run: unused },
  });
  lanes = {
    api: await startTestServer(api as never),
    gateway: await startTestServer(
      createInvokeRoutes({
        noteRefusal: createAuditedRefusals({ audit, clock: base.clock }),
        invoke,
        vouch: createVouch({ ...base, proofs }),
        isBypass: false,
      }) as never,
    ),
  };
});
afterEach(async () => {
  await Promise.all(Object.values(lanes).map((lane) => lane.close()));
});

const payloadOf = (name: string, id = 7) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
});

const signed = (more: object = {}, by = signer) =>
  by.sign({ token, timestamp: base.seconds(), payload: payloadOf('fs.read'), ...more });

async function post(lane: TestServer, path: string, body: object | string): Promise<[number, unknown]> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${lane.url}${path}`, { method: 'POST', body: text });
  return [response.status, await response.json()];
}

describe('the invocation lanes of the API and of the gateway', () => {
  it.each<[string, (at: number) => object | string, [status: number, code: number, data: unknown]]>([
    ['GW-INV-21 the signature of another key', () => signed({}, aSigner()), [401, -32_000, { code: 1_004 }]],
    ['GW-INV-20 an old timestamp', () => signed({ timestamp: base.seconds() - 31 }), [401, -32_000, { code: 1_003 }]],
    ['GW-INV-14 another token', () => signed({ token: 'a.b.c' }), [401, -32_000, null]],
    ['GW-INV-13 no session', () => signed({ executionId: 'e-2' }), [403, -32_000, null]],
    ['GW-INV-18 a tool of no pattern', (at) => signed({ payload: payloadOf('web.fetch', at) }), [403, -32_000, null]],
    ['GW-INV-23 no envelope', () => '{"protocol":"seal/v1"}', [400, -32_600, null]],
    ['GW-INV-27 a body that is too large', () => `{"x":"${'y'.repeat(2_097_152)}"}`, [413, -32_600, null]],
  ])('AMB-002 refuse alike, at both paths: %s', async (_title, bodyOf, [status, code, data]) => {
    const routes = Object.values(lanes).flatMap((lane) =>
      ['/v1/invoke', '/v1/seal/invoke'].map((path) => ({ lane, path })),
    );
    // Both lanes remember calls in one memory, so that each route gets a call of its own.
    const answers = await Promise.all(routes.map(({ lane, path }, at) => post(lane, path, bodyOf(at))));
    const want = { jsonrpc: '2.0', error: { code, message: messageOf(answers[0]?.[1]), data } };
    for (const [got, body] of answers) expect([got, body]).toMatchObject([status, want]);
    expect(answers).toHaveLength(4);
  });
});

const messageOf = (body: unknown): string => (body as { readonly error: { readonly message: string } }).error.message;
