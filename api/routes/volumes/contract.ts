import { type Static, Type } from 'typebox';
import { oneOf, timestamp } from '../../../crds/schema/parts.ts';
import { defineContract, type ErrorContract } from '../../../lib/http/contract.ts';
import { nextCursor, pageQuery, unknownCursor } from '../../../lib/http/paging.ts';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

/** requirements AMB-188. */
export const VolumeView = Type.Object(
  {
    volume_id: Type.String({ format: 'uuid', description: 'The id that `volume_id` of a manifest names.' }),
    name: Type.String({ description: 'Its name in Kubernetes.' }),
    declared_name: orNull(Type.String({ description: 'Its name in the workflow that it was made for.' })),
    storage_class: oneOf(['ephemeral', 'persistent']),
    phase: oneOf(['pending', 'ready', 'expired', 'failed']),
    message: orNull(Type.String({ description: 'Reason for which its claim waits or cannot be used.' })),
    size_limit_mb: orNull(Type.Integer({ description: 'Size in MiB; null: that of the installation.' })),
    expires_at: orNull(timestamp({ description: 'When its data are deleted; null: not by time.' })),
    execution_id: orNull(Type.String({ description: 'The execution that it was made for.' })),
    created_at: timestamp(),
  },
  { additionalProperties: false },
);
export type VolumeView = Static<typeof VolumeView>;

const example: VolumeView = {
  volume_id: 'a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22',
  name: 'nightly-workspace-5f3c1d9a2b',
  declared_name: 'workspace',
  storage_class: 'ephemeral',
  phase: 'ready',
  message: null,
  size_limit_mb: 512,
  expires_at: '2026-01-02T05:04:05.000Z',
  execution_id: '1c2a5f0c-3f0b-4a52-8f5d-7f3b6f0b1c22',
  created_at: '2026-01-02T03:04:05Z',
};

/** The same for an id that is malformed, unknown or another tenant's. */
export const unknownVolume: ErrorContract = {
  status: 404,
  error: 'Volume not found',
  when: 'The tenant has no volume of that id.',
};

const tag = 'Volumes';
const params = Type.Object({ volume_id: Type.String({ maxLength: 253, description: 'Id or name of the volume.' }) });

export const listVolumes = defineContract({
  operationId: 'listVolumes',
  method: 'get',
  path: '/v1/volumes',
  tag,
  summary: 'List volumes',
  access: 'bearer',
  query: Type.Object(pageQuery('Volumes'), { additionalProperties: false }),
  success: {
    kind: 'json',
    description: 'The volumes of the tenant, the newest first.',
    schema: Type.Object({ volumes: Type.Array(VolumeView), next_cursor: nextCursor }, { additionalProperties: false }),
    example: { volumes: [example], next_cursor: null },
  },
  errors: [unknownCursor],
});

export const readVolume = defineContract({
  operationId: 'readVolume',
  method: 'get',
  path: '/v1/volumes/{volume_id}',
  tag,
  summary: 'Read a volume',
  access: 'bearer',
  params,
  success: { kind: 'json', description: 'The volume.', schema: VolumeView, example },
  errors: [unknownVolume],
});

export const deleteVolume = defineContract({
  operationId: 'deleteVolume',
  method: 'delete',
  path: '/v1/volumes/{volume_id}',
  tag,
  summary: 'Delete a volume',
  description:
    'Deletes a volume and its data; a claim that was made elsewhere stays. A step that has it mounted keeps it until ' +
    'it ends.',
  access: 'bearer',
  params,
  success: {
    kind: 'json',
    description: 'The volume is deleted, or is being deleted.',
    schema: Type.Object({ status: Type.Literal('deleted') }, { additionalProperties: false }),
    example: { status: 'deleted' },
  },
  errors: [unknownVolume],
});
