import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aborted } from '../../../lib/aborted.ts';
import type { AuditEntry, BusEvent } from '../../../lib/bus/index.ts';
import {
  type CallsUnderWay,
  createCallsUnderWay,
  createEnvelopeProof,
  createProofPool,
  createVouch,
  envelopeErrors,
  sessionKey,
} from '../../../lib/envelope/index.ts';
import { AppError } from '../../../lib/errors.ts';
import type { ToolCaller, ToolRefusal } from '../../../lib/tools/tool.ts';
import { createToolbox, type ToolRuns } from '../../../lib/tools/toolbox.ts';
import { aToolCaller } from '../../../test/builders/tool-caller.ts';
import { startTestServer, type TestServer } from '../../../test/support/http-server.ts';
import { aSealWorld, aSigner } from '../../../test/support/seal-world.ts';
import type { ContainerCall } from '../../agents/pods/container-calls.ts';
import { createSealInvokeRoutes } from './invoke.ts';

let server: TestServer;
let base: ReturnType<typeof aSealWorld>;
let signer: ReturnType<typeof aSigner>;
let token: string;
/** Calls that went to the container. */
let ran: ContainerCall[];
let containerProblem: ToolRefusal | undefined;
/** The wait of the container, with the signal of the call. */
let inContainer: (signal: AbortSignal) => Promise<void>;
let underWay: CallsUnderWay;
let raised: BusEvent[];
let audited: AuditEntry[];
let caller: ToolCaller | undefined;

const runs: ToolRuns = {
  'svc.tools.list': { kind: 'api', run: async (_caller, args) => ({ content: JSON.stringify(args), isError: false }) },
  'svc.agent.list': { kind: 'api', run: async () => Promise.reject(new Error('the secret of the database')) },
  'svc.task.list': {
    kind: 'api',
    run: async () => Promise.reject(new AppError('unavailable', 'nats://10.0.0.1 is away')),
  },
  'svc.workflow.run': { kind: 'api', run: (...asked) => endless.run(...asked) },
  'svc.workflow.list': { kind: 'api', run: (...asked) => endless.run(...asked) },
};

/** A tool that runs until its caller gives it up. */
const endless: Extract<ToolRuns[string], { kind: 'api' }> = {
  kind: 'api',
  run: async (_caller, _args, signal) => {
    begun.resolve();
    await aborted(signal);
    throw signal.reason;
  },
};
let begun: PromiseWithResolvers<void>;

/** Status and code of every refusal. */
const refused: [status: number, code: number][] = [];
let counted: Record<string, number>;
/** Names of tools of which it was asked whether a judge looks at them. */
let judged: string[];

async function serve(take: (tenant: string) => Promise<void> = async () => undefined): Promise<void> {
  const prove = createEnvelopeProof(base);
  const proofs = createProofPool(base);
  const toolbox = createToolbox({ builtin_dispatchers: [] }, runs);
  const routes = createSealInvokeRoutes({
    audit: { record: (entry) => void audited.push(entry) },
    clock: base.clock,
    prove,
    admission: underWay,
    vouch: createVouch({ ...base, proofs }),
    proofs,
    rateLimit: { take },
    toolbox: {
      ...toolbox,
      isJudged: (tool) => {
        judged.push(tool.name);
        return toolbox.isJudged(tool);
      },
    },
    calls: { take: async ({ execution_id: id }, most) => (counted[id] = (counted[id] ?? 0) + 1) <= most },
    callerOf: async ({ tenant }) => caller && { ...caller, tenant },
    events: { raise: (event) => void raised.push(event) },
    newId: () => 'id',
    // The channel itself is proved with drivers, in api/agents/pods/container-calls.test.ts.
    container: {
      problem: () => containerProblem,
      run: async (call, signal) => {
        ran.push(call);
        await inContainer(signal);
        return call.tool === 'fs.read'
          ? { content: 'NOT_FOUND: no file', isError: true }
          : { content: '{"stdout":"a"}', isError: false };
      },
    },
  });
  server = await startTestServer(routes.map(({ caller: _caller, ...route }) => route));
}

beforeEach(async () => {
  base = aSealWorld();
  signer = aSigner();
  token = (await base.begin(signer)).security_token;
  begun = Promise.withResolvers();
  ran = [];
  raised = [];
  containerProblem = undefined;
  inContainer = async () => undefined;
  underWay = createCallsUnderWay(base.clock);
  counted = {};
  judged = [];
  audited = [];
  const config = { subcommand_allowlist: { ls: [] } };
  const tools = [{ name: 'cmd', config }, { name: 'fs.*' }, { name: 'svc.*' }];
  caller = aToolCaller({ spec: { tools }, security: { deny_list: ['fs.delete'] } });
  await serve();
});
afterEach(() => server.close());

const call = (name: string, args?: unknown, id: unknown = 7) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});
const envelope = (payload: unknown) => signer.sign({ token, timestamp: base.seconds(), payload });

async function post(body: unknown, path = '/v1/seal/invoke'): Promise<[status: number, body: unknown]> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${server.url}${path}`, { method: 'POST', body: text });
  const answer = (await response.json()) as { readonly error?: { readonly code: number } };
  if (answer.error !== undefined) refused.push([response.status, answer.error.code]);
  return [response.status, answer];
}
/** Execution and reason of each event of a refused call. */
const refusedEvents = () =>
  audited.flatMap(({ type, subject, data }) => (type === 'ToolInvocationRefused' ? [[subject, data?.['reason']]] : []));
const refusal = (code: number, message: unknown, data: unknown = null, id: object = { id: 7 }) => ({
  jsonrpc: '2.0',
  ...id,
  error: { code, message, data },
});

describe('POST /v1/seal/invoke', () => {
  it.each(['/v1/seal/invoke', '/v1/invoke'])('GW-INV-01 %s runs a tool', async (path) => {
    expect(await post(envelope(call('svc.tools.list', { a: 1 })), path)).toEqual([
      200,
      { jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: '{"a":1}' }], isError: false } },
    ]);
  });

  it('TOOL-CMD-02 runs a command in the container of the execution', async () => {
    const [status, body] = await post(envelope(call('cmd.run', { command: 'ls' })));
    expect([status, body]).toMatchObject([
      200,
      { result: { isError: false, content: [{ text: expect.stringContaining('"stdout":"a"') }] } },
    ]);
    expect(ran).toMatchObject([{ tool: 'cmd.run', args: { command: 'ls' }, caller: { executionId: 'e-1' } }]);
  });

  it('TOOL-RULE-03 no judge looks at a call, although the manifest of the agent has one', async () => {
    const tools = [{ name: 'cmd', config: { subcommand_allowlist: { ls: [] } } }];
    caller = aToolCaller({ spec: { tools, execution: { tool_validation: { enabled: true } } } });
    expect((await post(envelope(call('cmd.run', { command: 'ls' }))))[0]).toBe(200);
    expect(ran).toHaveLength(1);
    expect(judged).toEqual([]);
  });

  it.each(['cmd', 'cmd.*', '*'])(
    'a call that a person must approve (%s) is refused, and nothing runs',
    async (pattern) => {
      const tools = [{ name: 'cmd', config: { subcommand_allowlist: { ls: [] } } }];
      caller = aToolCaller({ spec: { tools, approval: { tools: [pattern] } } });
      expect(await post(envelope(call('cmd.run', { command: 'ls' })))).toEqual([
        403,
        refusal(-32_000, expect.stringMatching(/^ApprovalRequired: /)),
      ]);
      expect(ran).toEqual([]);
    },
  );

  it.each([
    ['svc.workflow.run', [200, { result: { isError: true } }], /OutcomeUnknown: .*may have run/],
    ['svc.workflow.list', [503, { error: { code: -32_603 } }], /try again/],
  ] as const)('a replica that stops says of %s whether it can be called again', async (name, want, text) => {
    const answer = post(envelope(call(name, { name: 'build' })));
    await begun.promise;
    server.app.abandon();
    expect(await answer).toMatchObject(want);
    expect(JSON.stringify(await answer)).toMatch(text);
  });

  it('AMB-130 a failure of the tool is a result', async () => {
    expect(await post(envelope(call('fs.read', { path: 'a' })))).toEqual([
      200,
      { jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: 'NOT_FOUND: no file' }], isError: true } },
    ]);
  });

  it.each<[string, object, number, object]>([
    [
      'GW-INV-22 GW-INV-28 a missing argument',
      call('fs.read', {}),
      422,
      refusal(-32_602, "Invalid tool arguments: required field 'path' is missing or null for tool 'fs.read'"),
    ],
    [
      'GW-INV-22 an argument that is null',
      call('fs.read', { path: null }),
      422,
      refusal(-32_602, expect.stringContaining("'path' is missing or null")),
    ],
    [
      'AMB-131 policy before arguments',
      call('fs.delete', {}),
      403,
      refusal(-32_000, expect.stringMatching(/^PERMISSION_DENIED: /)),
    ],
    [
      'GW-INV-25 a tool that is not permitted',
      call('web.fetch', { url: 'http://a' }),
      403,
      refusal(-32_000, expect.stringMatching(/^ToolNotAllowed: /)),
    ],
    [
      'GW-INV-25 a command that is not permitted',
      call('cmd.run', { command: 'rm' }),
      403,
      refusal(-32_000, expect.stringMatching(/^CommandNotAllowed: /)),
    ],
    [
      'GW-INV-25 a path outside',
      call('fs.read', { path: '/etc/passwd' }),
      403,
      refusal(-32_000, expect.stringMatching(/^PathOutsideBoundary: /)),
    ],
    ['AMB-130 an unknown tool', call('fs.format', {}), 403, refusal(-32_000, expect.stringMatching(/^UnknownTool: /))],
    [
      'GW-INV-26 an error of no known kind',
      call('svc.agent.list', {}),
      500,
      refusal(-32_603, 'something is wrong with the service; its log tells more'),
    ],
    [
      'a bus that is away',
      call('svc.task.list', {}),
      503,
      refusal(-32_603, 'something that this needs cannot be reached; try again'),
    ],
  ])('%s', async (_what, payload, status, want) => {
    expect(await post(envelope(payload))).toEqual([status, want]);
    expect(ran).toEqual([]);
  });

  it('GW-INV-23 GW-INV-27 a malformed envelope is 400, a JSON-RPC error with the id that can be read', async () => {
    const message = expect.stringMatching(/^Malformed envelope: /) as string;
    const want = [400, refusal(-32_600, message, null, {})];
    expect(await post('{"protocol":')).toEqual(want);
    expect(await post('')).toEqual(want);
    expect(await post(envelope({ ...call('x'), params: {} }))).toEqual([400, refusal(-32_600, message)]);
  });

  it('GW-INV-24 AMB-003 a bad signature is 401 with 1004', async () => {
    const other = aSigner().sign({ token, timestamp: base.seconds(), payload: call('svc.tools.list') });
    expect(await post(other)).toEqual([401, refusal(-32_000, 'signature verification failed', { code: 1_004 })]);
  });

  it('GW-INV-16 GW-INV-20 AMB-003 a stale timestamp is 401 with 1003', async () => {
    const old = signer.sign({ token, timestamp: base.seconds() - 31, payload: call('svc.tools.list') });
    expect(await post(old)).toEqual([401, refusal(-32_000, 'timestamp outside freshness window', { code: 1_003 })]);
  });

  it('GW-INV-17 a replay is 401, and runs nothing', async () => {
    const once = envelope(call('cmd.run', { command: 'ls' }));
    expect((await post(once))[0]).toBe(200);
    expect(await post(once, '/v1/invoke')).toEqual([401, refusal(-32_000, expect.stringContaining('made before'))]);
    expect(ran).toHaveLength(1);
  });

  it('GW-INV-24 an expired session is 401; GW-INV-25 an inactive one is 403', async () => {
    await base.clock.advance(3_600_000);
    expect(await post(envelope(call('svc.tools.list')))).toEqual([
      401,
      refusal(-32_000, expect.stringContaining('expired')),
    ]);
    await base.sessions.revoke({ tenant: 'acme', execution_id: 'e-1' });
    expect(await post(envelope(call('svc.tools.list')))).toEqual([
      403,
      refusal(-32_000, expect.stringContaining('not active')),
    ]);
  });

  it('GW-INV-25 the session that an operator made for a running execution is 403, and runs nothing', async () => {
    const made = await base.sessions.find({ tenant: 'acme', execution_id: 'e-1' });
    if (made === undefined) throw new Error('the attestation made no session');
    await base.sessions.register({ ...made, execution_id: 'e-2', pod_uid: '', registered: 'digest' }, base.clock.now());
    const signed = signer.sign({
      token,
      timestamp: base.seconds(),
      payload: call('svc.tools.list'),
      executionId: 'e-2',
    });
    expect(await post(signed)).toEqual([403, refusal(-32_000, expect.stringMatching(/^OperatorSession: /))]);
    expect(refusedEvents()).toEqual([['e-2', 'OperatorSession']]);
  });

  it('GW-INV-25 the session of an execution that runs no more is 403', async () => {
    caller = undefined;
    expect(await post(envelope(call('svc.tools.list')))).toEqual([
      403,
      refusal(-32_000, expect.stringContaining('does not run')),
    ]);
  });

  it('design §12 tells of the intent and the outcome of calls that run, without their arguments', async () => {
    await post(envelope(call('svc.tools.list', { password: 'hunter2' })));
    await post(envelope(call('svc.agent.list', {})));
    await post(envelope(call('fs.format', {})));
    expect(audited.map(({ type, data }) => [type, data])).toEqual([
      ['ToolInvoked', { tool: 'svc.tools.list' }],
      ['ToolInvocationEnded', { tool: 'svc.tools.list', outcome: 'ok' }],
      ['ToolInvoked', { tool: 'svc.agent.list' }],
      ['ToolInvocationEnded', { tool: 'svc.agent.list', outcome: 'error' }],
      ['ToolInvocationRefused', { tool: 'fs.format', execution_id: 'e-1', reason: 'UnknownTool' }],
    ]);
    expect(JSON.stringify(audited)).not.toContain('hunter2');
  });

  it('AMB-195 counts calls to max_calls of the SecurityContext: the last is answered, the next is refused', async () => {
    caller = caller && { ...caller, security: { max_calls: 2 } };
    const answers = [];
    for (let id = 1; id <= 3; id += 1) answers.push(await post(envelope(call('svc.tools.list', {}, id))));
    expect(answers.map(([status]) => status)).toEqual([200, 200, 403]);
    expect(answers[2]?.[1]).toMatchObject({ error: { message: expect.stringContaining('max_calls') as string } });
  });

  it('TOOL-CMD-02 one whose execution has no container is refused in words of its own, and is not counted', async () => {
    caller = caller && { ...caller, security: { max_calls: 1 } };
    containerProblem = { kind: 'policy', code: 'NoContainer', message: 'cmd.run runs in the container' };
    expect(await post(envelope(call('cmd.run', { command: 'ls' })))).toEqual([
      403,
      refusal(-32_000, 'NoContainer: cmd.run runs in the container'),
    ]);
    expect([ran, refusedEvents(), counted]).toEqual([[], [['e-1', 'NoContainer']], {}]);
    expect((await post(envelope(call('svc.tools.list'))))[0]).toBe(200);
  });

  it('GW-SESS-10 a revocation waits for a command in the container, which cannot be called back', async () => {
    const order: string[] = [];
    const released = Promise.withResolvers<void>();
    inContainer = async (signal) => {
      begun.resolve();
      await released.promise;
      order.push(`the command ended, ${signal.aborted ? 'given up' : 'not given up'}`);
    };
    const answer = post(envelope(call('cmd.run', { command: 'ls' })));
    await begun.promise;
    const drained = underWay.drained(sessionKey({ tenant: 'acme', execution_id: 'e-1' }), 8_000);
    const revoked = drained.then(() => void order.push('revoked'));
    await base.clock.advance(8_000);
    released.resolve();
    expect((await answer)[0]).toBe(200);
    await revoked;
    expect(order).toEqual(['the command ended, not given up', 'revoked']);
  });

  it('GW-SESS-10 GW-INV-25 a tool of the API that outlasts the revocation is given up, with 403', async () => {
    const answer = post(envelope(call('svc.workflow.list')));
    await begun.promise;
    const drained = underWay.drained(sessionKey({ tenant: 'acme', execution_id: 'e-1' }), 8_000);
    await base.clock.advance(8_000);
    await drained;
    const message = expect.stringContaining('the session was revoked');
    expect(await answer).toEqual([403, refusal(-32_000, message, { error: 'OutcomeUnknown' })]);
  });

  it('AMB-199 of a file that the policy refuses is a denied StorageEvent', async () => {
    const mounts = [{ path: '/data', writable: true, volume: 'data' }];
    caller = aToolCaller({ mounts, security: { deny_list: ['/data/secret'] } });
    expect((await post(envelope(call('fs.read', { path: '/data/secret/a' }))))[0]).toBe(403);
    expect(raised).toMatchObject([{ type: 'StorageEvent', data: { outcome: 'denied', path: '/secret/a' } }]);
  });

  it('AMB-057 counts proved calls alone to the share of their tenant', async () => {
    await server.close();
    const taken: string[] = [];
    await serve(async (tenant) => {
      if (taken.push(tenant) === 2) throw new AppError('limit_exceeded', 'too many');
    });
    const forged = aSigner().sign({ token, timestamp: base.seconds(), payload: call('svc.tools.list') });
    expect((await post(forged))[0]).toBe(401);
    expect(taken).toEqual([]);
    expect((await post(envelope(call('svc.tools.list', {}, 1))))[0]).toBe(200);
    expect(await post(envelope(call('svc.tools.list', {}, 2)))).toMatchObject([429, { error: { code: -32_000 } }]);
    expect(taken).toEqual(['acme', 'acme']);
  });
});

it('GW-INV-22 GW-INV-25 each refusal above is described by the contract of the operation', () => {
  const described = envelopeErrors.map(({ status, rpc }) => [status, rpc]);
  expect(refused.length).toBeGreaterThan(5);
  for (const pair of refused) expect(described).toContainEqual(pair);
});

describe('the events of refused calls', () => {
  const waiting = {
    tools: [{ name: 'cmd', config: { subcommand_allowlist: { ls: [] } } }],
    approval: { tools: ['cmd.*'] },
  };
  const eventsOf = (type: AuditEntry['type']) => audited.filter((entry) => entry.type === type);

  it.each<[string, string, () => unknown]>([
    ['ToolNotAllowed', 'web.fetch', () => undefined],
    ['InvalidArguments', 'fs.read', () => undefined],
    ['ApprovalRequired', 'cmd.run', () => (caller = aToolCaller({ spec: waiting }))],
    ['MaxCallsExceeded', 'svc.tools.list', () => (caller = caller && { ...caller, security: { max_calls: 0 } })],
    ['session_inactive', 'svc.tools.list', () => (caller = undefined)],
  ])('GW-INV-25 of a proved one says %s of %s, once', async (reason, tool, prepare) => {
    prepare();
    await post(envelope(call(tool, { command: 'ls', url: 'http://a' })));
    expect(audited).toEqual([
      {
        type: 'ToolInvocationRefused',
        by: { subject: 'e-1', tenant: 'acme' },
        subject: 'e-1',
        data: { tool, execution_id: 'e-1', reason },
      },
    ]);
  });

  it('GW-SESS-08 of a tool outside the session, of a stale call and of a replay name the agent', async () => {
    const narrow = await base.begin(signer, { execution_id: 'e-3', allowed_tool_patterns: ['svc.*'] });
    const signed = (tool: string, age = 0) => {
      const timestamp = base.seconds() - age;
      return signer.sign({ token: narrow.security_token, timestamp, payload: call(tool), executionId: 'e-3' });
    };
    const once = signed('svc.tools.list');
    for (const sent of [once, once, signed('svc.tools.list', 31), signed('fs.read')]) await post(sent);
    expect(eventsOf('ToolInvocationRefused').map(({ by, data }) => [by.subject, data?.['reason']])).toEqual([
      ['e-3', 'replayed'],
      ['e-3', 'not_fresh'],
      ['e-3', 'out_of_session'],
    ]);
  });

  it('GW-INV-24 of an unproved one name no agent, and are ten of a session at once', async () => {
    const forged = () => aSigner().sign({ token, timestamp: base.seconds(), payload: call('svc.tools.list') });
    for (let count = 0; count < 11; count += 1) await post(forged());
    const entries = eventsOf('ToolInvocationRefused');
    expect(entries).toHaveLength(10);
    expect(entries[0]).toMatchObject({
      by: { subject: 'unproved', tenant: 'acme' },
      subject: 'e-1',
      data: { claimed_tool: 'svc.tools.list', reason: 'signature_invalid' },
    });
    await base.clock.advance(1_000);
    await post(forged());
    expect(eventsOf('ToolInvocationRefused').at(-1)?.data).toMatchObject({ left_out: 1 });
  });

  it('of a session that there is none of are none: strangers could fill the record', async () => {
    await post(signer.sign({ token, timestamp: base.seconds(), payload: call('svc.tools.list'), executionId: 'none' }));
    expect(audited).toEqual([]);
  });

  it('GW-TEN-07 GW-EVT-07 a token of another tenant than the session is one TenantMismatch of the owner', async () => {
    const rival = await base.begin(aSigner(), { tenant: 'rival', execution_id: 'e-9' });
    const foreign = { token: rival.security_token, timestamp: base.seconds(), payload: call('svc.tools.list') };
    expect((await post(signer.sign(foreign)))[0]).toBe(401);
    expect(audited).toEqual([
      {
        type: 'TenantMismatch',
        by: { subject: 'unproved', tenant: 'acme' },
        subject: 'e-1',
        data: { subject: 'unproved', asserted_tenant: 'rival', expected_tenant: 'acme' },
      },
    ]);
  });

  it('GW-TEN-04 GW-TEN-07 X-Tenant-Id of another tenant is refused with one TenantMismatch; its own is not', async () => {
    const named = async (tenant: string): Promise<number> => {
      const body = JSON.stringify(envelope(call('svc.tools.list', { tenant })));
      const headers = { 'x-tenant-id': tenant };
      return (await fetch(`${server.url}/v1/seal/invoke`, { method: 'POST', headers, body })).status;
    };
    expect([await named('acme'), await named('rival')]).toEqual([200, 403]);
    expect(eventsOf('TenantMismatch').map(({ data }) => data)).toEqual([
      { subject: 'e-1', asserted_tenant: 'rival', expected_tenant: 'acme' },
    ]);
  });

  it.each<[string, (tenant_id: string) => object]>([
    ['tenant_id', (tenant_id) => ({ ...envelope(call('svc.tools.list', { a: tenant_id })), tenant_id })],
    [
      'metadata.tenant_id',
      (tenant_id) => ({
        ...envelope(call('svc.tools.list', { b: tenant_id })),
        metadata: { execution_id: 'e-1', tenant_id },
      }),
    ],
    ['payload.tenant_id', (tenant_id) => envelope({ ...call('svc.tools.list', { a: 3 }), tenant_id })],
    [
      'payload.params.tenant_id',
      (tenant_id) => envelope({ ...call(''), params: { name: 'svc.tools.list', tenant_id } }),
    ],
    ['arguments.tenant_id', (tenant_id) => envelope(call('svc.tools.list', { tenant_id }))],
  ])(
    'GW-TEN-04 GW-TEN-07 AMB-123 %s of another tenant is refused with one TenantMismatch; its own is not',
    async (at, body) => {
      expect(await post(body('rival'))).toMatchObject([
        403,
        { error: { code: -32_000, message: expect.stringMatching(`^${at} names another tenant than the session`) } },
      ]);
      expect(audited).toEqual([
        {
          type: 'TenantMismatch',
          by: { subject: 'e-1', tenant: 'acme' },
          subject: 'e-1',
          data: { subject: 'e-1', asserted_tenant: 'rival', expected_tenant: 'acme' },
        },
      ]);
      expect((await post(body('acme')))[0]).toBe(200);
      expect(eventsOf('TenantMismatch')).toHaveLength(1);
    },
  );
});
