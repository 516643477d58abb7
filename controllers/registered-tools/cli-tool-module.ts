import type { CliToolReason } from '../../crds/conditions.ts';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import { problemText } from '../../lib/api-spec/index.ts';
import { checkCliTool } from '../../lib/cli-tool/check-cli-tool.ts';
import { cliTools } from '../../lib/kinds.ts';
import { visiblePlaces } from '../../lib/tenant/visible-places.ts';
import { defineModule } from '../runtime/module.ts';
import { wakeItself } from '../runtime/wakes.ts';
import { writeStatus } from '../runtime/write-status.ts';
import { tenantInformer } from '../tenants.ts';
import { cliToolInformer, toolWorkflowInformer } from './informers.ts';
import { isCallable, placeVerdict, readyOf, type ReadyVerdict } from './verdict.ts';
import { claimants, inhabitants } from './wakes.ts';

/** Checks the templates and the schema of each CliTool, and whether its name is free. */
export const cliToolModule = defineModule({
  kind: 'CliTool',
  informers: { tools: cliToolInformer, workflows: toolWorkflowInformer, tenants: tenantInformer },
  wakes: {
    tools: (change, { tools }) => [...wakeItself(change), ...claimants(change, tools.cache)],
    workflows: (change, { tools }) => claimants(change, tools.cache),
    tenants: (change, { tools }) => inhabitants(change, tools.cache),
  },
  reconcile({ kube, clock, tenants, turns, informers: { tools, workflows } }) {
    const judge = async (tool: CliTool): Promise<void> => {
      const { namespace = '' } = tool.metadata;
      await turns.enter(namespace);
      const places = visiblePlaces(namespace);
      const rivals = places.flatMap((place) => [
        ...tools.cache.byIndex('namespace', place),
        ...workflows.cache.byIndex('namespace', place),
      ]);
      const verdict = placeVerdict(tool, rivals, isCallable(namespace, tenants)) ?? judgeTool(tool);
      const status = {
        observedGeneration: tool.metadata.generation ?? 0,
        conditions: [readyOf(tool, verdict, clock.now())],
      };
      await writeStatus({ kube, resource: cliTools, cache: tools.cache }, tool, status);
    };
    return async (key) => {
      const cached = tools.cache.get(key);
      if (cached === undefined) return;
      // The API server has to write a large one as well, and answers with all of it.
      await tools.use(cached, async (tool) => {
        if (tool !== undefined && tool.metadata.deletionTimestamp === undefined) await judge(tool);
      });
    };
  },
});

export function judgeTool({ spec }: CliTool): ReadyVerdict<CliToolReason> {
  const problems = checkCliTool(spec);
  return problems.length > 0
    ? { reason: 'InvalidDefinition', message: problemText(problems) }
    : { reason: 'Accepted', message: 'agents can call the tool' };
}
