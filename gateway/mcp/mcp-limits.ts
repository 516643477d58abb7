/** Bounds of what MCP clients get in one answer. */
export const mcpLimits = {
  /** Tools of one page of `tools/list`, and bytes of their descriptions and schemas as JSON. */
  toolsPerPage: 200,
  pageBytes: 1_048_576,
} as const;
