import { limits } from '../../../crds/limits.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { createTextCursor, pageOf } from '../../../lib/http/paging.ts';
import { readPage } from '../../../lib/http/read-page.ts';
import { defineRoute, json, type Route } from '../../../lib/http/route.ts';
import { contextProblem, patternsOf } from '../../../lib/tools/name-policy.ts';
import type { Searches } from '../../../lib/word-search.ts';
import type { Operator } from '../../identity/operator.ts';
import type { SecurityOf } from '../../lane/security-of.ts';
import { permittedTools } from '../../tools/permitted-tools.ts';
import type { ToolRegistry } from '../../tools/tool-registry.ts';
import type { GatewayTool } from '../../tools/tool-source.ts';
import { withSchema } from '../../tools/whole-schema.ts';
import { listTools } from './contract.ts';

interface ToolRoutesDeps {
  readonly registry: ToolRegistry;
  readonly securityOf: SecurityOf;
  readonly searches: Searches;
}

const nameCursor = createTextCursor('tools');
const order = {
  keyOf: ({ name }: GatewayTool) => name,
  compare: (a: string, b: string): number => (a < b ? -1 : Number(a > b)),
};

/** The unified listing (spec 3 §4.1, requirements AMB-196). */
export function createToolRoutes({ registry, searches, securityOf }: ToolRoutesDeps): Route<Operator>[] {
  return [
    defineRoute<typeof listTools, Operator>(listTools, async ({ caller, query }) => {
      const { q, source, security_context: context, limit, cursor } = query;
      const security = context === undefined ? undefined : securityOf(caller.tenant, context);
      if (context !== undefined && security === undefined)
        throw new HttpError({
          code: 'not_found',
          message: `security_context: there is no security context ${context}; GET /v1/security-contexts lists them`,
        });
      registry.requireRead(caller.tenant);
      const after = nameCursor.decode(cursor);
      const rows = registry
        .list(caller.tenant)
        .filter((tool) => after === undefined || tool.name > after)
        .filter((tool) => source === undefined || tool.source === source);
      const by = { tenant: caller.tenant ?? '', words: q };
      const found = await searches.rowsHolding(by, rows, ({ name, description }) => `${name} ${description}`);
      const permitted = await permittedTools(found, {
        patterns: security === undefined ? 0 : patternsOf(security),
        count: Math.min(limit, limits.pageSizeMax) + 1,
        isPermitted: ({ name }) => security === undefined || contextProblem(security, name) === undefined,
      });
      const page = pageOf(permitted, order, { limit, after });
      const { items, cutAfter } = await readPage(page.rows, withSchema);
      const next = cutAfter?.name ?? page.next;
      return json({ items: items.map(shown), next_cursor: next === undefined ? null : nameCursor.encode(next) });
    }),
  ];
}

const shown = ({ name, description, input_schema, source, skip_judge, fleet_capable, notReady }: GatewayTool) => ({
  name,
  description,
  input_schema,
  source,
  skip_judge,
  fleet_capable,
  ...(notReady !== undefined && { not_ready: notReady }),
});
