import { type Static, Type } from 'typebox';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../config.ts';
import type { S3StoreOptions } from './s3-store.ts';

/** Environment variables that name the bucket, the same for the controllers and the command line. */
export const s3Variables = {
  WINDLASS_S3_BUCKET: Type.Optional(Type.String({ minLength: 1 })),
  WINDLASS_S3_ENDPOINT: Type.Optional(Type.String({ minLength: 1 })),
  WINDLASS_S3_REGION: Type.String({ minLength: 1, default: 'us-east-1' }),
  WINDLASS_S3_PREFIX: Type.String({ default: 'windlass/' }),
  WINDLASS_S3_PATH_STYLE: Type.Boolean({ default: false }),
};

export const S3Config = Type.Object(s3Variables);
export type S3Config = Readonly<Static<typeof S3Config>>;

/**
 * Configuration of the bucket from the environment. Credentials are not among them: the AWS SDK finds them.
 * @throws ConfigError where no bucket is named.
 */
export function s3Options(config: S3Config, clock: Clock): S3StoreOptions {
  const bucket = config.WINDLASS_S3_BUCKET;
  if (bucket === undefined) {
    throw new ConfigError([
      { name: 'WINDLASS_S3_BUCKET', problem: 'is not set; it must be the bucket of the outputs' },
    ]);
  }
  return {
    bucket,
    endpoint: config.WINDLASS_S3_ENDPOINT,
    region: config.WINDLASS_S3_REGION,
    prefix: config.WINDLASS_S3_PREFIX,
    pathStyle: config.WINDLASS_S3_PATH_STYLE,
    clock,
  };
}
