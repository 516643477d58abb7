import type { Tool, ToolCaller } from '../../lib/tools/tool.ts';

/** A tool of the API that answers `done` once a promise of the test resolves, and remembers the tenants that called it, sorted. */
export function waitingTool(name: string, until: (caller: ToolCaller) => Promise<void>) {
  const callers: string[] = [];
  const tool: Tool = {
    name,
    description: 'waits',
    input_schema: { type: 'object' },
    skip_judge: true,
    idempotent: true,
    fleet_capable: false,
    run: {
      kind: 'api',
      async run(caller) {
        callers.push(caller.tenant);
        await until(caller);
        return { content: 'done', isError: false };
      },
    },
  };
  return { tool, callers: () => callers.toSorted() };
}
