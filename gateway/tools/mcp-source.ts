import type { McpServers, McpServerTool } from '../../lib/mcp/index.ts';
import { unlessStopped } from './stopped-answer.ts';
import type { GatewayCallContext, GatewayCaller, GatewayTool, JsonObject, ToolSource } from './tool-source.ts';

/** Tools of the servers of the node configuration, called for the tenant of the session (ADR 0081). */
export function createMcpSource(servers: Pick<McpServers, 'list' | 'find' | 'isListed'>): ToolSource {
  return {
    *list(tenant) {
      for (const tool of servers.list(tenant)) yield toolOf(tool);
    },
    find(tenant, name) {
      const tool = servers.find(tenant, name);
      return tool && toolOf(tool);
    },
    // A server may be away for long: lists do without its tools.
    unread: (tenant, name) =>
      name === undefined || servers.isListed(tenant, name) ? undefined : 'the tools of this MCP server',
  };
}

const toolOf = (tool: McpServerTool): GatewayTool => ({
  name: tool.name,
  description: tool.description,
  input_schema: tool.input_schema,
  source: 'mcp',
  skip_judge: tool.skip_judge,
  fleet_capable: false,
  call: ({ tenant = '' }: GatewayCaller, args: JsonObject, { signal }: GatewayCallContext) =>
    unlessStopped(signal, () => tool.call(tenant, args, signal)),
});
