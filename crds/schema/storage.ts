import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { volumeNamePattern } from '../reserved-names.ts';
import { sharedVolumeRules, workspaceRules } from '../rules/storage-rules.ts';
import { uidPattern } from '../uid.ts';
import { cel, oneOf } from './parts.ts';

const storageClass = oneOf(['ephemeral', 'persistent'], {
  default: 'ephemeral',
  description: 'ephemeral volumes are deleted after ttl_hours, persistent ones stay until a user deletes them.',
});
const ttlHours = Type.Integer({
  minimum: 1,
  maximum: 8_760,
  description: 'Hours from the start of the workflow until an ephemeral volume is deleted.',
});
const sizeLimit = Type.Integer({
  minimum: 1,
  maximum: limits.volumeSizeMb,
  description: 'Size of the claim in MiB. A StorageClass that enforces sizes ends a write beyond it with ENOSPC.',
});

/** spec 1 §2.6, `spec.storage.workspace`: the default volume, known to states under the name `workspace`. */
export const Workspace = Type.Object(
  {
    storage_class: Type.Optional(storageClass),
    ttl_hours: Type.Optional(ttlHours),
    size_limit_mb: Type.Optional(sizeLimit),
  },
  {
    additionalProperties: false,
    description: 'The default shared volume, made before any state runs.',
    ...cel(...workspaceRules),
  },
);

/** spec 1 §2.6, `spec.storage.shared_volumes[]`. */
export const SharedVolume = Type.Object(
  {
    name: Type.String({
      pattern: volumeNamePattern,
      maxLength: limits.nameLength,
      description: 'Unique name of the volume: any text without / and control characters.',
    }),
    storage_class: Type.Optional(storageClass),
    ttl_hours: Type.Optional(ttlHours),
    size_limit_mb: Type.Optional(sizeLimit),
    volume_id: Type.Optional(
      Type.String({
        pattern: uidPattern,
        description: 'uid of a Volume made beforehand; persistent volumes only.',
      }),
    ),
  },
  { additionalProperties: false, ...cel(...sharedVolumeRules) },
);

export const Storage = Type.Object(
  {
    workspace: Type.Optional(Workspace),
    shared_volumes: Type.Optional(
      Type.Array(SharedVolume, {
        maxItems: limits.sharedVolumes,
        description: 'Further volumes, by name.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
    ),
  },
  { additionalProperties: false, description: 'Volumes that the states share.' },
);
export type Storage = Static<typeof Storage>;
