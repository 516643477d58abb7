import { setImmediate } from 'node:timers/promises';
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

/**
 * Problems of a value by its schema, each with its place: `problemsMax` of them at most, of a large value the first one
 * alone; empty for a good value. The value is never changed.
 */
export type Validator = (value: unknown) => readonly Problem[];

/** Problems of one value: a person mends a few at a time, and each takes memory, time and room in an answer. */
export const problemsMax = 100;

/**
 * Members and items of a value whose problems are all looked for. ajv keeps an object for each error, whatever their
 * number. A body of 20,000 unknown fields held a process for 0.2 s.
 */
export const smallValue = 4_000;

/** A validator that can be compiled before its first use. */
export interface Compilable extends Validator {
  /** Its parts; each compiles what is not compiled yet, and takes up to 100 ms. */
  readonly parts: readonly (() => unknown)[];
  /** The JSON Schema that the parts are made of. */
  readonly jsonSchema: () => object;
}

/** Compiles validators, one part a turn of the event loop, so that no later turn has to. */
export async function compileInTurns(validators: readonly Compilable[]): Promise<void> {
  for (const part of validators.flatMap(({ parts }) => parts)) {
    part();
    await setImmediate();
  }
}

/** A validator of one schema, compiled at its first use at the latest. Paths begin with `base`. */
export function createValidator(schema: TSchema, base: Place = []): Compilable {
  const jsonSchema = () => toJsonSchema(sourceOf(schema));
  const compile = (allErrors: boolean): ValidateFunction => createAjv(allErrors).compile(jsonSchema());
  let first: ValidateFunction | undefined;
  let all: ValidateFunction | undefined;
  const toFirst = (): ValidateFunction => (first ??= compile(false));
  const toAll = (): ValidateFunction => (all ??= compile(true));
  const validate: Validator = (value) => {
    if (toFirst()(value)) return [];
    let { errors } = toFirst();
    if (isSmall(value)) {
      toAll()(value);
      ({ errors } = toAll());
    }
    return meantErrors(errors ?? [])
      .slice(0, problemsMax)
      .map((error) => toProblem(error, value, base));
  };
  return Object.assign(validate, { parts: [toFirst, toAll], jsonSchema });
}

/** Counts no further than the bound. */
function isSmall(value: unknown): boolean {
  const open: unknown[] = [value];
  let count = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const values = Object.values(next);
    count += values.length;
    if (count > smallValue) return false;
    for (const one of values) if (typeof one === 'object' && one !== null) open.push(one);
  }
  return true;
}

/** Validators of the specs that users write; paths begin with `spec`. */
export const validateSpec = {
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
} as const satisfies Readonly<Record<string, Compilable>>;

/** Validator of a whole workflow in the manifest form (spec 1 §2.6). */
export const validateManifest = createValidator(WorkflowManifest);

/**
 * The schemas are ours and a test judges them: a process that starts neither compiles the schema of schemas nor shortens
 * the code that it generates. Both together took a second of processor time.
 */
function createAjv(allErrors: boolean): Ajv2020 {
  const ours = { meta: false, validateSchema: false, code: { optimize: false } } as const;
  const ajv = new Ajv2020({ ...ours, allErrors, strict: true, discriminator: true, verbose: true, logger: false });
  formatsPlugin.default(ajv, ['date-time', 'uuid', 'uri']);
  return ajv;
}
