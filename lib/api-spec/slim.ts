import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';
import { keptSchema } from '../json-schema/large-schema.ts';

/** An ApiSpec without its document, for caches. */
export const slimApiSpec = (spec: ApiSpec): ApiSpec => {
  const { document: _, ...rest } = spec.spec;
  return { ...spec, metadata: slimMetadata(spec.metadata), spec: rest };
};

/** Whether the cache keeps all of it: an inline document is what it leaves out. */
export const isWholeApiSpec = ({ spec }: ApiSpec): boolean =>
  spec.document !== undefined || spec.document_parts !== undefined;

/** A ToolWorkflow whose steps keep their names and operations alone, for caches. */
export const slimToolWorkflow = (workflow: ToolWorkflow): ToolWorkflow => ({
  ...workflow,
  metadata: slimMetadata(workflow.metadata),
  spec: {
    ...workflow.spec,
    input_schema: keptSchema(workflow.spec.input_schema) as ToolWorkflow['spec']['input_schema'],
    steps: workflow.spec.steps.map(({ name, operation_id, on_error }) => ({
      name,
      operation_id,
      on_error,
      body_template: '',
    })),
  },
});

/** A CliTool without what others wrote on it, and without a schema that is too large, for caches. */
export const slimCliTool = (tool: CliTool): CliTool => ({
  ...tool,
  metadata: slimMetadata(tool.metadata),
  spec: { ...tool.spec, input_schema: keptSchema(tool.spec.input_schema) as CliTool['spec']['input_schema'] },
});

/** A body template is never empty; a slim one is. */
export const isWholeToolWorkflow = ({ spec }: ToolWorkflow): boolean =>
  spec.steps.every(({ body_template: body }) => body !== '');
