import { errorAt, lineOfProblem, type Problem } from '../../../crds/problem.ts';
import { apiVersion } from '../../../crds/labels.ts';
import type { ApiSpec } from '../../../crds/schema/api-spec.ts';
import type { ToolWorkflow, ToolWorkflowSpec } from '../../../crds/schema/tool-workflow.ts';
import { validateSpec } from '../../../crds/validators.ts';
import { builtInNameProblems, type ApiDocuments, objectNameOf, toolWarnings } from '../../../lib/api-spec/index.ts';
import type { FindCredentialProblem } from '../../../lib/credentials/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { defineRoute, json, noContent, type Route } from '../../../lib/http/index.ts';
import { pageOf } from '../../../lib/http/paging.ts';
import type { RequestBodyOf } from '../../../lib/http/contract.ts';
import { toolWorkflows } from '../../../lib/kinds.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { checkToolWorkflow } from '../../../lib/tool-chain/check-tool-workflow.ts';
import type { Operator } from '../../identity/operator.ts';
import { ofOwnTenant } from '../../identity/own-tenant.ts';
import type { Tenancy } from '../../identity/tenancy.ts';
import { credentialWarnings } from '../../registry/credential-warnings.ts';
import { byName, createNameCursor, presentRecord } from '../../registry/present.ts';
import { validation } from '../../registry/refusals.ts';
import type { RegistrationEvents } from '../../registry/registration-events.ts';
import type { Registry } from '../../registry/registry.ts';
import { requireAccepted } from '../../tools/require-accepted.ts';
import { wholeFor, type WholeReads } from '../../registry/whole-reads.ts';
import { deleteToolWorkflow, listToolWorkflows, readToolWorkflow, registerToolWorkflow } from './contract.ts';

const nameCursor = createNameCursor('tool-workflows');

interface WorkflowRoutesDeps {
  readonly kube: Pick<KubeClient, 'delete'>;
  readonly registrations: Pick<RegistrationEvents, 'registered'>;
  readonly tenancy: Tenancy;
  readonly registry: Registry<ToolWorkflow>;
  readonly specs: Pick<Registry<ApiSpec>, 'find'>;
  readonly documents: ApiDocuments;
  readonly stepsMax?: number;
  readonly objects: WholeReads<ToolWorkflow>;
  readonly findProblem: FindCredentialProblem;
}

/** `/v1/workflows`: tool workflows (spec 3 §2.4, §3.2, §4.1). */
export function createWorkflowRoutes(deps: WorkflowRoutesDeps): Route<Operator>[] {
  return [registerRoute(deps), listRoute(deps), readRoute(deps), deleteRoute(deps)];
}

type Body = RequestBodyOf<typeof registerToolWorkflow>;

function registerRoute(deps: WorkflowRoutesDeps): Route<Operator> {
  const { tenancy, registry } = deps;
  const route = defineRoute<typeof registerToolWorkflow, Operator>(registerToolWorkflow, async ({ body, caller }) => {
    const { tenant_id: _, ...definition } = body;
    const workflow = workflowOf(definition, tenancy.namespaceOf(caller), deps.stepsMax);
    const warnings = await checkOperations(deps, caller, workflow);
    const created = await registry.create(caller, workflow);
    await tell(deps, caller, created);
    return json({ id: created.metadata.uid, name: definition.name, ...(warnings.length > 0 && { warnings }) });
  });
  return ofOwnTenant(tenancy, route);
}

/** @throws HttpError 400 Validation that names every place (GW-WF-35 to GW-WF-37). */
function workflowOf(definition: Omit<Body, 'tenant_id'>, namespace: string, stepsMax?: number): ToolWorkflow {
  const options = stepsMax === undefined ? {} : { stepsMax };
  const problems = [...checkToolWorkflow(definition, options), ...builtInNameProblems(definition.name)];
  if (problems.length > 0) throw validation(problems);
  const name = objectNameOf(definition.name);
  const { name: given, ...rest } = definition;
  const spec: unknown = {
    ...rest,
    api_spec_id: rest.api_spec_id.toLowerCase(),
    ...(given !== name && { name: given }),
  };
  const broken = validateSpec.ToolWorkflow(spec);
  if (broken.length > 0) throw validation(broken.map(withoutSpec));
  return { apiVersion, kind: 'ToolWorkflow', metadata: { name, namespace }, spec: spec as ToolWorkflowSpec };
}

/** A body has no `spec`; an object has. */
const withoutSpec = ({ path, message }: Problem) => ({ path: path.replace(/^spec\.?/, ''), message });

/** GW-WF-38, GW-WF-39, GW-TEN-08. Gives warnings. */
async function checkOperations(
  { specs, documents, findProblem }: WorkflowRoutesDeps,
  { tenant }: Operator,
  { spec }: ToolWorkflow,
): Promise<readonly string[]> {
  const { api_spec_id: id = '', steps } = spec;
  const apiSpec = await specs.find(tenant, id).catch(unlessNotFound);
  if (apiSpec === undefined) throw validation([errorAt(['api_spec_id'], 'unknown', 'names no API spec of the tenant')]);
  const operations = await operationsOf(documents, apiSpec);
  const absent = steps.flatMap(({ operation_id: id }, index) =>
    operations.has(id)
      ? []
      : [errorAt(['steps', index, 'operation_id'], 'unknown', `'${id}' is no operationId of the API spec`)],
  );
  if (absent.length > 0) throw validation(absent);
  const missing = await credentialWarnings(findProblem, apiSpec, ['api_spec_id']);
  return [...toolWarnings(spec, { operations }, apiSpec.spec).map(lineOfProblem), ...missing];
}

function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
}

async function operationsOf(documents: ApiDocuments, apiSpec: ApiSpec) {
  try {
    // A tool of it would never run.
    requireAccepted('it', apiSpec, ['DocumentMissing']);
    return (await documents.indexOf(apiSpec)).operations;
  } catch (error) {
    if (!(error instanceof AppError) || !['invalid', 'not_found'].includes(error.code)) throw error;
    throw validation([errorAt(['api_spec_id'], 'document', `names an API spec that cannot be used: ${error.message}`)]);
  }
}

/** GW-WF-28. A registration whose event cannot be stored is taken back: none is without its event. */
async function tell(
  { registrations, kube }: WorkflowRoutesDeps,
  { tenant, subject }: Operator,
  workflow: ToolWorkflow,
): Promise<void> {
  const { namespace, name, uid = '' } = workflow.metadata;
  try {
    await registrations.registered(workflow, { tenant, subject });
  } catch (error) {
    await kube.delete(toolWorkflows, { namespace, name }, { uid }).catch(() => false);
    throw error;
  }
}

function listRoute({ registry }: WorkflowRoutesDeps): Route<Operator> {
  return defineRoute<typeof listToolWorkflows, Operator>(listToolWorkflows, async ({ query, caller }) => {
    const after = nameCursor.decode(query.cursor);
    const { rows, next } = pageOf(registry.visible(caller.tenant), byName, { limit: query.limit, after });
    const items = rows.map((workflow) => {
      const { description, api_spec_id: id, steps } = workflow.spec;
      const rest = { description, ...(id !== undefined && { api_spec_id: id }), step_count: steps.length };
      return { ...presentRecord(workflow), ...rest };
    });
    return json({ items, next_cursor: next === undefined ? null : nameCursor.encode(next) });
  });
}

function readRoute({ registry, objects }: WorkflowRoutesDeps): Route<Operator> {
  return defineRoute<typeof readToolWorkflow, Operator>(readToolWorkflow, async (request) => {
    const { params, caller } = request;
    const workflow = await wholeFor(request, objects, await registry.find(caller.tenant, params.id));
    const { description, input_schema, api_spec_id: id, steps } = workflow.spec;
    const rest = { description, input_schema, ...(id !== undefined && { api_spec_id: id }), steps };
    return json({ ...presentRecord(workflow), ...rest });
  });
}

function deleteRoute({ registry }: WorkflowRoutesDeps): Route<Operator> {
  return defineRoute<typeof deleteToolWorkflow, Operator>(deleteToolWorkflow, async ({ params, caller }) => {
    await registry.remove(caller, params.id);
    return noContent;
  });
}
