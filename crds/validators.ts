import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import type { TSchema } from 'typebox';
import { toJsonSchema } from './json-schema.ts';
import type { Place, Problem } from './problem.ts';
import { AgentSpec } from './schema/agent.ts';
import { ApiSpecSpec } from './schema/api-spec.ts';
import { CliToolSpec } from './schema/cli-tool.ts';
import { ToolWorkflowSpec } from './schema/tool-workflow.ts';
import { EdgeGroupSpec } from './schema/edge-group.ts';
import { FleetRunSpec } from './schema/fleet-run.ts';
import { GitBindingSpec } from './schema/git-binding.ts';
import { ScriptSpec } from './schema/script.ts';
import { VolumeSpec } from './schema/volume.ts';
import { WorkflowSpec } from './schema/workflow.ts';
import { WorkflowExecutionSpec } from './schema/workflow-execution.ts';
import { WorkflowManifest } from './schema/workflow-manifest.ts';
import { sourceOf } from './source-schema.ts';
import { meantErrors } from './union-errors.ts';
import { toProblem } from './validation-problem.ts';

/** Everything that breaks the schema, each with its place; empty for a good value. The value is never changed. */
export type Validator = (value: unknown) => readonly Problem[];

/** A validator of one schema, compiled at its first use. Paths begin with `base`. */
export function createValidator(schema: TSchema, base: Place = []): Validator {
  let compiled: ValidateFunction | undefined;
  return (value) => {
    compiled ??= createAjv().compile(toJsonSchema(sourceOf(schema)));
    if (compiled(value)) return [];
    return meantErrors(compiled.errors ?? []).map((error) => toProblem(error, value, base));
  };
}

/** Validators of the specs that users write; paths begin with `spec`. */
export const validateSpec: Readonly<
  Record<
    | 'Workflow'
    | 'WorkflowExecution'
    | 'Volume'
    | 'Agent'
    | 'ApiSpec'
    | 'ToolWorkflow'
    | 'CliTool'
    | 'Script'
    | 'GitBinding'
    | 'EdgeGroup'
    | 'FleetRun',
    Validator
  >
> = {
  Workflow: createValidator(WorkflowSpec, ['spec']),
  WorkflowExecution: createValidator(WorkflowExecutionSpec, ['spec']),
  Volume: createValidator(VolumeSpec, ['spec']),
  Agent: createValidator(AgentSpec, ['spec']),
  ApiSpec: createValidator(ApiSpecSpec, ['spec']),
  ToolWorkflow: createValidator(ToolWorkflowSpec, ['spec']),
  CliTool: createValidator(CliToolSpec, ['spec']),
  Script: createValidator(ScriptSpec, ['spec']),
  GitBinding: createValidator(GitBindingSpec, ['spec']),
  EdgeGroup: createValidator(EdgeGroupSpec, ['spec']),
  FleetRun: createValidator(FleetRunSpec, ['spec']),
};

/** Validator of a whole workflow in the manifest form (spec 1 §2.6). */
export const validateManifest: Validator = createValidator(WorkflowManifest);

function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strict: true, discriminator: true, verbose: true, logger: false });
  formatsPlugin.default(ajv, ['date-time', 'uuid', 'uri']);
  return ajv;
}
