import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { heapBytes } from '../heap-bytes.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';
import { cachedSchema, isKeptApart } from '../json-schema/large-schema.ts';
import { apiSpecs, cliTools, toolWorkflows } from '../kinds.ts';
import { bytesOf } from '../memory-budget/index.ts';

/** An ApiSpec without its document, for caches. */
const slimApiSpec = (spec: ApiSpec): ApiSpec => {
  const { document: _, ...rest } = spec.spec;
  return { ...spec, metadata: slimMetadata(spec.metadata), spec: rest };
};

/** Whether the cache keeps all of it: an inline document is what it leaves out. */
const isWholeApiSpec = ({ spec }: ApiSpec): boolean => spec.document !== undefined || spec.document_parts !== undefined;

/** All steps of a ToolWorkflow in a cache, which counts them. */
const slimStep: ToolWorkflow['spec']['steps'][number] = {
  name: '',
  operation_id: '',
  on_error: 'AbortWorkflow',
  body_template: '',
};

/** A ToolWorkflow with the number of its steps, and with its schema where that is small, for caches. */
const slimToolWorkflow = (workflow: ToolWorkflow): ToolWorkflow => ({
  ...workflow,
  metadata: slimMetadata(workflow.metadata),
  spec: {
    ...workflow.spec,
    input_schema: cachedSchema(workflow.spec.input_schema) as ToolWorkflow['spec']['input_schema'],
    steps: workflow.spec.steps.map(() => slimStep),
  },
});

/** A body template is never empty; a slim one is. */
const isWholeToolWorkflow = ({ spec }: ToolWorkflow): boolean =>
  !isKeptApart(spec.input_schema) && spec.steps.every(({ body_template: body }) => body !== '');

/** Bytes of heap of a CliTool that stays in caches as it is: 200 of them are the quota of a tenant. */
const smallToolBytes = 4 * 1024;

/** A CliTool without what others wrote on it; of a large one what lists and names need, for caches. */
function slimCliTool(tool: CliTool): CliTool {
  const slim = { ...tool, metadata: slimMetadata(tool.metadata) };
  if (heapBytes(tool.spec, smallToolBytes) < smallToolBytes) return slim;
  const { name, description, input_schema } = tool.spec;
  const schema = cachedSchema(input_schema) as CliTool['spec']['input_schema'];
  return {
    ...slim,
    spec: { ...(name !== undefined && { name }), description, input_schema: schema, image: '', command: [] },
  };
}

/** A command is never empty; a slim one is. */
const isWholeCliTool = ({ spec }: CliTool): boolean => spec.command.length > 0;

/** Bytes of heap for objects in full, of each kind: those used last spare a request. */
const keptBytes = bytesOf('whole tools');

/** Kinds that tools are made of, with the part that caches of any process keep of them (`createWholeObjects`). */
export const partlyKept = {
  /** Without documents. */
  ApiSpec: { resource: apiSpecs, slim: slimApiSpec, isWhole: isWholeApiSpec, keptBytes },
  /** With the number of their steps, and with their schemas where those are small. */
  ToolWorkflow: { resource: toolWorkflows, slim: slimToolWorkflow, isWhole: isWholeToolWorkflow, keptBytes },
  /** Large ones with their names and descriptions alone. */
  CliTool: { resource: cliTools, slim: slimCliTool, isWhole: isWholeCliTool, keptBytes },
} as const;
