import { type Static, Type } from 'typebox';
import { oneOf, timestamp } from './parts.ts';

/** The standard Kubernetes condition; its field names are camelCase as everywhere in Kubernetes. */
export const Condition = Type.Object(
  {
    type: Type.String({ maxLength: 316 }),
    status: oneOf(['True', 'False', 'Unknown']),
    reason: Type.String({ pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$', maxLength: 1_024 }),
    message: Type.String({ maxLength: 32_768 }),
    lastTransitionTime: timestamp(),
    observedGeneration: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);
export type Condition = Static<typeof Condition>;

export const Conditions = Type.Array(Condition, {
  maxItems: 8,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
});
