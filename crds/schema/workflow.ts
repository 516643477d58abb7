import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { patternRule } from '../rules/pattern-rule.ts';
import { Conditions } from './condition.ts';
import type { KubernetesObject } from './object.ts';
import { anyJson, anyObject, anySchema, cel, type CelRule, mapOf, semanticVersionPattern, timestamp } from './parts.ts';
import { State } from './state.ts';
import { Storage } from './storage.ts';

/**
 * Rules of a workflow's spec. Rules on references to states of the map by key are in an admission policy
 * (crds/admission). Keys have no length limit here, so the API server cannot bound the cost of such a message.
 */
const workflowRules: CelRule[] = [
  {
    rule: 'self.initial_state in self.states',
    message: 'initial_state is not a key of states',
    messageExpression: `"'" + self.initial_state + "' is not a key of states"`,
    fieldPath: '.initial_state',
  },
];

/** spec 1 §2.6; a manifest keeps the first five fields under `metadata` (requirements AMB-060). */
export const WorkflowSpec = Type.Object(
  {
    version: Type.String({
      pattern: semanticVersionPattern,
      maxLength: 128,
      description: 'Semantic version. A version that exists is replaced only with force.',
      ...cel(patternRule(semanticVersionPattern)),
    }),
    description: Type.Optional(Type.String({ maxLength: 4_096, description: 'Purpose of the workflow.' })),
    input_schema: Type.Optional(anySchema({ description: 'JSON Schema of the start input; its type is object.' })),
    output_schema: Type.Optional(anyObject({ description: 'JSON Schema of final_output.' })),
    output_template: Type.Optional(
      mapOf(Type.String({ maxLength: limits.templateLength }), {
        maxProperties: limits.mapEntries,
        description: 'Templates that build final_output from the final Blackboard.',
      }),
    ),
    initial_state: Type.String({
      minLength: 1,
      maxLength: limits.nameLength,
      description: 'The first state, a key of states.',
    }),
    max_total_transitions: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.transitionsMax,
        default: limits.transitionsDefault,
        description: 'How many transitions may be taken; one more ends the workflow.',
      }),
    ),
    context: Type.Optional(
      mapOf(anyJson(), {
        maxProperties: limits.mapEntries,
        description: 'Constants; templates read them as {{workflow.context.KEY}}.',
      }),
    ),
    storage: Type.Optional(Storage),
    states: mapOf(State, { minProperties: 1, maxProperties: limits.states, description: 'States by name.' }),
  },
  { additionalProperties: false, ...cel(...workflowRules) },
);
export type WorkflowSpec = Static<typeof WorkflowSpec>;

/** One stored version of a workflow. */
const WorkflowVersion = Type.Object(
  {
    version: Type.String(),
    revision: Type.String({ description: 'Name of the ControllerRevision that holds this content.' }),
    registered_at: timestamp(),
  },
  { additionalProperties: false },
);

export const WorkflowStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
    versions: Type.Optional(
      Type.Array(WorkflowVersion, {
        maxItems: limits.workflowVersionsListed,
        description: 'Stored versions, the newest first.',
      }),
    ),
    revision: Type.Optional(Type.String({ description: 'Name of the ControllerRevision that holds this spec.' })),
    warnings: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.warningLength }), {
        maxItems: limits.warnings,
        description: 'Parts of the definition that are legal and probably mistakes.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type WorkflowStatus = Static<typeof WorkflowStatus>;

export type Workflow = KubernetesObject<'Workflow', WorkflowSpec, WorkflowStatus>;
