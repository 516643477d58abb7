import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import type { KubernetesObject } from './object.ts';
import { cel, mapOf } from './parts.ts';

const tag = Type.String({ minLength: 1, maxLength: limits.edgeTagLength });
const one = { minProperties: 1, maxProperties: 1 } as const;

/** The id of a host; letters, digits and `. _ -`, which names and subjects accept. */
export const NodeId = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  maxLength: 64,
  description: 'node_id of a host.',
});

/** spec 2 §2.3. */
const TagMatcher = Type.Object(
  {
    AllOf: Type.Optional(
      Type.Array(tag, { minItems: 1, maxItems: limits.edgeTags, description: 'The host has all of these tags.' }),
    ),
    Has: Type.Optional(
      Type.String({ minLength: 1, maxLength: limits.edgeTagLength, description: 'The host has this tag.' }),
    ),
  },
  { additionalProperties: false, ...one, description: 'Exactly one of AllOf and Has.' },
);

const LabelMatcher = Type.Object(
  {
    Equals: mapOf(Type.String({ maxLength: limits.edgeLabelLength }), {
      ...one,
      description: 'One label and its value.',
    }),
  },
  { additionalProperties: false },
);

/** spec 2 §2.3: a host must satisfy all that is given; an empty selector matches every host (AMB-101). */
export const EdgeSelector = Type.Object(
  {
    os: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Operating system of the host.' })),
    tools: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: limits.toolNameLength }), {
        maxItems: limits.edgeSelectorItems,
        description: 'Local tools that the host must all have.',
      }),
    ),
    tags: Type.Optional(
      Type.Array(TagMatcher, { maxItems: limits.edgeSelectorItems, description: 'Matchers of tags.' }),
    ),
    labels: Type.Optional(
      Type.Array(LabelMatcher, { maxItems: limits.edgeSelectorItems, description: 'Matchers of labels.' }),
    ),
  },
  { additionalProperties: false, description: 'Which hosts; a host must satisfy all that is given.' },
);
export type EdgeSelector = Static<typeof EdgeSelector>;

export const EdgeGroupSpec = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: limits.edgeNameLength, description: 'Display name.' }),
    selector: Type.Optional(EdgeSelector),
    pinned_members: Type.Optional(
      Type.Array(NodeId, {
        maxItems: limits.edgePinnedMembers,
        description: 'Hosts that belong to the group whatever its selector says.',
      }),
    ),
  },
  {
    additionalProperties: false,
    ...cel({
      rule: 'has(self.selector) || (has(self.pinned_members) && size(self.pinned_members) > 0)',
      message: 'selector: is required where no host is pinned; {} matches every host',
    }),
  },
);
export type EdgeGroupSpec = Static<typeof EdgeGroupSpec>;

export const EdgeGroupStatus = Type.Object(
  { observedGeneration: Type.Optional(Type.Integer()) },
  { additionalProperties: false },
);
export type EdgeGroupStatus = Static<typeof EdgeGroupStatus>;

/** The group of spec 2 §2.3; its `id` is the uid of the object. */
export type EdgeGroup = KubernetesObject<'EdgeGroup', EdgeGroupSpec, EdgeGroupStatus>;
