import { errorAt, type Problem } from '../../../crds/problem.ts';
import { apiVersion } from '../../../crds/labels.ts';
import type { CliTool, CliToolSpec } from '../../../crds/schema/cli-tool.ts';
import { validateSpec } from '../../../crds/validators.ts';
import { builtInNameProblems, objectNameOf, partlyKept } from '../../../lib/api-spec/index.ts';
import { checkCliTool } from '../../../lib/cli-tool/check-cli-tool.ts';
import type { RequestBodyOf } from '../../../lib/http/contract.ts';
import { defineRoute, json, noContent, type Route } from '../../../lib/http/index.ts';
import { pageOf } from '../../../lib/http/paging.ts';
import { pageBytes, readPage } from '../../../lib/http/read-page.ts';
import type { Operator } from '../../identity/operator.ts';
import { ofOwnTenant } from '../../identity/own-tenant.ts';
import type { Tenancy } from '../../identity/tenancy.ts';
import { byName, createNameCursor, presentRecord } from '../../registry/present.ts';
import { validation } from '../../registry/refusals.ts';
import type { Registry } from '../../registry/registry.ts';
import { wholeFor, type WholeReads } from '../../registry/whole-reads.ts';
import { deleteCliTool, listCliTools, readCliTool, registerCliTool } from './contract.ts';

const nameCursor = createNameCursor('cli-tools');

interface CliToolRoutesDeps {
  readonly tenancy: Tenancy;
  readonly registry: Registry<CliTool>;
  readonly objects: WholeReads<CliTool>;
}

/** `/v1/cli-tools`: commands in containers as tools (requirements AMB-196). */
export function createCliToolRoutes({ tenancy, registry, objects }: CliToolRoutesDeps): Route<Operator>[] {
  const present = (tool: CliTool) => {
    const { name: _, ...spec } = tool.spec;
    return { ...spec, ...presentRecord(tool) };
  };
  return [
    ofOwnTenant(
      tenancy,
      defineRoute<typeof registerCliTool, Operator>(registerCliTool, async ({ body, caller }) => {
        const created = await registry.create(caller, toolOf(body, tenancy.namespaceOf(caller)));
        return json({ id: created.metadata.uid, name: body.name });
      }),
    ),
    defineRoute<typeof listCliTools, Operator>(listCliTools, async (request) => {
      const { query, caller } = request;
      const after = nameCursor.decode(query.cursor);
      const { rows, next } = pageOf(registry.visible(caller.tenant), byName, { limit: query.limit, after });
      if (!rows.every(partlyKept.CliTool.isWhole)) await request.reserve(pageBytes);
      const { items, cutAfter } = await readPage(rows, async (tool) => objects.whole(tool));
      const last = cutAfter === undefined ? next : byName.keyOf(cutAfter);
      return json({ items: items.map(present), next_cursor: last === undefined ? null : nameCursor.encode(last) });
    }),
    defineRoute<typeof readCliTool, Operator>(readCliTool, async (request) => {
      const { params, caller } = request;
      return json(present(await wholeFor(request, objects, await registry.find(caller.tenant, params.id))));
    }),
    defineRoute<typeof deleteCliTool, Operator>(deleteCliTool, async ({ params, caller }) => {
      await registry.remove(caller, params.id);
      return noContent;
    }),
  ];
}

/** @throws HttpError 400 Validation that names every place. */
function toolOf(body: RequestBodyOf<typeof registerCliTool>, namespace: string): CliTool {
  const { name: given, tenant_id: _, ...rest } = body;
  const name = objectNameOf(given);
  const spec: unknown = { ...rest, ...(given !== name && { name: given }) };
  const broken = [
    ...(given.trim() === '' ? [errorAt(['spec', 'name'], 'required', 'must be a text that is not empty')] : []),
    ...builtInNameProblems(given),
    ...validateSpec.CliTool(spec),
  ];
  const problems = broken.length > 0 ? broken : checkCliTool(spec as CliToolSpec);
  if (problems.length > 0) throw validation(problems.map(withoutSpec));
  return { apiVersion, kind: 'CliTool', metadata: { name, namespace }, spec: spec as CliToolSpec };
}

/** A body has no `spec`; an object has. */
const withoutSpec = ({ path, message }: Problem) => ({ path: path.replace(/^spec\.?/, ''), message });
