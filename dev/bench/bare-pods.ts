import type { KubeClient, Pod } from '../../lib/kube/index.ts';
import { pods } from '../../lib/kube/index.ts';
import { observe } from '../../test/cluster/harness/observer.ts';
import type { View } from '../../test/cluster/harness/wait.ts';

export const image = 'docker.io/library/busybox:1.36';

/** The least that a user would write by hand under Pod Security level restricted. */
function barePod(namespace: string, name: string): Pod {
  return {
    metadata: { namespace, name },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'step',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['true'],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}

const succeeded = (view: View<Pod>): number =>
  [...view.values()].filter((pod) => pod.status?.phase === 'Succeeded').length;

function failed(view: View<Pod>): void {
  const bad = [...view.values()].find((pod) => pod.status?.phase === 'Failed');
  if (bad !== undefined) throw new Error(`bare pod ${bad.metadata.name} failed: ${JSON.stringify(bad.status)}`);
}

/** Seconds for pods one after another: each is created at the watch event that shows the one before as Succeeded. */
export async function barePodsInARow(kube: KubeClient, namespace: string, count: number): Promise<number> {
  const observer = await observe(kube, { resource: pods, namespace });
  const started = performance.now();
  for (let i = 1; i <= count; i++) {
    await kube.create(pods, barePod(namespace, `bare-${i}`));
    await observer.until((view) => {
      failed(view);
      return succeeded(view) >= i ? true : undefined;
    });
  }
  const seconds = (performance.now() - started) / 1000;
  await observer.stop();
  return seconds;
}

/** Seconds for pods created all at once until the last is seen as Succeeded. */
export async function barePodsAtOnce(kube: KubeClient, namespace: string, count: number): Promise<number> {
  const observer = await observe(kube, { resource: pods, namespace });
  const started = performance.now();
  const created = Promise.all(
    Array.from({ length: count }, (_, i) => kube.create(pods, barePod(namespace, `bare-${i}`))),
  );
  await Promise.all([
    created,
    observer.until((view) => {
      failed(view);
      return succeeded(view) >= count ? true : undefined;
    }),
  ]);
  const seconds = (performance.now() - started) / 1000;
  await observer.stop();
  return seconds;
}
