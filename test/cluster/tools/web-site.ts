import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configMaps, defineResource, type KubeClient, type KubeObject, pods } from '../../../lib/kube/index.ts';
import { podsOf } from '../chart/release.ts';
import { projectDir } from '../harness/project.ts';
import { waitForObject } from '../harness/wait.ts';

interface Service extends KubeObject {
  readonly spec: { readonly clusterIP: string };
}

const services = defineResource<Service>({
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
});

/** The Service of dev/demo/install, which the installation permits `web.fetch` to reach, and which `web.search` asks. */
const service = { namespace: 'windlass-models', name: 'site' };
const port = 8_080;

/** A site of an intranet, in a pod behind that Service. */
interface WebSite {
  readonly url: string;
  /** Hosts that a SecurityContext has to list: those of the site, and the Kubernetes API, to which it redirects. */
  readonly hosts: readonly string[];
  remove(): Promise<void>;
}

export async function openWebSite(kube: KubeClient): Promise<WebSite> {
  const { namespace } = service;
  const name = `site-${randomBytes(3).toString('hex')}`;
  const remove = async (): Promise<void> => {
    await kube.delete(pods, { namespace, name });
    await kube.delete(configMaps, { namespace, name });
  };
  try {
    const kubernetes = await addressOf(kube, { namespace: 'default', name: 'kubernetes' });
    const program = readFileSync(join(projectDir, 'test/cluster/tools/web-site.mjs'), 'utf8');
    await kube.create(configMaps, { metadata: { name, namespace }, data: { 'web-site.mjs': program } });
    const [api] = await podsOf(kube, 'api');
    await kube.create(pods, podOf(name, kubernetes, api?.spec.containers[0]?.image ?? ''));
    await waitForObject(kube, { resource: pods, namespace, name }, ({ status }) =>
      (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
    const host = `${service.name}.${namespace}.svc`;
    return { url: `http://${host}:${port}`, hosts: [host, await addressOf(kube, service), kubernetes], remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

const addressOf = async (kube: KubeClient, ref: typeof service): Promise<string> =>
  (await kube.get(services, ref)).spec.clusterIP;

/** The image of the API has Node. */
function podOf(name: string, inside: string, image: string) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: service.namespace, labels: { app: service.name } },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'site',
          image,
          command: ['/usr/local/bin/node', '/site/web-site.mjs'],
          env: [{ name: 'INSIDE', value: inside }],
          readinessProbe: { httpGet: { path: '/page', port }, periodSeconds: 1 },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'program', mountPath: '/site', readOnly: true }],
        },
      ],
      volumes: [{ name: 'program', configMap: { name } }],
    },
  };
}
