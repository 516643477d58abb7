import { describe, expect, it } from 'vitest';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import { systemClock } from '../../lib/clock.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { builtinCallsService, builtinStopService } from '../../lib/tools/remote.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import type { ToolAnswer, ToolCaller } from '../../lib/tools/tool.ts';
import { serveBuiltinTools } from './serve-builtin.ts';

type Handler = Parameters<EventBus['serve']>[1];

const { signal } = new AbortController();
const sent = (body: string) => ({ body: Buffer.from(body), signal }) as never;

/** Messages that the gateway can send, and the callers that a tool ran for. */
function served(runningCaller: () => Promise<ToolCaller | undefined>) {
  const handlers = new Map<string, Handler>();
  const ran: ToolCaller[] = [];
  const run = async (caller: ToolCaller): Promise<ToolAnswer> => {
    ran.push(caller);
    return { content: 'done', isError: false };
  };
  serveBuiltinTools({
    clock: systemClock,
    bus: {
      serve: ({ service }, handler) => {
        handlers.set(service, handler);
        return { ready: Promise.resolve(), close: async () => undefined };
      },
    },
    toolbox: createToolbox({ builtin_dispatchers: [] }, { 'svc.tools.list': { kind: 'api', run } }),
    tenants: { namespaceOf: (tenant) => `tenant-${tenant}` },
    runningCaller,
  });
  return { ran, send: async (service: string, body: string) => handlers.get(service)?.(sent(body)) };
}

const callOf = (tool: string, more: object) =>
  JSON.stringify({
    invocation_id: 'i-1',
    tool,
    args: {},
    tenant: 'acme',
    execution_id: 'e-1',
    subject: 'agent:coder',
    security: {},
    ...more,
  });

/** The answer to the gateway for a call of a session whose execution runs for this caller. */
async function answered(
  running: ToolCaller | undefined,
  tool: string,
  more: object = { registered: false },
): Promise<{ answer: ToolAnswer; ran: readonly ToolCaller[] }> {
  const { ran, send } = served(async () => running);
  const text = await send(builtinCallsService, callOf(tool, more));
  return { answer: JSON.parse(String(text)) as ToolAnswer, ran };
}

describe('a built-in tool that the gateway calls', () => {
  it('runs with the rights of the agent, or of the session', async () => {
    for (const caller of [aToolCaller(), undefined]) {
      const { answer, ran } = await answered(caller, 'svc.tools.list');
      expect([answer, ran]).toMatchObject([
        { content: 'done', isError: false },
        [{ subject: caller?.subject ?? 'agent:coder' }],
      ]);
    }
  });

  it.each([
    ['an operator made', { registered: true }],
    ['an older gateway names without its maker', {}],
  ])('never runs with the rights of the agent in a session that %s', async (_session, more) => {
    const running = aToolCaller({ spec: { tools: [] } });
    const { answer, ran } = await answered({ ...running, subject: 'ada' }, 'svc.tools.list', more);
    expect(answer).toEqual({ content: 'done', isError: false });
    expect(ran).toEqual([
      { tenant: 'acme', namespace: 'tenant-acme', subject: 'agent:coder', security: {}, scopes: [], mounts: [] },
    ]);
  });

  it('GW-SESS-10 does not run where the gateway has given the call up before', async () => {
    const released = Promise.withResolvers<ToolCaller>();
    const { ran, send } = served(() => released.promise);
    const call = send(builtinCallsService, callOf('svc.tools.list', { registered: false }));
    await send(builtinStopService, 'i-1');
    released.resolve(aToolCaller());
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    expect(ran).toEqual([]);
  });

  it('does not run where a person must approve it', async () => {
    const caller = aToolCaller({ spec: { tools: [{ name: 'svc.*' }], approval: { tools: ['svc.*'] } } });
    const { answer, ran } = await answered(caller, 'svc.tools.list');
    expect([answer.isError, answer.content, ran]).toEqual([true, expect.stringMatching(/^ApprovalRequired: /), []]);
  });

  it('does not run where the agent does not name it', async () => {
    const { answer, ran } = await answered(aToolCaller({ spec: { tools: [] } }), 'svc.tools.list');
    expect([answer.content, ran]).toEqual([expect.stringMatching(/^ToolNotAllowed: /), []]);
  });
});
