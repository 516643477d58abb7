import { randomBytes } from 'node:crypto';
import { type KubeClient, pods } from '../../../../lib/kube/index.ts';
import { podLog } from '../../harness/pod-log.ts';
import { waitForObject } from '../../harness/wait.ts';

/** A server that answers every request with status 500 and the headers that it got, and passes those below /pass on. */
export interface Mirror {
  readonly address: string;
  readonly url: string;
  /** Every request that it got, with its headers. */
  log(): Promise<string>;
  remove(): Promise<void>;
}

/** Where the installation has its model, and no tenant. */
const namespace = 'windlass-models';

/** The scripted model of dev/demo/model, which looks at no key. */
const model = 'http://scripted-model.windlass-models.svc:8080';

/** `message` is where providers of models say why they fail, and where the product reads it. */
export const programOf = (address: string, port: number): string => `import { createServer } from 'node:http';
async function pass(request, response) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch('${model}' + request.url.slice('/pass'.length), { method: 'POST', headers, body: request, duplex: 'half' });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') });
  response.end(Buffer.from(await answer.arrayBuffer()));
}
createServer((request, response) => {
  if (request.url === '/healthz') return response.end();
  const message = JSON.stringify({ url: request.url, headers: request.headers });
  console.log(message);
  if (request.url.startsWith('/pass/')) return pass(request, response).catch(() => response.destroy());
  response.writeHead(500, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message }, message }));
}).listen(${port}, '${address}', () => console.log('mirror listens'));`;

/** `image`: one with Node. */
export async function startMirror(kube: KubeClient, image: string): Promise<Mirror> {
  const name = `mirror-${randomBytes(3).toString('hex')}`;
  await kube.create(pods, podOf(name, image));
  const ready = await waitForObject(kube, { resource: pods, namespace, name }, ({ status }) =>
    (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  );
  const address = ready.status?.podIP ?? '';
  return {
    address,
    url: `http://${address}:8080`,
    log: () => podLog(kube, { namespace, name }),
    remove: async () => void (await kube.delete(pods, { namespace, name })),
  };
}

const podOf = (name: string, image: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec: {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 0,
    securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'mirror',
        image,
        command: ['/usr/local/bin/node', '--input-type=module', '--eval', programOf('0.0.0.0', 8_080)],
        readinessProbe: { httpGet: { path: '/healthz', port: 8_080 }, periodSeconds: 1 },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
});
