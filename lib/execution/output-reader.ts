import { outputsFinalizer } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Clock } from '../clock.ts';
import { type Environment, parseConfig } from '../config.ts';
import { AppError } from '../errors.ts';
import { locatorOf } from '../output-store/blob.ts';
import { type ConfigMapPort, createConfigMapStore } from '../output-store/config-map-store.ts';
import { createLayeredStore } from '../output-store/layered-store.ts';
import type { OutputStore } from '../output-store/output-store.ts';
import { S3Config, s3Options } from '../output-store/s3-config.ts';
import { createS3Store } from '../output-store/s3-store.ts';
import type { BlobReader } from './whole-value.ts';

/** Reads the outputs that an execution has stored, with the rights of the caller. */
export type OutputReader = (execution: Pick<WorkflowExecution, 'metadata'>) => BlobReader;

/**
 * Reads from ConfigMaps with the client's rights in the cluster. Reads from S3 with the credentials that the AWS SDK
 * finds, and the bucket of the WINDLASS_S3_ variables that the controllers have.
 */
export function createOutputReader(kube: ConfigMapPort, env: Environment, clock: Clock): OutputReader {
  const configMaps = createConfigMapStore(kube);
  let bucket: OutputStore | undefined;
  return ({ metadata }) => {
    const { uid = '', namespace = '', finalizers = [] } = metadata;
    return async (blob) => {
      const locator = locatorOf(uid, { ...blob, encoding: 'text' });
      if (!finalizers.includes(outputsFinalizer)) return configMaps.get(namespace, locator);
      // An execution that began before the bucket was configured has outputs in both places.
      bucket ??= createLayeredStore(createS3Store(s3Options(parseS3(env), clock)), configMaps);
      return bucket.get(namespace, locator);
    };
  };
}

function parseS3(env: Environment): S3Config {
  if (env['WINDLASS_S3_BUCKET']) return parseConfig(S3Config, env);
  const message = 'the outputs of this execution are kept in S3, and no bucket is named: set WINDLASS_S3_BUCKET';
  throw new AppError('unavailable', message, { reason: 'OutputStoreNotConfigured' });
}
