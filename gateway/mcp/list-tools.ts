import type { ListToolsResult } from '@modelcontextprotocol/server';
import type { Session } from '../../lib/envelope/index.ts';
import { createCursor } from '../../lib/http/paging.ts';
import { matchesAny } from '../../lib/tools/name-pattern.ts';
import type { SecurityOf } from '../lane/security-of.ts';
import { sessionProblem, type ToolRegistry } from '../tools/tool-registry.ts';
import type { GatewayTool } from '../tools/tool-source.ts';
import { mcpLimits } from './mcp-limits.ts';

export interface ListDeps {
  readonly registry: ToolRegistry;
  readonly securityOf: SecurityOf;
}

type ShownTool = ListToolsResult['tools'][number];

const cursors = createCursor(
  (name: string) => name,
  (text) => (text === '' ? undefined : text),
);

/** Tools that the session may call, by name, from `cursor` on. @throws HttpError 400 for a cursor that no list gave. */
export function listTools(deps: ListDeps, session: Session, cursor: string | undefined): ListToolsResult {
  const after = cursors.decode(cursor);
  const rows = permitted(deps, session).filter(({ name }) => after === undefined || name > after);
  const page = pageOf(rows);
  const last = page.at(-1);
  const isWhole = last === undefined || page.length === rows.length;
  return isWhole ? { tools: page } : { tools: page, nextCursor: cursors.encode(last.name) };
}

/** As a call is checked: the patterns of the session, then the policy of its security context. */
function permitted({ registry, securityOf }: ListDeps, session: Session): GatewayTool[] {
  const tenant = session.tenant === '' ? undefined : session.tenant;
  const security = securityOf(tenant, session.security_context);
  if (security === undefined) return [];
  return registry
    .list(tenant)
    .filter(
      ({ name }) =>
        matchesAny(session.allowed_tool_patterns, name) && sessionProblem(session, security, name) === undefined,
    );
}

/** At least one row, so that every list ends. */
function pageOf(rows: readonly GatewayTool[]): ShownTool[] {
  const page: ShownTool[] = [];
  let bytes = 0;
  for (const row of rows) {
    const tool = shown(row);
    bytes += Buffer.byteLength(JSON.stringify(tool));
    if (page.length > 0 && (page.length === mcpLimits.toolsPerPage || bytes > mcpLimits.pageBytes)) break;
    page.push(tool);
  }
  return page;
}

const shown = ({ name, description, input_schema }: GatewayTool): ShownTool => ({
  name,
  description,
  // The protocol wants this member, which schemas of tools have where they were checked.
  inputSchema: { ...input_schema, type: 'object' },
});
