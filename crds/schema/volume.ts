import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { volumeRules } from '../rules/storage-rules.ts';
import { Conditions } from './condition.ts';
import type { KubernetesObject } from './object.ts';
import { cel, givenTimestamp, oneOf } from './parts.ts';

/** A volume that workflows share (spec 1 §2.6, `spec.storage`); its uid is the `volume_id` of a manifest. */
export const VolumeSpec = Type.Object(
  {
    storage_class: oneOf(['ephemeral', 'persistent'], {
      description: 'An ephemeral one is deleted at expires_at, a persistent one stays until a user deletes it.',
    }),
    size_limit_mb: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.volumeSizeMb,
        description: 'Size of the claim in MiB; its StorageClass may enforce it.',
      }),
    ),
    expires_at: Type.Optional(givenTimestamp({ description: 'When an ephemeral volume is deleted.' })),
    claim_name: Type.Optional(
      Type.String({
        maxLength: limits.objectNameLength,
        description: 'An existing PersistentVolumeClaim to use instead of a new one.',
      }),
    ),
  },
  { additionalProperties: false, ...cel(...volumeRules) },
);
export type VolumeSpec = Static<typeof VolumeSpec>;

export const VolumeStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
    claim_name: Type.Optional(Type.String({ description: 'The PersistentVolumeClaim that holds the data.' })),
    phase: Type.Optional(oneOf(['pending', 'ready', 'expired', 'failed'])),
  },
  { additionalProperties: false },
);
export type VolumeStatus = Static<typeof VolumeStatus>;

export type Volume = KubernetesObject<'Volume', VolumeSpec, VolumeStatus>;
