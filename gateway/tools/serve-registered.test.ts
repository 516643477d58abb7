import { describe, expect, it } from 'vitest';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import { busLimits } from '../../lib/bus/index.ts';
import type { BusRequest } from '../../lib/bus/request/requester.ts';
import {
  readRegisteredTools,
  type RegisteredTools,
  type RegisteredToolsQuery,
  registeredToolsService,
} from '../../lib/tools/registered.ts';
import { isSettling } from './require-accepted.ts';
import { serveRegisteredTools } from './serve-registered.ts';
import { createToolRegistry } from './tool-registry.ts';
import type { GatewayTool } from './tool-source.ts';

const tool = (name: string, source: GatewayTool['source'] = 'workflow', description = 'd'): GatewayTool => ({
  name,
  description,
  input_schema: { type: 'object' },
  source,
  skip_judge: false,
  fleet_capable: false,
  call: async () => ({ content: '', isError: false }),
});

/** The answer of the service to one question. */
async function asked(
  tools: readonly GatewayTool[],
  query: Partial<RegisteredToolsQuery> = {},
  security: SecurityContextSpec | undefined = {},
): Promise<RegisteredTools & { readonly bytes: number }> {
  const stop = new AbortController();
  const answers: Promise<string | Uint8Array>[] = [];
  const body = Buffer.from(JSON.stringify({ tenant: 'acme', security_context: 'desk', patterns: ['*'], ...query }));
  const serving = serveRegisteredTools(
    {
      registry: createToolRegistry([{ list: () => tools, find: () => undefined }]),
      securityOf: (tenant, name) => (tenant === 'acme' && name === 'desk' ? security : undefined),
      bus: {
        serve({ service }, handle) {
          if (service === registeredToolsService)
            answers.push(handle({ key: '', body, signal: stop.signal } satisfies BusRequest));
          return { ready: Promise.resolve(), close: async () => undefined };
        },
      },
    },
    stop.signal,
  );
  stop.abort();
  await serving;
  const answer = Buffer.from((await answers[0]) ?? '');
  return { ...readRegisteredTools(answer), bytes: answer.byteLength };
}

const names = ({ tools }: RegisteredTools): string[] => tools.map(({ name }) => name);

describe('the list of registered tools', () => {
  const all = [tool('orders.place'), tool('text.split', 'cli'), tool('svc.tools.list', 'builtin'), tool('x', 'mcp')];

  it('has every tool but the built-in ones', async () => {
    expect(await asked(all)).toMatchObject({ left_out: 0 });
    expect(names(await asked(all))).toEqual(['orders.place', 'text.split', 'x']);
  });

  it('has no tool that the controllers refuse', async () => {
    const refused = { ...tool('orders.broken'), notReady: 'InvalidDefinition: steps' };
    expect(names(await asked([refused, ...all]))).toEqual(['orders.place', 'text.split', 'x']);
  });

  it.each<[string, Partial<RegisteredToolsQuery>, SecurityContextSpec | undefined, string[]]>([
    ['those that the patterns name', { patterns: ['orders.*'] }, {}, ['orders.place']],
    ['those that the context permits', {}, { tools: ['text.*', 'x'], deny_list: ['x'] }, ['text.split']],
  ])('has %s', async (_title, query, security, wanted) => {
    expect(names(await asked(all, query, security))).toEqual(wanted);
  });

  it.each<[string, Partial<RegisteredToolsQuery>]>([
    ['a context that is not in the cache', { security_context: 'other' }],
    ['a tenant whose context is not in the cache', { tenant: 'other' }],
  ])('is an error for %s: without its tools an agent would do something else', async (_title, query) => {
    await expect(asked(all, query)).rejects.toMatchObject({ code: 'unavailable', reason: 'ContextUnread' });
  });

  it('is an error while a tool that the agent may call settles, and has every other one', async () => {
    const settling = { ...tool('orders.new'), notReady: 'ApiSpecNotReady: x', isSettling: true };
    const waits = asked([settling, ...all]);
    await expect(waits).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('orders.new') });
    expect(names(await asked([settling, ...all], { patterns: ['text.*'] }))).toEqual(['text.split']);
    const broken = { ...settling, isSettling: false };
    expect(names(await asked([broken, ...all]))).toEqual(['orders.place', 'text.split', 'x']);
  });

  it.each([
    ['ApiSpecNotReady', 10_000, true],
    ['WorkflowPending', 10_000, true],
    ['WorkflowPending', 60_000, false],
    ['InvalidDefinition', 10_000, false],
  ])('waits for an object with the verdict %s of %i ms ago: %s', (reason, age, want) => {
    const since = new Date(1_000_000_000 - age).toISOString();
    const ready = { type: 'Ready', status: 'False', reason, message: 'm', lastTransitionTime: since };
    const object = { metadata: {}, status: { conditions: [ready] } };
    expect(isSettling(object as never, 1_000_000_000)).toBe(want);
  });

  it('counts what it leaves out: beyond 128 tools, and beyond one message of the bus', async () => {
    const many = Array.from({ length: 200 }, (_, index) => tool(`t${String(index).padStart(3, '0')}`));
    expect(await asked(many)).toMatchObject({ left_out: 72 });
    const large = Array.from({ length: 100 }, (_, index) => tool(`t${index}`, 'workflow', 'ü'.repeat(4_000)));
    const answer = await asked(large);
    expect(answer.bytes).toBeLessThanOrEqual(busLimits.requestBytes);
    expect([answer.tools.length + answer.left_out, answer.left_out > 30]).toEqual([100, true]);
  });
});
