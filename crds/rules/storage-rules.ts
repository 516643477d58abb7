import type { CelRule } from '../schema/parts.ts';

/** An absent storage_class means ephemeral. */
const ephemeral = "(!has(self.storage_class) || self.storage_class == 'ephemeral')";

const onlyEphemeral = (field: string): CelRule => ({
  rule: `!has(self.${field}) || ${ephemeral}`,
  message: `${field} is for ephemeral volumes only`,
  fieldPath: `.${field}`,
  reason: 'FieldValueForbidden',
});

/** WF-STOR-03: a persistent workspace has no life of its own. */
export const workspaceRules: CelRule[] = [onlyEphemeral('ttl_hours')];

/** WF-STOR-07 to WF-STOR-09. */
export const sharedVolumeRules: CelRule[] = [
  onlyEphemeral('ttl_hours'),
  onlyEphemeral('size_limit_mb'),
  {
    rule: `!has(self.volume_id) || !${ephemeral}`,
    message: 'volume_id is for persistent volumes only',
    fieldPath: '.volume_id',
    reason: 'FieldValueForbidden',
  },
  {
    rule: "self.name != 'workspace'",
    message: "'workspace' is the name of the default volume; choose another",
    fieldPath: '.name',
  },
];

/** Rules of a Volume object: what it is never changes, when it expires may. */
export const volumeRules: CelRule[] = [
  onlyEphemeral('expires_at'),
  {
    rule: 'self.storage_class == oldSelf.storage_class',
    message: 'storage_class is immutable',
    fieldPath: '.storage_class',
  },
  ...['size_limit_mb', 'claim_name'].map(
    (field): CelRule => ({
      rule: `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
      message: `${field} is immutable`,
      fieldPath: `.${field}`,
    }),
  ),
];
