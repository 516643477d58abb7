import { type BadManifest, byRule, bySchema } from '../row.ts';
import { byCel, removed } from './words.ts';

export const storage: readonly BadManifest[] = [
  bySchema('WF-MAN-20', 'a storage that is a text', [['spec.storage', 'workspace']], ['spec.storage', 'type']),
  bySchema(
    'WF-STOR-02',
    'a workspace of an unknown class',
    [['spec.storage.workspace.storage_class', 'fast']],
    ['spec.storage.workspace.storage_class', 'enum'],
  ),
  byCel(
    'WF-STOR-03',
    'a ttl on a persistent workspace',
    [['spec.storage.workspace.storage_class', 'persistent']],
    ['spec.storage.workspace.ttl_hours', 'storage_class', 'ttl_hours is for ephemeral volumes only'],
  ),
  bySchema(
    'WF-STOR-03',
    'a ttl of 0 hours',
    [['spec.storage.workspace.ttl_hours', 0]],
    ['spec.storage.workspace.ttl_hours', 'minimum'],
  ),
  bySchema(
    'WF-STOR-03',
    'a ttl of half an hour',
    [['spec.storage.workspace.ttl_hours', 0.5]],
    ['spec.storage.workspace.ttl_hours', 'type'],
  ),
  bySchema(
    'WF-STOR-04',
    'a size with a unit',
    [['spec.storage.workspace.size_limit_mb', '1Gi']],
    ['spec.storage.workspace.size_limit_mb', 'type'],
  ),
  bySchema(
    'WF-STOR-04',
    'a size of 0',
    [['spec.storage.workspace.size_limit_mb', 0]],
    ['spec.storage.workspace.size_limit_mb', 'minimum'],
  ),
  bySchema(
    'WF-STOR-01',
    'a name for the workspace',
    [['spec.storage.workspace.name', 'w']],
    ['spec.storage.workspace.name', 'unknown_field'],
  ),
  bySchema(
    'WF-STOR-05',
    'a shared volume without a name',
    [['spec.storage.shared_volumes.0.name', removed]],
    ['spec.storage.shared_volumes[0].name', 'required'],
  ),
  bySchema(
    'AMB-179',
    'a shared volume with a slash in its name',
    [['spec.storage.shared_volumes.0.name', 'a/b']],
    ['spec.storage.shared_volumes[0].name', 'pattern'],
  ),
  bySchema(
    'AMB-179',
    'a shared volume with a control character in its name',
    [['spec.storage.shared_volumes.0.name', 'a\u0085b']],
    ['spec.storage.shared_volumes[0].name', 'pattern'],
  ),
  bySchema(
    'AMB-179',
    'a shared volume whose name is empty',
    [['spec.storage.shared_volumes.0.name', '']],
    ['spec.storage.shared_volumes[0].name', 'pattern'],
  ),
  byRule('schema' as 'cel')(
    'AMB-179',
    'a shared volume with a name of 64 characters',
    [['spec.storage.shared_volumes.0.name', '\u{1f4e6}'.repeat(64)]],
    ['spec.storage.shared_volumes[0].name', 'pattern', 'Too long'],
  ),
  byRule('schema' as 'cel')(
    'WF-STOR-05',
    'two shared volumes of one name',
    [['spec.storage.shared_volumes.1.name', 'cache']],
    ['spec.storage.shared_volumes[1].name', 'duplicate', 'Duplicate value', 'spec.storage.shared_volumes[1]'],
  ),
  byCel(
    'WF-STOR-05 AMB-080',
    'a shared volume called workspace',
    [['spec.storage.shared_volumes.0.name', 'workspace']],
    ['spec.storage.shared_volumes[0].name', 'reserved_name', "'workspace' is the name of the default volume"],
  ),
  bySchema(
    'WF-STOR-06',
    'a shared volume of an unknown class',
    [['spec.storage.shared_volumes.0.storage_class', '']],
    ['spec.storage.shared_volumes[0].storage_class', 'enum'],
  ),
  byCel(
    'WF-STOR-07',
    'a ttl on a persistent shared volume',
    [['spec.storage.shared_volumes.1.ttl_hours', 1]],
    ['spec.storage.shared_volumes[1].ttl_hours', 'storage_class', 'ttl_hours is for ephemeral volumes only'],
  ),
  byCel(
    'WF-STOR-08',
    'a size on a persistent shared volume',
    [['spec.storage.shared_volumes.1.size_limit_mb', 1]],
    ['spec.storage.shared_volumes[1].size_limit_mb', 'storage_class', 'size_limit_mb is for ephemeral volumes only'],
  ),
  byCel(
    'WF-STOR-09',
    'a volume_id on an ephemeral volume',
    [['spec.storage.shared_volumes.1.storage_class', 'ephemeral']],
    ['spec.storage.shared_volumes[1].volume_id', 'storage_class', 'volume_id is for persistent volumes only'],
  ),
  byCel(
    'WF-STOR-09',
    'a volume_id without a class',
    [['spec.storage.shared_volumes.1.storage_class', removed]],
    ['spec.storage.shared_volumes[1].volume_id', 'storage_class', 'volume_id is for persistent volumes only'],
  ),
  bySchema(
    'WF-STOR-09',
    'a volume_id that is no UUID',
    [['spec.storage.shared_volumes.1.volume_id', 'archive']],
    ['spec.storage.shared_volumes[1].volume_id', 'pattern'],
  ),
];
