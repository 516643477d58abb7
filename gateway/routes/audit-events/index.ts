import { type AuditQuery, auditLimits, createAuditRecord, noTenant } from '../../../lib/audit-chain/index.ts';
import { limits } from '../../../crds/limits.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { createCursor, createListCursor } from '../../../lib/http/paging.ts';
import { invalidField } from '../../../lib/http/request-errors.ts';
import { defineRoute, json, type Route } from '../../../lib/http/route.ts';
import { instantForm, parseInstant } from '../../../lib/instant.ts';
import type { AuditPublicKeys } from '../../audit.ts';
import type { Operator } from '../../identity/operator.ts';
import { ofOwnTenantInQuery, seesAll } from '../../identity/own-tenant.ts';
import type { Tenancy } from '../../identity/tenancy.ts';
import { listAuditCheckpoints, listAuditEvents } from './contract.ts';

interface AuditRoutesDeps {
  readonly bus: Pick<EventBus, 'stream'>;
  readonly clock: Clock;
  readonly tenancy: Pick<Tenancy, 'assertOwn'>;
  readonly auditKeys: AuditPublicKeys;
}

/** Message and events of it that were read: two numbers with a point between, for as long as readers keep `end_cursor`. */
const cursors = createCursor<NonNullable<AuditQuery['cursor']>>(
  ({ message, read }) => `${message}.${read}`,
  (text) => {
    const [, message, read] = /^(\d{1,15})\.(\d{1,6})$/.exec(text) ?? [];
    return message === undefined ? undefined : { message: Number(message), read: Number(read) };
  },
);

const checkpointCursors = createListCursor<number>('audit-checkpoints', String, (text) =>
  /^\d{1,15}$/.test(text) ? Number(text) : undefined,
);

export function createAuditEventRoutes(deps: AuditRoutesDeps): Route<Operator>[] {
  const { tenancy, auditKeys } = deps;
  const record = createAuditRecord(deps);
  const routes: Route<Operator>[] = [
    defineRoute(listAuditEvents, async ({ caller, query, signal }) => {
      const { type, limit } = query;
      const from = timeOf('from', query.from);
      const to = timeOf('to', query.to);
      const cursor = cursors.decode(query.cursor);
      const wanted = {
        tenant: tenantOf(caller, query.tenant),
        types: type === undefined ? [] : [type],
        limit: Math.min(limit, limits.pageSizeMax, auditLimits.pageEvents),
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        ...(cursor === undefined ? {} : { cursor }),
      };
      const page = await record.page(wanted, { of: caller.tenant, signal });
      const end = cursors.encode(page.end);
      return json({ items: page.events, next_cursor: page.hasMore ? end : null, end_cursor: end });
    }),
    defineRoute(listAuditCheckpoints, async ({ caller, query, signal }) => {
      const tenant = tenantOf(caller, query.tenant);
      const after = checkpointCursors.decode(query.cursor);
      const { checkpoints, next } = await record.checkpoints(tenant, { of: caller.tenant, signal }, after);
      return json({
        items: checkpoints,
        next_cursor: next === undefined ? null : checkpointCursors.encode(next),
        public_key: auditKeys.signing,
        former_public_keys: auditKeys.former,
        retained_from: (await record.retainedFrom()) ?? null,
      });
    }),
  ];
  return routes.map((route) => ofOwnTenantInQuery(tenancy, route));
}

/** An administrator without a tenant sees all, or the one that is asked for; other callers their own, or what is of none. */
const tenantOf = (caller: Operator, asked: string | undefined): string | undefined =>
  seesAll(caller) ? asked : (caller.tenant ?? noTenant);

function timeOf(field: 'from' | 'to', text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = parseInstant(text);
  if (time !== undefined) return time;
  throw invalidField(`query.${field}`, instantForm);
}
