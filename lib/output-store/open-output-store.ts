import type { Clock } from '../clock.ts';
import type { KubeClient } from '../kube/index.ts';
import { createConfigMapStore } from './config-map-store.ts';
import { createLayeredStore } from './layered-store.ts';
import type { OutputStore } from './output-store.ts';
import { type S3Config, s3Options } from './s3-config.ts';
import { createS3Store } from './s3-store.ts';

interface OutputStoreDeps {
  readonly clock: Clock;
  readonly kube: KubeClient;
  /** Asked before every write to a bucket; what it throws ends the call with nothing written. */
  readonly guard: () => void;
}

type Config = S3Config & { readonly WINDLASS_OUTPUT_STORE: 'configmap' | 's3' };

/**
 * The store that is configured. A bucket is written and read before ConfigMaps, where the outputs of earlier days may be.
 * @throws ConfigError where the bucket is wanted and not named.
 */
export function openOutputStore({ clock, kube, guard }: OutputStoreDeps, config: Config): OutputStore {
  const configMaps = createConfigMapStore(kube);
  if (config.WINDLASS_OUTPUT_STORE === 'configmap') return configMaps;
  return createLayeredStore(createS3Store({ ...s3Options(config, clock), guard }), configMaps);
}
