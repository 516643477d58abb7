import type { GitBinding } from '../../crds/schema/git-binding.ts';
import { createInformer, type Informer, stripStrangers } from '../../lib/informer/index.ts';
import { gitBindings } from '../../lib/kinds.ts';
import type { Pod } from '../../lib/kube/index.ts';
import type { ControllersConfig } from '../config.ts';
import { defineModule, type InformerSpec, type ModuleContext } from '../runtime/module.ts';
import { wakeItself } from '../runtime/wakes.ts';
import { podInformer } from '../step-pods/informer.ts';
import { ownerKey } from '../step-pods/step.ts';
import { podQuotaGate } from '../step-pods/own-pod.ts';
import { createPodReader } from '../step-pods/pod-reader.ts';
import type { QuotaGate } from '../step-pods/quota-gate.ts';
import { podSettings } from '../step-pods/settings.ts';
import { volumeInformer } from '../volume/informers.ts';
import type { GitPodSettings } from './git-pod.ts';
import { createGitBindingReconcile } from './reconcile.ts';

const kind = 'GitBinding';

const gitBindingInformer: InformerSpec<Informer<GitBinding>> = {
  name: 'gitBindings',
  kind,
  open: (deps) => createInformer(deps, { resource: gitBindings, strip: stripStrangers }),
};

const informers = { bindings: gitBindingInformer, volumes: volumeInformer, pods: podInformer };

export const gitBindingModule = defineModule({
  kind,
  informers,
  wakes: {
    bindings: wakeItself,
    volumes({ before, after }) {
      const { namespace = '', ownerReferences = [] } = (after ?? before)?.metadata ?? {};
      return ownerReferences.filter((owner) => owner.kind === kind).map(({ name }) => `${namespace}/${name}`);
    },
    pods({ before, after }) {
      const pod = after ?? before;
      const key = pod && ownerKey(pod, kind);
      return key === undefined ? [] : [key];
    },
  },
  /** Asks the server for its version once. */
  async reconcile(context) {
    const { kube, clock, events, logger, tenants, readTenant, runtime, wake, informers: opened } = context;
    const onNews = (pod: Pod): void => wake(ownerKey(pod, kind));
    return createGitBindingReconcile({
      kube,
      clock,
      events,
      bindings: opened.bindings.cache,
      volumes: opened.volumes.cache,
      pods: opened.pods.cache,
      reader: createPodReader({ kube, clock, logger, pods: opened.pods, onNews, signal: runtime.abandon }),
      isTenant: (namespace) => tenants.tenantOf(namespace) !== undefined,
      readTenant,
      quota: gateOf(context),
      settings: await gitSettings(context, context.config),
    });
  },
});

/** Volumes count in a quota until they are gone. */
function gateOf({ clock, wake, informers: { pods, volumes } }: ModuleContext<typeof informers>): QuotaGate {
  const gate = podQuotaGate(clock, pods, wake);
  volumes.onChange(({ before, after }) => {
    if (after === undefined) gate.freed(before?.metadata.namespace ?? '');
  });
  return gate;
}

async function gitSettings(
  { kube }: Pick<ModuleContext<typeof informers>, 'kube'>,
  config: ControllersConfig,
): Promise<GitPodSettings | undefined> {
  const { WINDLASS_GIT_IMAGE: gitImage } = config;
  if (gitImage === undefined) return undefined;
  return {
    ...(await podSettings(kube, config)),
    gitImage,
    networks: listed(config.WINDLASS_GIT_ALLOW_INTERNAL_ADDRESSES),
    clusterNetworks: listed(config.WINDLASS_GIT_CLUSTER_NETWORKS),
  };
}

const listed = (texts = ''): string[] => texts.split(',').filter(Boolean);
