import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { Conditions } from './condition.ts';
import type { KubernetesObject } from './object.ts';
import { cel, type CelRule, manifestNamePattern, mapOf, timestamp } from './parts.ts';

/** A router that does nothing is a mistake. The names of sources are checked by an admission policy, which can tell them. */
const stimulusRouterRules: CelRule[] = [
  {
    rule: '(has(self.routes) && self.routes.size() > 0) || has(self.router_agent)',
    message: 'needs at least one route, or a router_agent',
  },
];

/** Which workflow a tenant's stimuli start (spec 1 §2.4, WorkflowRegistry; requirements AMB-052). */
export const StimulusRouterSpec = Type.Object(
  {
    routes: Type.Optional(
      mapOf(
        Type.String({
          minLength: 1,
          maxLength: limits.objectNameLength,
          description: 'Name or uid of a Workflow here or in the global namespace.',
        }),
        {
          maxProperties: limits.mapEntries,
          description:
            'The workflow of each source. A source is `http_api`, a name of your own, the last part of the address of a webhook, or `workflow:NAME` for the ends of its executions.',
        },
      ),
    ),
    router_agent: Type.Optional(
      Type.String({
        pattern: manifestNamePattern,
        description: 'Name or uid of the Agent that chooses a workflow for sources without a route.',
      }),
    ),
    confidence_threshold: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: limits.confidenceThresholdDefault,
        description: 'The least confidence with which the router agent decides.',
      }),
    ),
    promote_after: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 1_000_000,
        description:
          'So many equal choices of the router agent in a row make a route of the source. Absent: patterns are logged alone.',
      }),
    ),
  },
  { additionalProperties: false, ...cel(...stimulusRouterRules) },
);
export type StimulusRouterSpec = Static<typeof StimulusRouterSpec>;

/** A source whose webhooks come to this tenant, and to no other (requirements AMB-144). */
export const SourceClaim = Type.Object(
  {
    source: Type.String({ maxLength: limits.nameLength }),
    since: timestamp({ description: 'When it was claimed; the earliest claim counts.' }),
  },
  { additionalProperties: false },
);
export type SourceClaim = Static<typeof SourceClaim>;

export const StimulusRouterStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
    claims: Type.Optional(
      Type.Array(SourceClaim, {
        maxItems: limits.mapEntries,
        description: 'The sources whose webhooks come here.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['source'],
      }),
    ),
    routes: Type.Optional(Type.Integer({ minimum: 0, description: 'How many routes lead to a workflow.' })),
  },
  { additionalProperties: false },
);
export type StimulusRouterStatus = Static<typeof StimulusRouterStatus>;

export type StimulusRouter = KubernetesObject<'StimulusRouter', StimulusRouterSpec, StimulusRouterStatus>;
