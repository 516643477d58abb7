import type { ListToolsResult } from '@modelcontextprotocol/server';
import type { SealSession } from '../../lib/envelope/index.ts';
import { createTextCursor } from '../../lib/http/paging.ts';
import { matchesAny } from '../../lib/tools/name-pattern.ts';
import { patternsOf } from '../../lib/tools/name-policy.ts';
import type { SecurityOf } from '../lane/security-of.ts';
import { permittedTools } from '../tools/permitted-tools.ts';
import { sessionProblem, type ToolRegistry } from '../tools/tool-registry.ts';
import type { GatewayTool } from '../tools/tool-source.ts';
import { withSchema } from '../tools/whole-schema.ts';

export interface ListDeps {
  readonly registry: ToolRegistry;
  readonly securityOf: SecurityOf;
}

type ShownTool = ListToolsResult['tools'][number];

const cursors = createTextCursor('mcp-tools');

/** Tools that the session may call, by name, from `cursor` on. @throws HttpError 400 for a cursor that no list gave. */
export async function listTools(
  deps: ListDeps,
  session: SealSession,
  cursor: string | undefined,
): Promise<ListToolsResult> {
  const rows = await permitted(deps, session, cursors.decode(cursor));
  const { page, last } = await pageOf(rows);
  return last === undefined ? { tools: page } : { tools: page, nextCursor: cursors.encode(last.name) };
}

/** Bounds of what MCP clients get in one answer. */
export const mcpLimits = {
  /** Tools of one page of `tools/list`, and bytes of their descriptions and schemas as JSON. */
  toolsPerPage: 200,
  pageBytes: 1_048_576,
} as const;

/** As a call is checked: the patterns of the session, then the policy of its security context. One more than a page. */
async function permitted(
  { registry, securityOf }: ListDeps,
  session: SealSession,
  after: string | undefined,
): Promise<GatewayTool[]> {
  const tenant = session.tenant === '' ? undefined : session.tenant;
  const security = securityOf(tenant, session.security_context);
  if (security === undefined) return [];
  registry.requireRead(tenant);
  const callable = registry
    .list(tenant)
    .filter(({ refusal, notReady }) => refusal === undefined && notReady === undefined);
  const rows = callable.filter(({ name }) => after === undefined || name > after);
  const { allowed_tool_patterns: allowed } = session;
  return permittedTools(rows, {
    patterns: allowed.length + patternsOf(security),
    count: mcpLimits.toolsPerPage + 1,
    isPermitted: ({ name }) => matchesAny(allowed, name) && sessionProblem(session, security, name) === undefined,
  });
}

interface ListedPage {
  readonly page: ShownTool[];
  /** The last row of the page, where there are more. */
  readonly last?: GatewayTool;
}

/** At least one row, so that every list ends. Schemas are read one after another, up to the end of the page. */
async function pageOf(rows: readonly GatewayTool[]): Promise<ListedPage> {
  const page: ShownTool[] = [];
  let bytes = 0;
  let last: GatewayTool | undefined;
  for (const row of rows) {
    if (last !== undefined && page.length === mcpLimits.toolsPerPage) return { page, last };
    const whole = await withSchema(row);
    if (whole === undefined) continue;
    const tool = shown(whole);
    bytes += Buffer.byteLength(JSON.stringify(tool));
    if (last !== undefined && bytes > mcpLimits.pageBytes) return { page, last };
    page.push(tool);
    last = row;
  }
  return { page };
}

const shown = ({ name, description, input_schema }: GatewayTool): ShownTool => ({
  name,
  description,
  // The protocol wants this member, which schemas of tools have where they were checked.
  inputSchema: { ...input_schema, type: 'object' },
});
