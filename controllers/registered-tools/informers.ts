import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { partlyKept } from '../../lib/api-spec/index.ts';
import { createInformer, createWholeObjects, type Informer, type WholeOptions } from '../../lib/informer/index.ts';
import type { KubeObject } from '../../lib/kube/index.ts';
import type { InformerSpec } from '../runtime/module.ts';
import { withSpec } from '../runtime/with-spec.ts';

const indexes = {
  namespace: ({ metadata }: KubeObject): string[] => (metadata.namespace === undefined ? [] : [metadata.namespace]),
};

type Tool = ApiSpec | ToolWorkflow | CliTool;

const partOf = <T extends Tool>(
  name: string,
  kept: Omit<WholeOptions<T>, 'kube' | 'clock'>,
): InformerSpec<Informer<T, 'namespace'>> => ({
  name,
  kind: kept.resource.kind,
  open(deps) {
    const wholes = createWholeObjects({ ...deps, ...kept });
    return createInformer(deps, { resource: kept.resource, parse: withSpec, indexes, wholes });
  },
});

export const apiSpecInformer = partOf('apiSpecs', partlyKept.ApiSpec);
export const toolWorkflowInformer = partOf('toolWorkflows', partlyKept.ToolWorkflow);
export const cliToolInformer = partOf('cliTools', partlyKept.CliTool);
