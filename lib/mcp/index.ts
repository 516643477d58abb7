export { mcpLimits } from './limits.ts';
export { createMcpServers, type McpServers, type McpServerTool } from './mcp-servers.ts';
