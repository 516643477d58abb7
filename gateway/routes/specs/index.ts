import { apiVersion } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import { errorAt, lineOfProblem } from '../../../crds/problem.ts';
import type { ApiSpec, ApiSpecSpec } from '../../../crds/schema/api-spec.ts';
import type { ToolWorkflow } from '../../../crds/schema/tool-workflow.ts';
import { validateSpec } from '../../../crds/validators.ts';
import {
  type ApiSpecCache,
  checkDocumentSize,
  checkTenantRoom,
  credentialProblems,
  credentialTargetProblems,
  documentMaps,
  documentWarnings,
  findApiSpec,
  objectNameOf,
  type PackedDocument,
  packDocument,
  registeredNameOf,
  unsentOperations,
} from '../../../lib/api-spec/index.ts';
import type { FindCredentialProblem } from '../../../lib/credentials/index.ts';
import { defined } from '../../../lib/defined.ts';
import { AppError } from '../../../lib/errors.ts';
import type { RequestBodyOf } from '../../../lib/http/contract.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { defineRoute, json, noContent, type Route } from '../../../lib/http/index.ts';
import { pageOf } from '../../../lib/http/paging.ts';
import type { NewId } from '../../../lib/ids.ts';
import { apiSpecs } from '../../../lib/kinds.ts';
import { configMaps, type KubeClient, keyOf } from '../../../lib/kube/index.ts';
import type { OpenApiReader } from '../../../lib/manifest/index.ts';
import type { Operator } from '../../identity/operator.ts';
import { ofOwnTenant } from '../../identity/own-tenant.ts';
import type { Tenancy } from '../../identity/tenancy.ts';
import type { ChangeEvents } from '../../registry/change-events.ts';
import { credentialWarnings } from '../../registry/credential-warnings.ts';
import { byName, createNameCursor, presentRecord } from '../../registry/present.ts';
import { kubeRefusal, validation } from '../../registry/refusals.ts';
import type { Registry } from '../../registry/registry.ts';
import { deleteApiSpec, listApiSpecs, readApiSpec, registerApiSpec } from './contract.ts';

const nameCursor = createNameCursor('specs');

export interface SpecRoutesDeps {
  readonly kube: Pick<KubeClient, 'create' | 'delete'>;
  readonly newId: NewId;
  readonly tenancy: Tenancy;
  readonly changes: ChangeEvents;
  readonly registry: Registry<ApiSpec>;
  readonly specs: ApiSpecCache;
  readonly workflows: { values(): Iterable<ToolWorkflow> };
  readonly openApi: Pick<OpenApiReader, 'readOpenApi'>;
  readonly findProblem: FindCredentialProblem;
}

/** `/v1/specs`: registered HTTP APIs (spec 3 §1.1, requirements AMB-196). */
export function createSpecRoutes(deps: SpecRoutesDeps): Route<Operator>[] {
  return [registerRoute(deps), listRoute(deps), readRoute(deps), deleteRoute(deps)];
}

type Body = RequestBodyOf<typeof registerApiSpec>;

function registerRoute(deps: SpecRoutesDeps): Route<Operator> {
  const { tenancy, registry } = deps;
  const route = defineRoute<typeof registerApiSpec, Operator>(registerApiSpec, async ({ body, caller }) => {
    if ((body.allow_internal_addresses ?? []).length > 0 && !caller.isAdmin) {
      throw new HttpError({
        code: 'forbidden',
        message: 'allow_internal_addresses needs the role svc:admin; leave it out, or ask an admin',
      });
    }
    const namespace = tenancy.namespaceOf(caller);
    const warnings = await checkDocument(deps, body, caller.tenant ?? '');
    const packed = await packedOf(deps, body);
    if (packed !== undefined) checkTenantRoom(storedBytes(registry, caller, namespace), packed.parts.stored_bytes);
    const created = await registry.create(caller, apiSpecOf(body, namespace, packed));
    if (packed !== undefined) await storeParts(deps, caller, { created, packed });
    const missing = await credentialWarnings(deps.findProblem, created, ['credentials', 'secret']);
    const all = [...warnings, ...missing];
    return json({ id: created.metadata.uid, name: body.name, ...(all.length > 0 && { warnings: all }) });
  });
  return ofOwnTenant(tenancy, route);
}

/** Gives warnings. @throws HttpError 400 Validation with the places of the document that are wrong. */
async function checkDocument({ openApi }: SpecRoutesDeps, body: Body, tenant: string): Promise<readonly string[]> {
  const bytes = Buffer.byteLength(body.document);
  try {
    checkDocumentSize(bytes);
  } catch (error) {
    if (error instanceof AppError) throw validation([errorAt(['document'], 'too_large', error.message)]);
    throw error;
  }
  const { problems: found, index } = await openApi.readOpenApi(body.document, tenant, body.server_url);
  const problems = index === undefined ? found : credentialTargetProblems(body, index);
  if (problems.length > 0) {
    throw validation(problems.map(({ path, message }) => ({ path: placeOf(path), message })));
  }
  return index === undefined ? [] : documentWarnings(index, unsentOperations(index, body)).map(lineOfProblem);
}

/** Places in the body: those in the document are behind the field that holds it. */
const placeOf = (path: string): string => {
  if (path.startsWith('spec.')) return path.slice('spec.'.length);
  return path === '' || path.startsWith('[') ? `document${path}` : `document.${path}`;
};

async function packedOf({ newId }: SpecRoutesDeps, { document }: Body): Promise<PackedDocument | undefined> {
  return Buffer.byteLength(document) > limits.apiDocumentInlineBytes ? packDocument(document, newId()) : undefined;
}

function storedBytes(registry: Registry<ApiSpec>, { tenant }: Operator, namespace: string): number {
  const own = registry.visible(tenant).filter(({ metadata }) => metadata.namespace === namespace);
  return own.reduce((sum, { spec }) => sum + (spec.document_parts?.stored_bytes ?? 0), 0);
}

function apiSpecOf(body: Body, namespace: string, packed: PackedDocument | undefined): ApiSpec {
  const { name: given, document, tenant_id: _, ...rest } = body;
  const name = objectNameOf(given);
  const spec: ApiSpecSpec = defined({
    ...rest,
    name: given === name ? undefined : given,
    ...(packed === undefined ? { document } : { document_parts: packed.parts }),
  });
  const problems = [
    ...(given.trim() === '' ? [errorAt(['spec', 'name'], 'required', 'must be a text that is not empty')] : []),
    ...validateSpec.ApiSpec(spec),
    ...credentialProblems(spec),
  ];
  if (problems.length > 0) {
    throw validation(problems.map(({ path, message }) => ({ path: path.replace(/^spec\.?/, ''), message })));
  }
  return { apiVersion, kind: 'ApiSpec', metadata: { name, namespace }, spec };
}

/** The object comes first, since its parts belong to it; where one cannot be stored, nothing of it stays. */
async function storeParts(
  { kube, changes }: SpecRoutesDeps,
  caller: Operator,
  { created, packed }: { readonly created: ApiSpec; readonly packed: PackedDocument },
): Promise<void> {
  const { namespace, name, uid = '' } = created.metadata;
  try {
    for (const map of documentMaps(created, packed)) await kube.create(configMaps, map);
  } catch (error) {
    const isGone = await kube.delete(apiSpecs, { namespace, name }, { uid }).catch(() => false);
    if (isGone) await changes.tell('ApiSpecDeleted', caller, { id: uid, name: registeredNameOf(created) });
    throw kubeRefusal(error);
  }
}

function presentSpec(apiSpec: ApiSpec) {
  const { description, server_url, credentials, allow_internal_addresses } = apiSpec.spec;
  const { title, server, operations } = apiSpec.status ?? {};
  const status = { title, server, operation_count: operations };
  return {
    ...presentRecord(apiSpec),
    ...defined({ description, server_url, credentials, allow_internal_addresses, ...status }),
  };
}

function listRoute({ registry }: SpecRoutesDeps): Route<Operator> {
  return defineRoute<typeof listApiSpecs, Operator>(listApiSpecs, async ({ query, caller }) => {
    const after = nameCursor.decode(query.cursor);
    const { rows, next } = pageOf(registry.visible(caller.tenant), byName, { limit: query.limit, after });
    const items = rows.map(presentSpec);
    return json({ items, next_cursor: next === undefined ? null : nameCursor.encode(next) });
  });
}

function readRoute({ registry }: SpecRoutesDeps): Route<Operator> {
  return defineRoute<typeof readApiSpec, Operator>(readApiSpec, async ({ params, caller }) =>
    json(presentSpec(await registry.find(caller.tenant, params.id))),
  );
}

function deleteRoute(deps: SpecRoutesDeps): Route<Operator> {
  const { registry } = deps;
  return defineRoute<typeof deleteApiSpec, Operator>(deleteApiSpec, async ({ params, caller }) => {
    const id = params.id.toLowerCase();
    const users = usersOf(deps, id);
    await registry.remove(caller, id);
    return users.length === 0 ? noContent : json({ id, warnings: [orphanWarning(users)] });
  });
}

/** Tool workflows that call it. Only an administrator without a tenant deletes one that several tenants may call. */
const usersOf = ({ specs, workflows }: SpecRoutesDeps, id: string): string[] =>
  [...workflows.values()].flatMap((workflow) =>
    findApiSpec(specs, workflow)?.metadata.uid === id ? [keyOf(workflow)] : [],
  );

const namedMost = 5;

function orphanWarning(users: readonly string[]): string {
  const [which, them] = users.length === 1 ? ['1 tool workflow', 'it'] : [`${users.length} tool workflows`, 'them'];
  const names = `${users.slice(0, namedMost).join(', ')}${users.length > namedMost ? ', …' : ''}`;
  return `calls of ${which} are answered 404 now: ${names}; delete ${them}, or give ${them} another API`;
}
