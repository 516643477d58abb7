import { outputsFinalizer } from '../crds/labels.ts';
import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { parseConfig } from '../lib/config.ts';
import type { BlobLocator } from '../lib/output-store/blob.ts';
import { type ConfigMapPort, createConfigMapStore } from '../lib/output-store/config-map-store.ts';
import { createLayeredStore } from '../lib/output-store/layered-store.ts';
import type { OutputStore } from '../lib/output-store/output-store.ts';
import { S3Config, s3Options } from '../lib/output-store/s3-config.ts';
import { createS3Store } from '../lib/output-store/s3-store.ts';
import { CliError } from './exit-codes.ts';
import type { BlobReader } from './stored-value.ts';

/** What reads the outputs that an execution has stored, as the user at the terminal. */
export type OutputReader = (execution: WorkflowExecution) => BlobReader;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads from ConfigMaps with the user's rights in the cluster, and from S3 with the credentials that the AWS SDK
 * finds and the bucket of the same WINDLASS_S3_ variables that the controllers have.
 */
export function createOutputReader(kube: ConfigMapPort, env: Environment): OutputReader {
  const configMaps = createConfigMapStore(kube);
  let bucket: OutputStore | undefined;
  return ({ metadata }) => {
    const { uid = '', namespace = '', finalizers = [] } = metadata;
    return async (ref) => {
      const locator: BlobLocator = { executionUid: uid, ref, encoding: 'text' };
      if (!finalizers.includes(outputsFinalizer)) return configMaps.get(namespace, locator);
      // An execution that began before the bucket was configured has outputs in both places.
      bucket ??= createLayeredStore(createS3Store(s3Options(parseS3(env))), configMaps);
      return bucket.get(namespace, locator);
    };
  };
}

function parseS3(env: Environment): S3Config {
  if (env['WINDLASS_S3_BUCKET']) return parseConfig(S3Config, env);
  const hint =
    'Set WINDLASS_S3_BUCKET, and WINDLASS_S3_ENDPOINT, _REGION, _PREFIX and _PATH_STYLE where the controllers have ' +
    'them; credentials are taken from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from a profile.';
  throw new CliError('usage', 'the outputs of this execution are kept in S3, and no bucket is named', hint);
}
