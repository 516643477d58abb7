import { apiVersion } from '../../../../crds/labels.ts';
import type { EdgeGroupSpec } from '../../../../crds/schema/edge-group.ts';
import { edgeHostName } from '../../../../crds/schema/edge-host.ts';
import type { AuditTrail } from '../../../../lib/bus/index.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { nodeIdOfHost } from '../../../../lib/fleet/fleet-host.ts';
import type { RequestBodyOf } from '../../../../lib/http/contract.ts';
import { defineRoute, HttpError, json, noContent, type Route } from '../../../../lib/http/index.ts';
import { invalidField } from '../../../../lib/http/request-errors.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import type { NewId } from '../../../../lib/ids.ts';
import { edgeGroups as groupKind } from '../../../../lib/kinds.ts';
import { isConflict, type KubeClient } from '../../../../lib/kube/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import { notFound, unknownTenant } from '../../not-found.ts';
import { writeRefusal } from '../../write-refusal.ts';
import { changeSpec } from '../change-spec.ts';
import { edgeCaller } from '../edge-caller.ts';
import { unknownGroup } from '../errors.ts';
import { changeEdgeGroup, createEdgeGroup, deleteEdgeGroup } from './contract.ts';
import { presentGroup } from './present.ts';
import { hostsOf, locateGroup } from './read.ts';

export interface WriteGroupDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'jsonPatch' | 'delete'>;
  readonly cluster: Pick<Cluster, 'tenants' | 'edgeHosts' | 'edgeGroups'>;
  readonly audit: AuditTrail;
  readonly clock: Clock;
  readonly newId: NewId;
}

type Wanted = RequestBodyOf<typeof changeEdgeGroup>;

/** spec 2 §4.4, requirements EDGE-REST-23, AMB-100. */
export function createCreateRoute(deps: WriteGroupDeps): Route<Caller> {
  const { kube, cluster, audit, newId } = deps;
  return defineRoute<typeof createEdgeGroup, Caller>(createEdgeGroup, async ({ body, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.groups.write');
    const namespace = cluster.tenants.namespaceOf(caller.tenant);
    if (namespace === undefined) throw notFound(unknownTenant);
    await assertOwnHosts(deps, caller, body.pinned_members);
    const spec = changed({ name: body.name }, body);
    const wanted = { apiVersion, kind: 'EdgeGroup', metadata: { name: `group-${newId()}`, namespace }, spec } as const;
    const group = await kube.create(groupKind, wanted).catch(asRefusal);
    cluster.edgeGroups.remember(group);
    audit.record({ type: 'EdgeGroupCreated', by: caller, subject: group.metadata.uid ?? '' });
    return json(await presentGroup(group, hostsOf(deps, caller.tenant)));
  });
}

/** spec 2 §4.4, requirements EDGE-REST-25. */
export function createChangeRoute(deps: WriteGroupDeps): Route<Caller> {
  const { cluster, audit } = deps;
  return defineRoute<typeof changeEdgeGroup, Caller>(changeEdgeGroup, async ({ params, body, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.groups.write');
    const object = await locateGroup(cluster.edgeGroups, caller, params.id);
    await assertOwnHosts(deps, caller, body.pinned_members);
    const change = (spec: EdgeGroupSpec): EdgeGroupSpec => changed(spec, body);
    const group = await changeSpec(deps, { resource: groupKind, object, change, unknown: unknownGroup });
    cluster.edgeGroups.remember(group);
    audit.record({ type: 'EdgeGroupChanged', by: caller, subject: group.metadata.uid ?? '' });
    return json(await presentGroup(group, hostsOf(deps, caller.tenant)));
  });
}

/** spec 2 §4.4, requirements EDGE-REST-26. */
export function createDeleteRoute({ kube, cluster, audit }: WriteGroupDeps): Route<Caller> {
  return defineRoute<typeof deleteEdgeGroup, Caller>(deleteEdgeGroup, async ({ params, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.groups.write');
    const { metadata } = await locateGroup(cluster.edgeGroups, caller, params.id);
    const { name, namespace = '', uid = '' } = metadata;
    const isDeleted = await kube.delete(groupKind, { name, namespace }, { uid }).catch((error: unknown) => {
      if (isConflict(error)) return false;
      throw error;
    });
    if (!isDeleted) throw notFound(unknownGroup);
    await cluster.edgeGroups.forgotten(uid);
    audit.record({ type: 'EdgeGroupDeleted', by: caller, subject: uid, act: 'delete' });
    return noContent;
  });
}

/** A null selector is none. @throws HttpError 400 where nothing says which hosts belong to the group. */
function changed(spec: EdgeGroupSpec, { name, selector, pinned_members: pinned }: Wanted): EdgeGroupSpec {
  const { selector: known, ...own } = spec;
  const wanted = selector === undefined ? known : (selector ?? undefined);
  const group: EdgeGroupSpec = {
    ...own,
    ...(name !== undefined && { name }),
    ...(wanted !== undefined && { selector: wanted }),
    ...(pinned !== undefined && { pinned_members: [...new Set(pinned)] }),
  };
  if (group.selector !== undefined || (group.pinned_members ?? []).length > 0) return group;
  throw invalidField('body.selector', 'is required where no host is pinned; {} is every host');
}

/** AMB-100. A host that enrolled a moment ago is found; the first one that is not ends the search. */
async function assertOwnHosts(
  { cluster: { edgeHosts } }: WriteGroupDeps,
  { tenant }: Caller,
  pinned: readonly string[] = [],
): Promise<void> {
  if (pinned.length === 0) return;
  const known = new Set(edgeHosts.list(tenant).map(nodeIdOfHost));
  for (const nodeId of pinned.filter((one) => !known.has(one))) {
    const found = await edgeHosts.locate(tenant, edgeHostName(nodeId));
    if (found === undefined) {
      throw invalidField('body.pinned_members', `the tenant has no host ${JSON.stringify(nodeId)}`);
    }
  }
}

function asRefusal(error: unknown): never {
  throw (
    writeRefusal(
      error,
      (cause) => new HttpError({ code: 'limit_exceeded', message: 'the group is too large; pin fewer hosts', cause }),
    ) ?? error
  );
}
