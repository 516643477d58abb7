import { apiVersion } from '../../../crds/labels.ts';
import type { SecurityContext } from '../../../crds/schema/security-context.ts';
import { isBeingDeleted, unlessBeingDeleted } from '../../../lib/being-deleted.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { createTextCursor, pageOf } from '../../../lib/http/paging.ts';
import { readPage } from '../../../lib/http/read-page.ts';
import { defineRoute, json, type Route } from '../../../lib/http/route.ts';
import { requireFleetScope } from '../../../lib/identity/index.ts';
import type { CacheReader } from '../../../lib/informer/index.ts';
import { securityContexts } from '../../../lib/kinds.ts';
import { createUnlessExists, findObject, isObjectName, type KubeClient } from '../../../lib/kube/index.ts';
import { opensFleet } from '../../../lib/tools/fleet-rights.ts';
import { toolPatternProblem } from '../../../lib/tools/known-names.ts';
import type { Operator } from '../../identity/operator.ts';
import { ofOwnTenant } from '../../identity/own-tenant.ts';
import type { Tenancy } from '../../identity/tenancy.ts';
import type { ChangeEvents } from '../../registry/change-events.ts';
import { sharedScope } from '../../registry/present.ts';
import { kubeRefusal } from '../../registry/refusals.ts';
import type { ReplicaNews } from '../../registry/replica-news.ts';
import { createSecurityContext, deleteSecurityContext, listSecurityContexts, readSecurityContext } from './contract.ts';

interface ContextRoutesDeps {
  readonly contexts: CacheReader<SecurityContext, 'namespace'>;
  readonly kube: Pick<KubeClient, 'get' | 'create' | 'replace' | 'delete'>;
  readonly news: ReplicaNews;
  readonly tenancy: Tenancy;
  readonly changes: ChangeEvents;
}

const nameCursor = createTextCursor('security-contexts');
const order = {
  keyOf: ({ metadata }: SecurityContext) => metadata.name ?? '',
  compare: (a: string, b: string): number => (a < b ? -1 : Number(a > b)),
};

function createRoute(deps: ContextRoutesDeps): Route<Operator> {
  const { tenancy } = deps;
  const route = defineRoute<typeof createSecurityContext, Operator>(createSecurityContext, async ({ caller, body }) => {
    const { name, tenant_id: _, ...spec } = body;
    if (opensFleet(spec)) requireFleetScope(caller, `tier: ${spec.tier}`);
    if (spec.network === 'listed') throw opensNetworks();
    if (spec.git_secrets !== undefined) throw lendsSecrets();
    const ref = { namespace: tenancy.namespaceOf(caller), name };
    const { metadata } = await write(deps, caller, { ref, spec }).catch((error: unknown) => {
      throw kubeRefusal(error);
    });
    const warnings = patternWarnings(spec);
    return json({ id: metadata.uid ?? '', name, ...(warnings.length === 0 ? {} : { warnings }) });
  });
  return ofOwnTenant(tenancy, route);
}

/** Security contexts over HTTP: the same objects as with kubectl (spec 3 §1.2). */
export function createSecurityContextRoutes(deps: ContextRoutesDeps): Route<Operator>[] {
  const { kube, tenancy, changes } = deps;
  return [
    createRoute(deps),
    defineRoute<typeof listSecurityContexts, Operator>(listSecurityContexts, async ({ caller, query }) => {
      const page = pageOf(seen(deps, caller), order, { limit: query.limit, after: nameCursor.decode(query.cursor) });
      const { items, cutAfter } = await readPage(page.rows, async (row) => shown(row));
      const next = cutAfter === undefined ? page.next : order.keyOf(cutAfter);
      return json({ items, next_cursor: next === undefined ? null : nameCursor.encode(next) });
    }),
    defineRoute<typeof readSecurityContext, Operator>(readSecurityContext, async ({ caller, params }) => {
      for (const namespace of tenancy.visibleTo(caller.tenant)) {
        const found = unlessBeingDeleted(await find(deps, { namespace, name: params.name }));
        if (found !== undefined) return json(shown(found));
      }
      throw notFound(params.name);
    }),
    defineRoute<typeof deleteSecurityContext, Operator>(deleteSecurityContext, async ({ caller, params: { name } }) => {
      const ref = { namespace: tenancy.namespaceOf(caller), name };
      const found = await find(deps, ref);
      if (found === undefined) throw notFound(name);
      const { uid = '' } = found.metadata;
      changes.require();
      if (!(await kube.delete(securityContexts, ref, { uid }))) throw notFound(name);
      await changes.tell('SecurityContextDeleted', caller, { id: uid, name });
      await deps.news.gone(uid);
      return json({ name });
    }),
  ];
}

/** Patterns that permit or deny nothing: a slip, mostly. */
const patternWarnings = (spec: SecurityContext['spec']): string[] =>
  (['tools', 'deny_list'] as const).flatMap((field) =>
    (spec[field] ?? []).flatMap((pattern, index) => {
      const problem = toolPatternProblem(pattern);
      return problem === undefined ? [] : [`${field}[${index}]: ${problem}`];
    }),
  );

/** Admission asks the writer for a right of Kubernetes, which the account of the gateway has not (ADR 0100). */
const opensNetworks = (): HttpError =>
  new HttpError({
    code: 'forbidden',
    message: 'network: listed is written with kubectl, by those who may create networkpolicies; use network: none here',
  });

/** The same for Secrets (ADR 0098). */
const lendsSecrets = (): HttpError =>
  new HttpError({
    code: 'forbidden',
    message: 'git_secrets: is written with kubectl, by those who may get the Secrets; leave it out here',
  });

interface Ref {
  readonly namespace: string;
  readonly name: string;
}

async function find({ contexts, kube }: ContextRoutesDeps, ref: Ref): Promise<SecurityContext | undefined> {
  if (!isObjectName(ref.name)) return undefined;
  return contexts.get(`${ref.namespace}/${ref.name}`) ?? findObject(kube, securityContexts, ref);
}

interface Wanted {
  readonly ref: Ref;
  readonly spec: SecurityContext['spec'];
}

async function write(deps: ContextRoutesDeps, caller: Operator, { ref, spec }: Wanted): Promise<SecurityContext> {
  const { kube, contexts, news, changes } = deps;
  changes.require();
  const object: SecurityContext = { apiVersion, kind: 'SecurityContext', metadata: ref, spec };
  const made = await createUnlessExists(kube, securityContexts, object);
  const written = made ?? (await replace(kube, ref, object));
  contexts.remember(written);
  const type = made === undefined ? 'SecurityContextUpdated' : 'SecurityContextCreated';
  await changes.tell(type, caller, { id: written.metadata.uid ?? '', name: ref.name });
  // A change that takes a right away holds for the next call, whichever replica takes it.
  await news.written(written);
  return written;
}

/** Labels and annotations of others stay. */
async function replace(kube: ContextRoutesDeps['kube'], ref: Ref, object: SecurityContext): Promise<SecurityContext> {
  const found = await findObject(kube, securityContexts, ref);
  if (found === undefined)
    throw new HttpError({ code: 'conflict', message: `${ref.name} was deleted meanwhile; try again` });
  if (isBeingDeleted(found))
    throw new HttpError({ code: 'conflict', message: `${ref.name} is being deleted, and a finalizer still holds it` });
  return kube.replace(securityContexts, { ...found, spec: object.spec });
}

/** The tenant's own, and shared ones that none of its own hides. None that is being deleted: calls count it as gone. */
function seen({ contexts, tenancy }: ContextRoutesDeps, { tenant }: Operator): SecurityContext[] {
  const byName = new Map<string, SecurityContext>();
  for (const namespace of tenancy.visibleTo(tenant)) {
    for (const context of contexts.byIndex('namespace', namespace)) {
      const { name } = context.metadata;
      if (!isBeingDeleted(context) && !byName.has(name)) byName.set(name, context);
    }
  }
  return [...byName.values()];
}

const shown = ({ metadata, spec }: SecurityContext) => ({
  id: metadata.uid ?? '',
  name: metadata.name ?? '',
  scope: sharedScope({ metadata }),
  ...spec,
});

const notFound = (name: string): HttpError =>
  new HttpError({
    code: 'not_found',
    message: `the tenant has no security context ${name.slice(0, 128)}; give its name, which GET /v1/security-contexts lists`,
  });
