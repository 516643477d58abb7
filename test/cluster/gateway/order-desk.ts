import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { GatewayClient } from '../../../client/index.ts';
import type { ApiSpec } from '../../../crds/schema/api-spec.ts';
import type { ToolWorkflow } from '../../../crds/schema/tool-workflow.ts';
import {
  configMaps,
  defineResource,
  type KubeClient,
  type KubeObject,
  namespaces,
  pods,
  secrets,
} from '../../../lib/kube/index.ts';
import { podLog } from '../harness/pod-log.ts';
import { projectDir } from '../harness/project.ts';
import { testRunLabel } from '../harness/test-namespace.ts';
import { waitForObject } from '../harness/wait.ts';

const services = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
});

const folder = join(projectDir, 'examples/order-desk');
const name = 'order-desk';

/** The server of examples/order-desk in a pod, in a namespace that is no tenant's. */
export interface OrderDesk {
  /** Its key; a labelled Secret of the tenant holds it. */
  readonly key: string;
  readonly url: string;
  /** The image of the gateway, which has Node. */
  readonly image: string;
  /** Operations that have arrived, in their order, as `POST /orders`; those without the right key too. */
  operations(): Promise<readonly string[]>;
  /** Everything that it has written. */
  log(): Promise<string>;
  /** Registers the API and the chain of examples/order-desk/gateway.yaml; gives the id of the API. */
  register(admin: GatewayClient): Promise<string>;
  remove(): Promise<void>;
}

interface DeskOptions {
  /** Namespace of the tenant whose gateway calls it. */
  readonly tenant: string;
  readonly image: string;
  readonly latencyMs: number;
}

export async function startOrderDesk(kube: KubeClient, options: DeskOptions): Promise<OrderDesk> {
  const namespace = `${options.tenant}-desk`;
  const key = `canary-${randomBytes(24).toString('hex')}`;
  const made = (metadata: object = {}) => ({ name, namespace, ...metadata });
  const labels = { [testRunLabel]: 'true', 'pod-security.kubernetes.io/enforce': 'restricted' };
  await kube.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
  const program = readFileSync(join(folder, 'server.mjs'), 'utf8');
  await kube.create(configMaps, { metadata: made(), data: { 'server.mjs': program } });
  const data = { key: Buffer.from(key).toString('base64') };
  await kube.create(secrets, { metadata: made(), data });
  const credential = { name, namespace: options.tenant, labels: { 'windlass.dev/credential': 'true' } };
  await kube.create(secrets, { metadata: credential, data });
  const ports = [{ name: 'http', port: 8_080, targetPort: 8_080 }];
  const service = { apiVersion: 'v1', kind: 'Service', metadata: made(), spec: { selector: { app: name }, ports } };
  await kube.create(services, service);
  await kube.create(pods, podOf(namespace, options));
  await waitForObject(kube, { resource: pods, namespace, name }, ({ status }) =>
    (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  );
  const url = `http://${name}.${namespace}.svc:8080`;
  const log = (): Promise<string> => podLog(kube, { namespace, name });
  return {
    key,
    url,
    image: options.image,
    log,
    operations: async () => operationsIn(await log()),
    register: (admin) => register(admin, url),
    remove: async () => void (await kube.delete(namespaces, { name: namespace }, { propagation: 'Background' })),
  };
}

const operationsIn = (log: string): string[] =>
  log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => (JSON.parse(line) as { operation: string }).operation);

function podOf(namespace: string, { image, latencyMs }: DeskOptions) {
  const env = [
    { name: 'HOST', value: '0.0.0.0' },
    { name: 'LATENCY_MS', value: String(latencyMs) },
    { name: 'API_KEY', valueFrom: { secretKeyRef: { name, key: 'key' } } },
  ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'desk',
          image,
          command: ['/usr/local/bin/node', '/desk/server.mjs', '8080'],
          env,
          readinessProbe: { httpGet: { path: '/healthz', port: 8_080 }, periodSeconds: 1 },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'program', mountPath: '/desk', readOnly: true }],
        },
      ],
      volumes: [{ name: 'program', configMap: { name } }],
    },
  };
}

/** The objects of the example, in the form that HTTP takes. */
async function register(admin: GatewayClient, url: string): Promise<string> {
  const objects = parseAllDocuments(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).map(
    (document) => document.toJS() as ApiSpec | ToolWorkflow,
  );
  const api = objects.find((object): object is ApiSpec => object.kind === 'ApiSpec');
  const chain = objects.find((object): object is ToolWorkflow => object.kind === 'ToolWorkflow');
  const document = api?.spec.document?.replace(/http:\/\/order-desk[^"]*/, url) ?? '';
  const { id } = await admin.registerApiSpec({ body: { ...api?.spec, name: api?.metadata.name ?? '', document } });
  const { api_spec: _, ...spec } = chain?.spec ?? { description: '', input_schema: {}, steps: [] };
  await admin.registerToolWorkflow({ body: { ...spec, name: chain?.spec.name ?? '', api_spec_id: id } });
  return id;
}
