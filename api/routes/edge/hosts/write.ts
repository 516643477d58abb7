import { limits } from '../../../../crds/limits.ts';
import type { EdgeHost, EdgeHostSpec } from '../../../../crds/schema/edge-host.ts';
import type { AuditTrail } from '../../../../lib/bus/index.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { defined } from '../../../../lib/defined.ts';
import { defineRoute, json, noContent, type Route } from '../../../../lib/http/index.ts';
import { invalidField } from '../../../../lib/http/request-errors.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import { edgeHosts as hostKind } from '../../../../lib/kinds.ts';
import type { KubeClient } from '../../../../lib/kube/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import { changeSpec } from '../change-spec.ts';
import { edgeCaller } from '../edge-caller.ts';
import { unknownHost } from '../errors.ts';
import { changeEdgeHost, revokeEdgeHost, tagEdgeHost } from './contract.ts';
import { locateHost } from './find-host.ts';
import { type RecentDeps, viewOf } from './recent.ts';

export interface WriteHostDeps extends RecentDeps {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch'>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly cluster: Pick<Cluster, 'edgeHosts'>;
  readonly audit: AuditTrail;
}

/** AMB-099: (old ∪ add) \ remove; each once, in the order in which they came. @throws HttpError 400 for too many. */
export function changedTags(
  old: readonly string[],
  { add = [], remove = [] }: { readonly add?: readonly string[]; readonly remove?: readonly string[] },
): string[] {
  const removed = new Set(remove);
  const tags = distinct([...old, ...add]).filter((tag) => !removed.has(tag));
  if (tags.length <= limits.edgeTags) return tags;
  throw invalidField('body.add', `leaves the host with ${tags.length} tags; at most ${limits.edgeTags} are allowed`);
}

/**
 * A host with tags and labels that the API server takes (`crds/schema/edge-host.ts`).
 * @throws HttpError 400 for more characters than one host may have.
 */
function withFewTexts(spec: EdgeHostSpec): EdgeHostSpec {
  const texts = [...(spec.tags ?? []), ...Object.entries(spec.labels ?? {}).map(([name, value]) => name + value)];
  const length = texts.reduce((sum, text) => sum + Array.from(text).length + limits.edgeTextCharge, 0);
  if (length <= limits.edgeTextsLength) return spec;
  throw invalidField(
    'body',
    `leaves the host with tags and labels of ${length} characters, where each counts as ${limits.edgeTextCharge} more; ` +
      `at most ${limits.edgeTextsLength} are allowed`,
  );
}

/** Each tag once, in the order in which they came. */
const distinct = (tags: readonly string[]): string[] => [...new Set(tags)];

/** spec 2 §4.3, requirements EDGE-REST-18, EDGE-REST-19. */
export function createChangeRoute(deps: WriteHostDeps): Route<Caller> {
  return defineRoute<typeof changeEdgeHost, Caller>(changeEdgeHost, async ({ params, body, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.hosts.write');
    const { name, tags } = body;
    const wanted = defined({ name, tags: tags && distinct(tags) });
    const host = await changeHost(deps, caller, params.id, (spec) => withFewTexts({ ...spec, ...wanted }));
    deps.audit.record({ type: 'EdgeHostChanged', ...auditFields(caller, host) });
    return json(await viewOf(deps, caller.tenant, host));
  });
}

/** spec 2 §4.3, requirements EDGE-REST-20, AMB-099. */
export function createTagRoute(deps: WriteHostDeps): Route<Caller> {
  return defineRoute<typeof tagEdgeHost, Caller>(tagEdgeHost, async ({ params, body, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.hosts.write');
    const host = await changeHost(deps, caller, params.id, (spec) =>
      withFewTexts({ ...spec, tags: changedTags(spec.tags ?? [], body) }),
    );
    deps.audit.record({ type: 'EdgeHostChanged', ...auditFields(caller, host) });
    return json(await viewOf(deps, caller.tenant, host));
  });
}

/** spec 2 §3 and §4.3, requirements AMB-098. The relay that holds the stream sees the change and drops it. */
export function createRevokeRoute(deps: WriteHostDeps): Route<Caller> {
  return defineRoute<typeof revokeEdgeHost, Caller>(revokeEdgeHost, async ({ params, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.hosts.write');
    const at = new Date(deps.clock.now()).toISOString();
    const host = await changeHost(deps, caller, params.id, (spec) =>
      spec.revoked === true ? spec : { ...spec, revoked: true, revoked_at: at },
    );
    deps.audit.record({ type: 'EdgeHostRevoked', act: 'revoke', ...auditFields(caller, host) });
    return noContent;
  });
}

export async function changeHost(
  deps: WriteHostDeps,
  caller: Caller,
  id: string,
  changed: (spec: EdgeHostSpec) => EdgeHostSpec,
): Promise<EdgeHost> {
  const { cluster } = deps;
  const object = await locateHost(cluster.edgeHosts, caller, id);
  const host = await changeSpec(deps, { resource: hostKind, object, change: changed, unknown: unknownHost });
  cluster.edgeHosts.remember(host);
  return host;
}

/** Neither names nor tags, which people write. */
export const auditFields = (by: Caller, { metadata }: EdgeHost) => ({
  by,
  subject: metadata.uid ?? '',
  data: { host: metadata.name },
});
