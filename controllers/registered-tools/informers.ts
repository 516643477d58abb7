import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import {
  isWholeApiSpec,
  isWholeCliTool,
  isWholeToolWorkflow,
  slimApiSpec,
  slimCliTool,
  slimToolWorkflow,
} from '../../lib/api-spec/index.ts';
import { createInformer, createWholeObjects, type Informer } from '../../lib/informer/index.ts';
import { apiSpecs, cliTools, toolWorkflows } from '../../lib/kinds.ts';
import type { KubeObject } from '../../lib/kube/index.ts';
import type { InformerSpec } from '../runtime/module.ts';
import { withSpec } from '../runtime/with-spec.ts';

/** Bytes of heap for objects in full, of each kind. */
const keptBytes = 8 * 1024 * 1024;

const indexes = {
  namespace: ({ metadata }: KubeObject): string[] => (metadata.namespace === undefined ? [] : [metadata.namespace]),
};

/** Without documents. */
export const apiSpecInformer: InformerSpec<Informer<ApiSpec, 'namespace'>> = {
  name: 'apiSpecs',
  kind: 'ApiSpec',
  open: (deps) => {
    const wholes = { ...deps, resource: apiSpecs, slim: slimApiSpec, isWhole: isWholeApiSpec, keptBytes };
    return createInformer(deps, { resource: apiSpecs, parse: withSpec, indexes, wholes: createWholeObjects(wholes) });
  },
};

/** With the number of their steps, and with their schemas where those are small. */
export const toolWorkflowInformer: InformerSpec<Informer<ToolWorkflow, 'namespace'>> = {
  name: 'toolWorkflows',
  kind: 'ToolWorkflow',
  open: (deps) => {
    const slim = { slim: slimToolWorkflow, isWhole: isWholeToolWorkflow };
    const wholes = createWholeObjects({ ...deps, resource: toolWorkflows, ...slim, keptBytes });
    return createInformer(deps, { resource: toolWorkflows, parse: withSpec, indexes, wholes });
  },
};

/** Large ones with their names and descriptions alone. */
export const cliToolInformer: InformerSpec<Informer<CliTool, 'namespace'>> = {
  name: 'cliTools',
  kind: 'CliTool',
  open: (deps) => {
    const slim = { slim: slimCliTool, isWhole: isWholeCliTool };
    const wholes = createWholeObjects({ ...deps, resource: cliTools, ...slim, keptBytes });
    return createInformer(deps, { resource: cliTools, parse: withSpec, indexes, wholes });
  },
};
