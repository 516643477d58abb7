import type { ControllersConfig } from '../config.ts';
import { defineModule } from '../runtime/module.ts';
import { wakeItself, wakeUnseen } from '../runtime/wakes.ts';
import { mountedClaimKeys, podInformer } from '../step-pods/informer.ts';
import { claimInformer, volumeInformer, volumesOfClaim } from './informers.ts';
import { createVolumeReconcile, type VolumeSettings } from './reconcile.ts';
import { isDone } from './release-claim.ts';

export const volumeModule = defineModule({
  kind: 'Volume',
  informers: { volumes: volumeInformer, claims: claimInformer, pods: podInformer },
  wakes: {
    volumes: wakeUnseen,
    /** A claim wakes the volume of its own name, and every volume that names it. */
    claims: (change, { volumes }) => wakeItself(change).flatMap((key) => volumesOfClaim(key, volumes.cache)),
    /** A step has mounted volumes, or has let them go and may be the last to hold a claim that is being deleted. */
    pods: ({ before, after }, { volumes }) => {
      if (after === undefined || (before?.status?.phase === after.status?.phase && !isDone(after))) return [];
      return mountedClaimKeys(after).flatMap((key) => volumesOfClaim(key, volumes.cache));
    },
  },
  reconcile: ({ kube, clock, events, facts, config, informers: { volumes, claims, pods } }) =>
    createVolumeReconcile({
      kube,
      clock,
      events,
      facts,
      volumes: volumes.cache,
      claims: claims.cache,
      pods: pods.cache,
      settings: settingsOf(config),
    }),
});

function settingsOf(config: ControllersConfig): VolumeSettings {
  const { WINDLASS_STORAGE_CLASS: storageClass } = config;
  return {
    accessMode: config.WINDLASS_VOLUME_ACCESS_MODE,
    defaultSizeMb: config.WINDLASS_VOLUME_SIZE_MB,
    ...(storageClass === undefined ? {} : { storageClass }),
  };
}
