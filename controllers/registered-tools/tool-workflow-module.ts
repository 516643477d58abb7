import { lineOfProblem, type Problem } from '../../crds/problem.ts';
import type { ToolWorkflowReason } from '../../crds/conditions.ts';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import {
  type ApiDocuments,
  createApiDocuments,
  findApiSpec,
  missingApiSpec,
  problemText,
  toolWarnings,
} from '../../lib/api-spec/index.ts';
import { readyOf as readyConditionOf } from '../../crds/ready.ts';
import { toolWorkflows } from '../../lib/kinds.ts';
import { keyOf } from '../../lib/kube/index.ts';
import { createOpenApiReader } from '../../lib/manifest/index.ts';
import { checkToolWorkflow } from '../../lib/tool-chain/check-tool-workflow.ts';
import { visiblePlaces } from '../../lib/tenant/visible-places.ts';
import { defineModule } from '../runtime/module.ts';
import { wakeItself } from '../runtime/wakes.ts';
import { shownWarnings, warningsText } from '../runtime/warnings.ts';
import { writeStatus } from '../runtime/write-status.ts';
import { tenantInformer } from '../tenants.ts';
import { missingCredentials } from './credentials.ts';
import { claimants, inhabitants, seers } from './wakes.ts';
import { workerUrl } from './worker-url.ts';
import { apiSpecInformer, cliToolInformer, toolWorkflowInformer } from './informers.ts';
import { isCallable, placeVerdict, readyOf, type ReadyVerdict } from './verdict.ts';

/** Says of each ToolWorkflow whether agents can call it: its templates, its ApiSpec and the operations of its steps. */
export const toolWorkflowModule = defineModule({
  kind: 'ToolWorkflow',
  informers: {
    workflows: toolWorkflowInformer,
    tools: cliToolInformer,
    specs: apiSpecInformer,
    tenants: tenantInformer,
  },
  wakes: {
    workflows: (change, { workflows }) => [...wakeItself(change), ...claimants(change, workflows.cache)],
    tools: (change, { workflows }) => claimants(change, workflows.cache),
    specs: ({ before, after }, { workflows }) =>
      // Any may name a shared one.
      seers(workflows.cache, (after ?? before)?.metadata.namespace ?? '').map(keyOf),
    tenants: (change, { workflows }) => inhabitants(change, workflows.cache),
  },
  reconcile({ kube, clock, tenants, turns, informers: { workflows, tools, specs } }) {
    const reader = createOpenApiReader({ clock, workerUrl: workerUrl() });
    const documents = createApiDocuments({ kube, reader, whole: specs.whole });
    const judge = async (workflow: ToolWorkflow): Promise<void> => {
      const { namespace = '' } = workflow.metadata;
      await turns.enter(namespace);
      const places = visiblePlaces(namespace);
      const rivals = places.flatMap((place) => [
        ...workflows.cache.byIndex('namespace', place),
        ...tools.cache.byIndex('namespace', place),
      ]);
      const apiSpec = findApiSpec(specs.cache, workflow);
      const verdict: ToolVerdict =
        placeVerdict(workflow, rivals, isCallable(namespace, tenants)) ??
        (await judgeToolWorkflow(documents, workflow, apiSpec));
      const warnings = shownWarnings((verdict.warnings ?? []).map(lineOfProblem));
      const message = `${verdict.message}${warningsText(warnings)}`;
      const status = {
        observedGeneration: workflow.metadata.generation ?? 0,
        conditions: [
          readyOf(workflow, { ...verdict, message }, clock.now()),
          ...(verdict.reason === 'Accepted' ? missingCredentials(workflow, apiSpec, clock.now()) : []),
        ],
        steps: workflow.spec.steps.length,
        ...(apiSpec && { api_spec: keyOf(apiSpec) }),
        ...(warnings.length > 0 && { warnings }),
      };
      await writeStatus({ kube, resource: toolWorkflows, cache: workflows.cache }, workflow, status);
    };
    return async (key) => {
      const cached = workflows.cache.get(key);
      if (cached === undefined) return;
      // The API server has to write a large one as well, and answers with all of it.
      await workflows.use(cached, async (workflow) => {
        if (workflow !== undefined && workflow.metadata.deletionTimestamp === undefined) await judge(workflow);
      });
    };
  },
});

interface ToolVerdict extends ReadyVerdict<ToolWorkflowReason> {
  /** None of a definition that was refused: its problems say enough. */
  readonly warnings?: readonly Problem[];
}

export async function judgeToolWorkflow(
  documents: Pick<ApiDocuments, 'indexOf'>,
  workflow: ToolWorkflow,
  apiSpec: ApiSpec | undefined,
): Promise<ToolVerdict> {
  const { spec } = workflow;
  const problems = checkToolWorkflow(spec, { isObject: true });
  if (problems.length > 0) return { reason: 'InvalidDefinition', message: problemText(problems) };
  if (apiSpec === undefined) return { reason: 'ApiSpecNotFound', message: missingApiSpec(workflow) };
  if (readyConditionOf(apiSpec)?.status !== 'True') {
    return { reason: 'ApiSpecNotReady', message: `ApiSpec ${keyOf(apiSpec)} is not accepted` };
  }
  const { operations } = await documents.indexOf(apiSpec);
  const index = spec.steps.findIndex(({ operation_id: id }) => !operations.has(id));
  const step = spec.steps[index];
  if (step === undefined) {
    const warnings = toolWarnings(spec, { operations }, apiSpec.spec);
    return { reason: 'Accepted', message: 'agents can call the tool', warnings };
  }
  const message = `steps[${index}].operation_id: '${step.operation_id}' is no operationId of ApiSpec ${keyOf(apiSpec)}`;
  return { reason: 'OperationNotFound', message };
}
