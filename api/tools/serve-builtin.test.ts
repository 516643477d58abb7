import { describe, expect, it } from 'vitest';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import { systemClock } from '../../lib/clock.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { builtinCallsService } from '../../lib/tools/remote.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import type { ToolAnswer, ToolCaller } from '../../lib/tools/tool.ts';
import { serveBuiltinTools } from './serve-builtin.ts';

type Handler = Parameters<EventBus['serve']>[1];

/** The answer to the gateway for a call of a session whose execution runs for this caller. */
async function answered(running: ToolCaller | undefined, tool: string): Promise<{ answer: ToolAnswer; ran: number }> {
  const handlers = new Map<string, Handler>();
  let ran = 0;
  const run = async (): Promise<ToolAnswer> => {
    ran += 1;
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
    runningCaller: async () => running,
  });
  const call = {
    invocation_id: 'i-1',
    tool,
    args: {},
    tenant: 'acme',
    execution_id: 'e-1',
    subject: 'agent:coder',
    security: {},
  };
  const signal = new AbortController().signal;
  const text = await handlers.get(builtinCallsService)?.({ body: Buffer.from(JSON.stringify(call)), signal } as never);
  return { answer: JSON.parse(String(text)) as ToolAnswer, ran };
}

describe('a built-in tool that the gateway calls', () => {
  it('runs with the rights of the agent, or of the session', async () => {
    for (const caller of [aToolCaller(), undefined]) {
      expect(await answered(caller, 'svc.tools.list')).toEqual({ answer: { content: 'done', isError: false }, ran: 1 });
    }
  });

  it('does not run where a person must approve it', async () => {
    const caller = aToolCaller({ spec: { tools: [{ name: 'svc.*' }], approval: { tools: ['svc.*'] } } });
    const { answer, ran } = await answered(caller, 'svc.tools.list');
    expect([answer.isError, answer.content, ran]).toEqual([true, expect.stringMatching(/^ApprovalRequired: /), 0]);
  });

  it('does not run where the agent does not name it', async () => {
    const { answer, ran } = await answered(aToolCaller({ spec: { tools: [] } }), 'svc.tools.list');
    expect([answer.content, ran]).toEqual([expect.stringMatching(/^ToolNotAllowed: /), 0]);
  });
});
