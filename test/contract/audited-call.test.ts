import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { laneTool } from '../../dev/bench/lane-setup.ts';
import { chainSource } from '../../dev/bench/noop-lane/chain-source.ts';
import { createInvoke, type InvokeDeps } from '../../gateway/lane/invoke.ts';
import { createToolRegistry } from '../../gateway/tools/tool-registry.ts';
import type { GatewayTool } from '../../gateway/tools/tool-source.ts';
import { aborted } from '../../lib/aborted.ts';
import { unlinkedEvent, writtenEvent } from '../../lib/audit-chain/chained-event.ts';
import type { GatewayEvent } from '../../lib/audit-chain/index.ts';
import { TenantChain } from '../../lib/audit-chain/tenant-chain.ts';
import { systemClock } from '../../lib/clock.ts';
import { createCallsUnderWay, type Envelope } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { sealSession } from '../support/seal-session.ts';

const session = sealSession();
const envelope = {
  named: [],
  tool: 't',
  arguments: {},
  session: { tenant: 'acme', execution_id: 'run-1' },
} as unknown as Envelope;

const tool = (more: Partial<GatewayTool>): GatewayTool => ({
  name: 't',
  description: '',
  input_schema: { type: 'object' },
  source: 'workflow',
  skip_judge: false,
  fleet_capable: false,
  call: async () => ({ content: '{}', isError: false }),
  ...more,
});

type Append = InvokeDeps['audit']['append'];

function invokeWith(found: GatewayTool, append: Append, { clock = systemClock, ...more }: Partial<InvokeDeps> = {}) {
  return createInvoke({
    audit: { append, problem: () => undefined, close: async () => undefined },
    calls: createCallsUnderWay(clock),
    clock,
    counter: { take: async () => true },
    prove: async () => session,
    proofs: { run: (_token, _sender, proof) => proof() },
    rateLimit: { take: async () => undefined },
    registry: createToolRegistry([{ list: () => [found], find: () => found }]),
    securityOf: () => ({}),
    tenants: { namespaceOf: (slug) => slug },
    ...more,
  } as InvokeDeps);
}

const senderOf = (signal: AbortSignal) => ({ address: '192.0.2.1', signal });
const never = () => senderOf(new AbortController().signal);

/** An audit whose events are stored, or refused, when the test says so. */
function manualAudit() {
  const events: { readonly type: string; readonly store: () => void; readonly refuse: () => void }[] = [];
  const append: Append = ({ type }) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    events.push({ type, store: resolve, refuse: () => reject(away()) });
    return promise;
  };
  return { events, append, types: () => events.map(({ type }) => type) };
}

const away = (): AppError => new AppError('unavailable', 'nothing was done', { reason: 'AuditUnavailable' });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function startUpstream(onRequest: () => void) {
  const server = createServer((_request, response) => {
    onRequest();
    response.setHeader('content-type', 'application/json').end('{"customer":"ada"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

it('a call whose time is up may have run, whatever its tool throws', async () => {
  const clock = createManualClock();
  const call: GatewayTool['call'] = async (_caller, _args, { signal }) => {
    await aborted(signal);
    throw signal.reason;
  };
  const answer = invokeWith(tool({ call }), async () => undefined, { clock })(envelope, never());
  const refused = answer.catch((error: unknown) => error);
  await clock.advance(600_000);
  expect(await refused).toMatchObject({ code: 'timeout' });
});

it('AMB-195 a call that finds no place does not count to max_calls', async () => {
  const clock = createManualClock();
  let [taken, begun] = [0, 0];
  const call: GatewayTool['call'] = async (_caller, _args, { signal }) => {
    begun += 1;
    await aborted(signal);
    throw signal.reason;
  };
  const counter = { take: async () => (taken += 1) > 0 };
  const securityOf = () => ({ max_calls: 1_000 });
  const invoke = invokeWith(tool({ call }), async () => undefined, { clock, counter, securityOf });
  const stop = new AbortController();
  const reasons: string[] = [];
  const calls = Array.from({ length: 600 }, () =>
    invoke(envelope, senderOf(stop.signal)).catch(({ reason }: AppError) => reasons.push(reason)),
  );
  await expect.poll(() => begun).toBeGreaterThan(400);
  await clock.advance(10_000);
  expect(new Set(reasons)).toEqual(new Set(['Overloaded']));
  expect([taken, begun + reasons.length]).toEqual([begun, 600]);
  stop.abort();
  await Promise.all(calls);
});

describe('a call and its audit', () => {
  it.each([true, undefined] as const)(
    'begins with a stored intent, or by a tool that awaits it: %s',
    async (awaitsIntent) => {
      const { events, append, types } = manualAudit();
      const begun: string[] = [];
      const one = tool({
        ...(awaitsIntent && { awaitsIntent }),
        async call(_caller, _args, { intent }) {
          begun.push('begun');
          await intent;
          begun.push('sent');
          return { content: '{}', isError: false };
        },
      });
      const answer = invokeWith(one, append)(envelope, never());
      await turn();
      expect([types(), begun]).toEqual([['ToolInvocationStarted'], awaitsIntent ? ['begun'] : []]);
      events[0]?.store();
      await turn();
      expect([types(), begun]).toEqual([
        ['ToolInvocationStarted', 'ToolInvocationCompleted'],
        ['begun', 'sent'],
      ]);
      events[1]?.store();
      await expect(answer).resolves.toMatchObject({ isError: false });
    },
  );

  it.each([true, undefined] as const)(
    'is refused where its intent cannot be stored, whatever the tool says: %s',
    async (awaitsIntent) => {
      const { events, append, types } = manualAudit();
      const call = () => Promise.reject(new AppError('not_found', 'the workflow was deleted'));
      const answer = invokeWith(tool({ call, ...(awaitsIntent && { awaitsIntent }) }), append)(envelope, never());
      await turn();
      events[0]?.refuse();
      await expect(answer).rejects.toMatchObject({ reason: 'AuditUnavailable' });
      expect(types()).toEqual(['ToolInvocationStarted']);
    },
  );

  it('gives its answer when the last events of the tool are stored, and an error where they cannot be', async () => {
    for (const isStored of [true, false]) {
      const { events, append } = manualAudit();
      const last = Promise.withResolvers<void>();
      const one = tool({
        async call(_caller, _args, { closing }) {
          closing?.(last.promise);
          return { content: '{}', isError: false };
        },
      });
      let isSettled = false;
      const answer = invokeWith(one, append)(envelope, never()).finally(() => (isSettled = true));
      answer.catch(() => undefined);
      await turn();
      events[0]?.store();
      await turn();
      // Its own end is stored meanwhile.
      expect(events.map(({ type }) => type)).toEqual(['ToolInvocationStarted', 'ToolInvocationCompleted']);
      events[1]?.store();
      await turn();
      expect(isSettled).toBe(false);
      if (isStored) last.resolve();
      else last.reject(away());
      const ended = await answer.then(
        ({ isError }) => isError,
        ({ reason }: AppError) => reason,
      );
      expect(ended).toBe(isStored ? false : 'AuditUnavailable');
    }
  });

  it('of a chain of one step takes two messages of the event store, and the upstream hears of it after the first', async () => {
    const order: string[] = [];
    await using upstream = await startUpstream(() => order.push('asked'));
    const stored: string[][] = [];
    const stream = {
      append: async ({ body }: { readonly body: string }) => {
        await turn();
        const types = (JSON.parse(body) as { readonly type: string }[]).map(({ type }) => type);
        stored.push(types);
        order.push(`stored ${types.length}`);
        return stored.length;
      },
      last: async () => undefined,
    };
    const parts = { stream: stream as never, lane: async () => 'lane', vouched: async () => undefined };
    const chain = new TenantChain({ ...parts, clock: systemClock }, 'acme');
    const append = (event: GatewayEvent): Promise<void> =>
      new Promise((resolve, reject) => {
        const written = writtenEvent(unlinkedEvent(event, newId(), new Date().toISOString()));
        const settle = (error?: unknown): void => (error === undefined ? resolve() : reject(error as Error));
        const end = Number.MAX_SAFE_INTEGER;
        chain.add({ id: newId(), event: written, bytes: 1, end, kept: end, late: reject, settle });
      });
    const audit = { append, problem: () => undefined, close: async () => undefined };
    const [one] = chainSource(audit, upstream.url).list('acme');
    if (one === undefined) throw new Error('no tool');
    const call = { ...envelope, tool: laneTool, arguments: { id: '7' } };
    const answer = await invokeWith(one, append)(call as Envelope, never());
    expect(answer.isError).toBe(false);
    expect(stored).toEqual([
      ['ToolInvocationStarted', 'WorkflowInvocationStarted', 'CredentialExchangeCompleted', 'WorkflowStepStarted'],
      ['WorkflowStepExecuted', 'WorkflowInvocationCompleted', 'ToolInvocationCompleted'],
    ]);
    expect(order).toEqual(['stored 4', 'asked', 'stored 3']);
  });
});
