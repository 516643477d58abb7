import type { KubeClient } from '../../lib/kube/index.ts';
import type { ControllersConfig } from '../config.ts';
import type { PodSettings } from './template.ts';

/** The first minor version of Kubernetes 1 that mounts image volumes without a feature gate. */
const imageVolumesSince = 35;

const ephemeralStorage = 'ephemeral-storage';

/** The operator's settings for step pods. Asks the server for its version once. */
export async function podSettings(
  kube: Pick<KubeClient, 'serverVersion'>,
  config: ControllersConfig,
): Promise<PodSettings> {
  const { major, minor } = await kube.serverVersion();
  const mount = config.WINDLASS_RUNNER_MOUNT;
  const able = major > 1 || minor >= imageVolumesSince;
  return {
    runnerImage: config.WINDLASS_RUNNER_IMAGE,
    systemImage: config.WINDLASS_SYSTEM_IMAGE,
    imageVolumes: mount === 'image-volume' || (mount === 'auto' && able),
    runAsUser: config.WINDLASS_STEP_RUN_AS_USER,
    doNotDisrupt: config.WINDLASS_STEP_DO_NOT_DISRUPT,
    nodeLostSeconds: config.WINDLASS_STEP_NODE_LOST_SECONDS,
    workdirSize: config.WINDLASS_STEP_WORKDIR_SIZE,
    alwaysPull: config.WINDLASS_STEP_ALWAYS_PULL,
    defaultResources: {
      requests: {
        cpu: config.WINDLASS_STEP_CPU_REQUEST,
        memory: config.WINDLASS_STEP_MEMORY_REQUEST,
        // Without a request of its own it would be the limit, of which a node has room for few.
        [ephemeralStorage]: '0',
      },
      limits: { [ephemeralStorage]: config.WINDLASS_STEP_EPHEMERAL_STORAGE },
    },
  };
}
