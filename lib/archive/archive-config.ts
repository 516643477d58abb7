import { type Static, Type } from 'typebox';

/** Environment variables of the archive, the same for controllers and API. */
export const archiveVariables = {
  WINDLASS_ARCHIVE: Type.Boolean({ default: true }),
  WINDLASS_ARCHIVE_MAX_AGE_DAYS: Type.Integer({ minimum: 1, maximum: 3_650, default: 30 }),
  WINDLASS_ARCHIVE_MAX_MB: Type.Integer({ minimum: 1, maximum: 1_048_576, default: 2_048 }),
  /** How long a finished execution outlives its time while it cannot be archived. */
  WINDLASS_ARCHIVE_GRACE_SECONDS: Type.Integer({ minimum: 0, maximum: 2_592_000, default: 3_600 }),
};

const ArchiveConfig = Type.Object(archiveVariables);
export type ArchiveConfig = Readonly<Static<typeof ArchiveConfig>>;

const dayMs = 86_400_000;

/** How long records are kept, in milliseconds. */
export const archiveAgeMs = (config: ArchiveConfig): number => config.WINDLASS_ARCHIVE_MAX_AGE_DAYS * dayMs;
/** Size limit of all records together. */
export const archiveBytes = (config: ArchiveConfig): number => config.WINDLASS_ARCHIVE_MAX_MB * 1_048_576;
