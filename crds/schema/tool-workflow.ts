import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { toolStepRules, toolWorkflowRules } from '../rules/tool-rules.ts';
import { toolStepPattern } from '../tool-name.ts';
import { uidPattern } from '../uid.ts';
import { registeredName } from './api-spec.ts';
import { Conditions } from './condition.ts';
import type { KubernetesObject } from './object.ts';
import { anySchema, cel, mapOf } from './parts.ts';

/** How a failed step ends (spec 3 §3.3). The object has one key; `RetryN` counts further attempts. */
export type OnError = 'AbortWorkflow' | 'Continue' | { readonly RetryN: number };

const ToolStep = Type.Object(
  {
    name: Type.String({ pattern: toolStepPattern, maxLength: 63, description: 'Unique; prefix of extracted values.' }),
    operation_id: Type.String({
      minLength: 1,
      maxLength: limits.operationIdLength,
      description: 'An operationId of the ApiSpec.',
    }),
    body_template: Type.String({
      minLength: 1,
      maxLength: limits.templateLength,
      description: 'Template that renders the JSON body, which every method sends; {} where none is needed.',
    }),
    extractors: Type.Optional(
      mapOf(Type.String({ minLength: 1, maxLength: limits.extractorLength, description: 'JSONPath of the value.' }), {
        maxProperties: limits.stepExtractors,
        description: 'Variables and the JSONPath of each in the response body; the first match counts.',
      }),
    ),
    on_error: Type.Unsafe<OnError>({
      'x-kubernetes-preserve-unknown-fields': true,
      description: `AbortWorkflow, Continue, or an object with the key RetryN and 0 to ${limits.stepRetriesMax} further attempts.`,
    }),
  },
  { additionalProperties: false, ...cel(...toolStepRules) },
);
export type ToolStep = Static<typeof ToolStep>;

/** A chain of HTTP operations of one API, called as one tool (spec 3 §2.4). */
export const ToolWorkflowSpec = Type.Object(
  {
    name: Type.Optional(registeredName('Name that agents call. Default: the name of the object.')),
    description: Type.String({
      minLength: 1,
      maxLength: limits.toolDescriptionLength,
      description: 'Shown in the listing of tools.',
    }),
    input_schema: anySchema({ description: 'JSON Schema of the arguments; its type is object.' }),
    api_spec_id: Type.Optional(
      Type.String({
        pattern: uidPattern,
        maxLength: limits.uidLength,
        description: 'Uid of an ApiSpec here or in windlass-global.',
      }),
    ),
    api_spec: Type.Optional(registeredName('Name of an ApiSpec here or in windlass-global, in place of api_spec_id.')),
    steps: Type.Array(ToolStep, {
      minItems: 1,
      maxItems: limits.toolSteps,
      description: 'The operations, in their order.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }),
  },
  { additionalProperties: false, ...cel(...toolWorkflowRules) },
);
export type ToolWorkflowSpec = Static<typeof ToolWorkflowSpec>;

export const ToolWorkflowStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
    api_spec: Type.Optional(Type.String({ description: 'Namespace and name of the ApiSpec, with / between them.' })),
    steps: Type.Optional(Type.Integer({ minimum: 0, description: 'How many steps it has.' })),
    warnings: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.warningLength }), {
        maxItems: limits.warnings,
        description: 'Parts of templates that are legal and probably mistakes.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ToolWorkflowStatus = Static<typeof ToolWorkflowStatus>;

export type ToolWorkflow = KubernetesObject<'ToolWorkflow', ToolWorkflowSpec, ToolWorkflowStatus>;
