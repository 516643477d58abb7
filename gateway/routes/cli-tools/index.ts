import { errorAt, type Problem } from '../../../crds/problem.ts';
import { apiVersion } from '../../../crds/labels.ts';
import type { CliTool, CliToolSpec } from '../../../crds/schema/cli-tool.ts';
import { validateSpec } from '../../../crds/validators.ts';
import { builtInNameProblems, objectNameOf } from '../../../lib/api-spec/index.ts';
import { checkCliTool } from '../../../lib/cli-tool/check-cli-tool.ts';
import type { RequestBodyOf } from '../../../lib/http/contract.ts';
import { defineRoute, json, noContent, type Route } from '../../../lib/http/index.ts';
import { pageOf } from '../../../lib/http/paging.ts';
import { readPage } from '../../../lib/http/read-page.ts';
import type { Operator } from '../../identity/operator.ts';
import { ofOwnTenant } from '../../identity/own-tenant.ts';
import type { Tenancy } from '../../identity/tenancy.ts';
import { byName, createNameCursor, presentRecord } from '../../registry/present.ts';
import { notFound, validation } from '../../registry/refusals.ts';
import type { Registry } from '../../registry/registry.ts';
import { deleteCliTool, listCliTools, readCliTool, registerCliTool } from './contract.ts';

const nameCursor = createNameCursor('cli-tools');

export { contracts } from './contract.ts';

export interface CliToolRoutesDeps {
  readonly tenancy: Tenancy;
  readonly registry: Registry<CliTool>;
  /** The object in full, of which the cache keeps less; undefined where it is gone. */
  readonly whole: (tool: CliTool) => Promise<CliTool | undefined>;
}

/** `/v1/cli-tools`: commands in containers as tools (requirements AMB-196). */
export function createCliToolRoutes({ tenancy, registry, whole }: CliToolRoutesDeps): Route<Operator>[] {
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
    defineRoute<typeof listCliTools, Operator>(listCliTools, async ({ query, caller }) => {
      const after = nameCursor.decode(query.cursor);
      const { rows, next } = pageOf(registry.visible(caller.tenant), byName, { limit: query.limit, after });
      const { items, cutAfter } = await readPage(rows, whole);
      const last = cutAfter === undefined ? next : byName.keyOf(cutAfter);
      return json({ items: items.map(present), next_cursor: last === undefined ? null : nameCursor.encode(last) });
    }),
    defineRoute<typeof readCliTool, Operator>(readCliTool, async ({ params, caller }) => {
      const tool = await whole(registry.find(caller.tenant, params.id));
      if (tool === undefined) throw notFound();
      return json(present(tool));
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
