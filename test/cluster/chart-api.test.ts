import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiConfig } from '../../api/config.ts';
import { GrpcConfig } from '../../api/grpc/config.ts';
import { parseConfig } from '../../lib/config.ts';
import {
  type Container,
  defineResource,
  type KubeClient,
  type KubeObject,
  type NetworkPolicy,
  namespaces,
  type Pod,
  pods,
  type Role,
} from '../../lib/kube/index.ts';
import { readNodeConfig } from '../../lib/node-config/index.ts';
import { clusterNames } from '../../lib/tenant/names.ts';
import { accessOf, may } from './chart/access.ts';
import { helmRelease, makeForeignNamespace, podsOf, rollOut, upgrade } from './chart/release.ts';
import {
  chart,
  type Deployment,
  environment,
  find,
  listedVariables,
  namesOf,
  render,
  texts,
} from './chart/rendering.ts';
import { answersDuring } from './chart/steady-requests.ts';
import { connect, kubeconfigPath } from './harness/cluster.ts';
import { workflowExecutions } from './harness/kinds.ts';
import { projectDir } from './harness/project.ts';

const run = promisify(execFile);
const secrets = defineResource<KubeObject & { stringData?: Readonly<Record<string, string>> }>({
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
});

const endpointSlices = defineResource<KubeObject & { ports: readonly { readonly port: number }[] }>({
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
});

const issuer = 'https://id.example.com:8443/realms/windlass';
const on = { oidc: { issuer } };
const nats = 'windlass-nats';

interface ExecProbe {
  readonly exec: { readonly command: readonly string[] };
}

type Probed = Container & {
  readonly ports: readonly { readonly containerPort: number }[];
  readonly startupProbe: ExecProbe;
  readonly livenessProbe: ExecProbe;
  readonly readinessProbe: ExecProbe;
};

/** With it every variable of the node configuration is set. */
const nodeConfig = {
  llm_providers: [
    { name: 'cloud', type: 'openai', api_key: 'secret:model-keys/openai', models: [{ alias: 'default', model: 'm' }] },
    { name: 'home', type: 'ollama', endpoint: 'http://ollama.models:11434', models: [{ alias: 'local', model: 'm' }] },
  ],
};

/** Where browsers come back to from the payment provider. */
const pages = {
  successUrl: 'https://a.example.com/thanks',
  cancelUrl: 'https://b.example.com/plans',
  returnUrl: 'https://c.example.com/settings',
};

interface Service extends KubeObject {
  readonly spec: {
    readonly type?: string;
    readonly selector: Readonly<Record<string, string>>;
    readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
  };
}
interface ConfigMap extends KubeObject {
  readonly data: Readonly<Record<string, string>>;
}

const firstContainer = (objects: readonly KubeObject[], kind: string, name: string) =>
  find<Deployment>(objects, kind, name).spec.template.spec.containers[0] as NonNullable<Pod['spec']['containers'][0]>;

describe('a chart without an issuer', () => {
  it('runs neither the API nor a bus, and asks for no volume: a release of before stays what it was', async () => {
    const objects = await render();
    expect(namesOf(objects, 'Deployment')).toEqual([clusterNames.controllers]);
    expect(namesOf(objects, 'StatefulSet')).toEqual([]);
    expect(namesOf(objects, 'Service')).toEqual([clusterNames.controllers]);
    expect(namesOf(objects, 'NetworkPolicy')).not.toContain(clusterNames.api);
    expect(namesOf(objects, 'Secret')).toEqual([]);
  });

  it('has the account of the API and its rights all the same, which the tenants name', async () => {
    const objects = await render({ tenants: [{ slug: 'acme' }] });
    expect(namesOf(objects, 'ServiceAccount')).toContain(clusterNames.api);
    expect(find(objects, 'RoleBinding', clusterNames.api, 'tenant-acme')).toMatchObject({
      roleRef: { kind: 'ClusterRole', name: clusterNames.tenantApi },
      subjects: [{ kind: 'ServiceAccount', name: clusterNames.api, namespace: 'windlass-system' }],
    });
  });

  it('is refused when the API is asked for nevertheless', async () => {
    await expect(render({ api: { enabled: true } })).rejects.toThrow('api.oidc.issuer');
  });
});

describe('a chart with an issuer', () => {
  let objects: KubeObject[] = [];
  beforeAll(async () => {
    objects = await render({ api: on });
  });

  it('runs two replicas of the API that go one at a time, with the probes on the internal listener', () => {
    const { spec } = find<Deployment>(objects, 'Deployment', clusterNames.api);
    expect(spec.replicas).toBe(2);
    expect(spec.template.spec.serviceAccountName).toBe(clusterNames.api);
    expect(find(objects, 'PodDisruptionBudget', clusterNames.api)).toMatchObject({ spec: { maxUnavailable: 1 } });
    expect(firstContainer(objects, 'Deployment', clusterNames.api)).toMatchObject({
      startupProbe: { httpGet: { path: '/health', port: 'internal' } },
      livenessProbe: { httpGet: { path: '/health', port: 'internal' } },
      readinessProbe: { httpGet: { path: '/ready', port: 'internal' } },
    });
  });

  it('can leave the API off', async () => {
    expect(namesOf(await render({ api: { ...on, enabled: false } }), 'Deployment')).toEqual([clusterNames.controllers]);
  });

  it('sets every variable that the API reads and that its README lists, and no other', async () => {
    const whole = {
      publicUrl: 'https://windlass.example.com',
      oidc: {
        issuer,
        jwksUrl: 'https://id.example.com/keys',
        caConfigMap: 'authority',
        roleScopes: { fleet: ['svc.edge.fleet.read'] },
      },
      grpc: { tlsSecret: 'grpc' },
      billing: { existingSecret: 'payment', ...pages, returnOrigins: ['https://c.example.com'] },
    };
    const s3 = { kind: 's3', s3: { bucket: 'blobs', endpoint: 'http://s3:9000', existingSecret: 'keys' } };
    const bus = {
      url: 'tls://nats:4222',
      auth: { existingSecret: 'nats-password' },
      credentials: { existingSecret: 'nats-credentials' },
      tls: { existingSecret: 'nats-tls', clientCertificate: true },
    };
    const gateway = { enabled: true };
    const relay = { enabled: true, cleartext: true };
    const git = { image: 'windlass-git:0.1.0' };
    const values = { api: whole, outputStore: s3, nats: bus, nodeConfig, gateway, relay, git };
    const env = environment(await render(values), clusterNames.api);
    const reads = Object.keys({ ...ApiConfig.properties, ...GrpcConfig.properties });
    const all = [...reads, 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].sort();
    // For processes that are started by hand, and for tests.
    const byHand = ['WINDLASS_HTTP_HOST', 'WINDLASS_STDIN_SENSOR', 'WINDLASS_STDIN_TENANT', 'PAYMENT_PROVIDER_API_URL'];
    const notSet = new Set(byHand);
    const set = Object.keys(env).filter((name) => name !== 'NODE_OPTIONS');
    expect(set.sort()).toEqual(all.filter((name) => !notSet.has(name)));
    expect(listedVariables('Both', 'The API')).toEqual(all);
  });

  it('mounts the node configuration and its Secrets, and restarts the pods that read it where it changes', async () => {
    const values = { api: on, nodeConfig, nodeSecrets: ['model-keys'] };
    const rendered = await render(values);
    const { data } = find<ConfigMap>(rendered, 'ConfigMap', 'windlass-node-config');
    const readSecret = (path: string): string => path;
    const read = readNodeConfig(
      data['node.yaml'] ?? '',
      { WINDLASS_NODE_SECRETS: '/etc/windlass/node-secrets' },
      readSecret,
    );
    expect(read.llm_providers.map(({ name, endpoint }) => [name, endpoint])).toEqual([
      ['cloud', undefined],
      ['home', 'http://ollama.models:11434'],
    ]);
    const changed = await render({ ...values, nodeConfig: { ...nodeConfig, llm_selection: { max_retries: 1 } } });
    const without = await render({ api: on });
    for (const name of [clusterNames.api, clusterNames.controllers]) {
      expect(environment(rendered, name)).toMatchObject({
        WINDLASS_NODE_CONFIG: '/etc/windlass/node-config/node.yaml',
        WINDLASS_NODE_SECRETS: '/etc/windlass/node-secrets',
        WINDLASS_REQUIRE_KEY_REFERENCES: 'true',
      });
      expect(firstContainer(rendered, 'Deployment', name).volumeMounts).toEqual(
        expect.arrayContaining([
          { name: 'node-config', mountPath: '/etc/windlass/node-config', readOnly: true },
          {
            name: 'node-secret-0',
            mountPath: read.llm_providers[0]?.api_key?.reveal().replace(/\/openai$/, ''),
            readOnly: true,
          },
        ]),
      );
      const checksums = [rendered, changed, without].map(
        (objects) =>
          find<Deployment>(objects, 'Deployment', name).spec.template.metadata.annotations?.['checksum/node-config'],
      );
      expect(new Set(checksums).size).toBe(3);
      expect(checksums[2]).toBeUndefined();
    }
    expect(namesOf(without, 'ConfigMap')).not.toContain('windlass-node-config');
    const policy = find<NetworkPolicy>(rendered, 'NetworkPolicy', clusterNames.api);
    expect(policy.spec?.egress).toEqual(expect.arrayContaining([{ ports: [{ protocol: 'TCP', port: 11_434 }] }]));
    await expect(render({ api: on, nodeConfig: { models: [] } })).rejects.toThrow('nodeConfig');
  });

  it('gives the API values that it accepts, and its own defaults', async () => {
    const alone = await render({ api: { ...on, replicaCount: 1 }, nats: { enabled: false } });
    const own = parseConfig(ApiConfig, { WINDLASS_OIDC_ISSUER: issuer });
    const mounted = { WINDLASS_SEAL_KEY: '/etc/windlass/seal/key.pem' };
    const image = { WINDLASS_SYSTEM_IMAGE: 'docker.io/library/busybox:1.36' };
    expect(parseConfig(ApiConfig, texts(environment(alone, clusterNames.api)))).toEqual({
      ...own,
      ...mounted,
      ...image,
    });
    const patient = await render({ api: { ...on, terminationGracePeriodSeconds: 90 } });
    expect(texts(environment(patient, clusterNames.api))).toMatchObject({ WINDLASS_GRACE_SECONDS: '80' });
    const { spec } = find<Deployment>(patient, 'Deployment', clusterNames.api);
    expect(spec.template.spec.terminationGracePeriodSeconds).toBe(90);
  });

  it('names every secret and holds none', async () => {
    const secrets = {
      webhooks: { existingSecret: 'webhooks' },
      billing: { existingSecret: 'payment', ...pages },
      grpc: { tlsSecret: 'grpc', clientCaSecret: 'clients' },
    };
    const rendered = await render({ api: { ...on, ...secrets } });
    const container = firstContainer(rendered, 'Deployment', clusterNames.api);
    expect(container).toMatchObject({
      envFrom: [{ prefix: 'SVC_WEBHOOK_SECRET_', secretRef: { name: 'webhooks' } }],
    });
    expect(environment(rendered, clusterNames.api)).toMatchObject({
      PAYMENT_PROVIDER_SECRET_KEY: { secretKeyRef: { name: 'payment', key: 'secret_key' } },
      WINDLASS_NATS_PASSWORD: { secretKeyRef: { name: 'windlass-nats-auth', key: 'password' } },
      WINDLASS_GRPC_CLIENT_CA_FILE: '/etc/windlass/grpc-clients/ca.crt',
    });
    const { volumes } = find<Deployment>(rendered, 'Deployment', clusterNames.api).spec.template.spec;
    const names = ['windlass-api-seal', 'grpc', 'clients'];
    expect(volumes).toMatchObject(names.map((secretName) => ({ secret: { secretName } })));
  });

  it('takes names that YAML would read as a number or a truth value for the names they are', async () => {
    const rendered = await render({
      api: {
        ...on,
        oidc: { issuer, caConfigMap: '1e3' },
        webhooks: { existingSecret: '10' },
        grpc: { tlsSecret: 'null', clientCaSecret: '12' },
        billing: { existingSecret: 'true', ...pages },
        ingress: { enabled: true, className: 'on', hosts: ['api.example.com'], tlsSecret: '14' },
        priorityClassName: '15',
      },
      nats: { auth: { existingSecret: '16' }, storage: { storageClass: '17' } },
      imagePullSecrets: ['18'],
      tenants: [{ slug: '007' }, { slug: 'a', namespace: '19' }],
    });
    const misread = (value: unknown, path: string): string[] => {
      if (typeof value === 'object' && value !== null)
        return Object.entries(value).flatMap(([key, inner]) => misread(inner, `${path}.${key}`));
      return /\.([a-z]+Name|name|namespace|windlass.dev\/tenant)$/i.test(path) && typeof value !== 'string'
        ? [path]
        : [];
    };
    const ours = rendered.filter(({ kind }) => kind !== 'CustomResourceDefinition');
    expect(ours.flatMap((object) => misread(object, `${object.kind} ${object.metadata.name}`))).toEqual([]);
  });

  it.each(Object.keys(pages))('is refused with a key of the payment provider and without %s', async (page) => {
    const billing = { existingSecret: 'payment', ...pages, [page]: '' };
    await expect(render({ api: { ...on, billing } })).rejects.toThrow(`give api.billing.${page} too`);
  });

  it('opens the public port to everybody and the internal one to the release', () => {
    const services = objects.filter(({ kind }) => kind === 'Service') as Service[];
    const ports = Object.fromEntries(
      services.map(({ metadata, spec }) => [metadata.name, spec.ports.map(({ targetPort }) => targetPort)]),
    );
    expect(ports).toMatchObject({ 'windlass-api': ['public'], 'windlass-api-internal': ['internal'] });
    const { spec } = find<NetworkPolicy>(objects, 'NetworkPolicy', clusterNames.api);
    const release = { 'app.kubernetes.io/name': 'windlass', 'app.kubernetes.io/instance': 'windlass' };
    const agentPods = {
      namespaceSelector: { matchExpressions: [{ key: 'windlass.dev/tenant', operator: 'Exists' }] },
      podSelector: { matchExpressions: [{ key: 'windlass.dev/agent-execution', operator: 'Exists' }] },
    };
    expect(spec?.ingress).toEqual([
      { ports: [{ protocol: 'TCP', port: 8080 }] },
      { from: [{ podSelector: { matchLabels: release } }, agentPods], ports: [{ protocol: 'TCP', port: 8081 }] },
    ]);
  });

  it('lets the internal port be reached by whom the values name besides', async () => {
    const prometheus = { namespaceSelector: { matchLabels: { name: 'monitoring' } } };
    const rendered = await render({ api: on, networkPolicy: { internalFrom: [prometheus] } });
    const { spec } = find<NetworkPolicy>(rendered, 'NetworkPolicy', clusterNames.api);
    expect(JSON.stringify(spec?.ingress)).toContain(JSON.stringify(prometheus));
  });

  it('lets the API out to the bus, and to the port of its identity provider', () => {
    const { spec } = find<NetworkPolicy>(objects, 'NetworkPolicy', clusterNames.api);
    expect(spec?.egress).toMatchObject([
      {
        to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/component': 'nats' } } }],
        ports: [{ port: 4222 }],
      },
      { ports: [{ protocol: 'TCP', port: 8443 }] },
    ]);
  });

  it('lets out what has to be reached outside, whatever the ports of the API server are', async () => {
    const rendered = await render({
      api: { oidc: { issuer: 'https://id.example.com' }, billing: { existingSecret: 'payment', ...pages } },
      outputStore: { kind: 's3', s3: { bucket: 'outputs', endpoint: 'http://s3.example.com:9000/' } },
      networkPolicy: { apiServerPorts: [6443] },
    });
    const outside = (name: string) => {
      const { spec } = find<NetworkPolicy>(rendered, 'NetworkPolicy', name);
      const rules = (spec?.egress ?? []) as { to?: unknown; ports: { port: unknown }[] }[];
      return rules.flatMap(({ to, ports }) => (to === undefined ? ports.map(({ port }) => port) : []));
    };
    expect(outside(clusterNames.api)).toEqual([443, 9000, 443]);
    expect(outside(clusterNames.controllers)).toEqual([9000]);
    expect(outside('windlass')).toEqual([53, 53, 6443]);
  });

  it.each([
    [true, ''],
    [false, 'payment'],
  ])('lets a store without a key of its own ask the node for one: %s', async (want, existingSecret) => {
    const outputStore = { kind: 's3', s3: { bucket: 'outputs', existingSecret } };
    const rendered = await render({ api: on, outputStore });
    for (const name of [clusterNames.api, clusterNames.controllers]) {
      const { spec } = find<NetworkPolicy>(rendered, 'NetworkPolicy', name);
      const asked = spec?.egress?.filter((rule) => JSON.stringify(rule).includes('169.254.170.23/32')) ?? [];
      expect(asked.map((rule) => (rule as { ports: unknown }).ports)).toEqual(
        want ? [[{ protocol: 'TCP', port: 80 }]] : [],
      );
    }
  });

  it('names no port by the name that a pod gives it, which OVN-Kubernetes takes for every port', async () => {
    const rendered = await render({ api: { ...on, grpc: { tlsSecret: 'grpc' } }, tenants: [{ slug: 'acme' }] });
    const policies = rendered.filter(({ kind }) => kind === 'NetworkPolicy') as NetworkPolicy[];
    const rules = policies.flatMap(({ spec }) => [...(spec?.ingress ?? []), ...(spec?.egress ?? [])]);
    const ports = rules.flatMap((rule) => (rule as { ports?: { port: unknown }[] }).ports ?? []);
    expect(ports.length).toBeGreaterThan(10);
    expect(ports.filter(({ port }) => typeof port !== 'number')).toEqual([]);
  });

  it('lets helm test out to both listeners', () => {
    const { spec } = find<NetworkPolicy>(objects, 'NetworkPolicy', 'windlass-test');
    const { metadata } = find<Pod>(objects, 'Pod', 'windlass-test-api');
    expect(metadata.labels).toMatchObject(spec?.podSelector?.matchLabels ?? { none: '' });
    expect(spec?.egress).toMatchObject([
      {
        to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/component': 'api' } } }],
        ports: [{ port: 8080 }, { port: 8081 }],
      },
    ]);
  });

  it('opens gRPC only with certificates', async () => {
    const ports = (list: KubeObject[]): string[] =>
      find<Service>(list, 'Service', clusterNames.api).spec.ports.map(({ name }) => name);
    expect(ports(objects)).toEqual(['http']);
    const rendered = await render({ api: { ...on, grpc: { tlsSecret: 'grpc' } } });
    expect(ports(rendered)).toEqual(['http', 'grpc']);
    const { spec } = find<NetworkPolicy>(rendered, 'NetworkPolicy', clusterNames.api);
    expect(spec?.ingress?.[0]).toMatchObject({ ports: [{ port: 8080 }, { port: 50051 }] });
  });

  it('can make an Ingress and an HTTPRoute that lead to the public Service', async () => {
    const rendered = await render({
      api: {
        ...on,
        ingress: { enabled: true, className: 'nginx', hosts: ['windlass.example.com'], tlsSecret: 'certificate' },
        httpRoute: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['windlass.example.com'] },
      },
    });
    expect(find(rendered, 'Ingress', clusterNames.api)).toMatchObject({
      spec: {
        ingressClassName: 'nginx',
        tls: [{ hosts: ['windlass.example.com'], secretName: 'certificate' }],
        rules: [
          {
            host: 'windlass.example.com',
            http: { paths: [{ path: '/', backend: { service: { name: 'windlass-api', port: { name: 'http' } } } }] },
          },
        ],
      },
    });
    expect(find(rendered, 'HTTPRoute', clusterNames.api)).toMatchObject({
      spec: {
        parentRefs: [{ name: 'public' }],
        hostnames: ['windlass.example.com'],
        rules: [{ backendRefs: [{ name: 'windlass-api', port: 8080 }], timeouts: { request: '0s' } }],
      },
    });
  });

  it('lets the API write in tenants what its routes write, and read what they read', () => {
    const rights = ({ rules }: Role): string[] =>
      rules.flatMap((rule) => rule.resources.map((resource) => `${resource}: ${rule.verbs.join(' ')}`));
    expect(rights(find<Role>(objects, 'ClusterRole', clusterNames.tenantApi))).toEqual([
      'workflows: create update patch delete',
      'agents: create update patch delete',
      'workflowexecutions: create patch delete',
      'agentexecutions: create patch delete',
      'edgegroups: create patch delete',
      'fleetruns: create patch delete',
      'toolcalls/status: patch',
      'edgehosts: patch',
      'volumes: create get list delete',
      'scripts: create get list patch delete',
      'gitbindings: create get list patch delete',
      'resourcequotas: list',
      'stimulusrouters: patch',
      'controllerrevisions: create',
      'configmaps: get',
      'pods: get list',
      'pods/log: get',
    ]);
    expect(rights(find<Role>(objects, 'ClusterRole', clusterNames.api))).toEqual([
      'workflows: get list watch',
      'workflowexecutions: get list watch',
      'stimulusrouters: get list watch',
      'agents: get list watch',
      'agentexecutions: get list watch',
      'securitycontexts: get list watch',
      'edgehosts: get list watch',
      'edgegroups: get list watch',
      'fleetruns: get list watch',
      'toolcalls: get list watch',
      'namespaces: get list watch',
      'controllerrevisions: get list watch',
      'tokenreviews: create',
    ]);
    expect(rights(find<Role>(objects, 'Role', clusterNames.api, 'windlass-global'))).toEqual([
      'workflows: create update patch delete',
      'agents: create update patch delete',
      'controllerrevisions: create',
    ]);
  });
});

describe('the event bus of the chart', () => {
  const config = (objects: readonly KubeObject[]): string =>
    find<ConfigMap>(objects, 'ConfigMap', nats).data['nats.conf'] ?? '';

  it('comes with the API, and by itself where it is asked for', async () => {
    expect(namesOf(await render({ api: on }), 'StatefulSet')).toEqual([nats]);
    expect(namesOf(await render({ nats: { enabled: true } }), 'StatefulSet')).toEqual([nats]);
    expect(namesOf(await render({ api: { ...on, replicaCount: 1 }, nats: { enabled: false } }), 'StatefulSet')).toEqual(
      [],
    );
  });

  it('reaches the controllers and the API alike', async () => {
    const objects = await render({ api: on });
    const urls = [clusterNames.controllers, clusterNames.api].map(
      (name) => environment(objects, name).WINDLASS_NATS_URL,
    );
    expect(urls).toEqual([
      'nats://windlass-nats.windlass-system.svc:4222',
      'nats://windlass-nats.windlass-system.svc:4222',
    ]);
  });

  it('has a monitor, which asks for no password, for the probes of its own pod alone', async () => {
    const objects = await render({ api: on, nats: { replicaCount: 3 } });
    expect(config(objects)).toMatch(/^http: 127\.0\.0\.1:8222$/m);
    const container = firstContainer(objects, 'StatefulSet', nats) as Probed;
    expect(container.ports.map(({ containerPort }) => containerPort)).toEqual([4222, 6222]);
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const asked = [startupProbe, livenessProbe, readinessProbe].map(({ exec }) => exec.command.at(-1));
    for (const script of asked) expect(script).toContain('nc -w 5 127.0.0.1 8222');
    const which = asked.map((script) => /healthz\?([a-z-]+)=true/.exec(script ?? '')?.[1]);
    expect(which).toEqual(['js-enabled-only', 'js-enabled-only', 'js-server-only']);
    const services = objects.filter(({ kind }) => kind === 'Service');
    expect(JSON.stringify(services)).not.toContain('8222');
  });

  it('is one server by default, which needs the password and uses nine tenths of its volume', async () => {
    const text = config(await render({ nats: { enabled: true } }));
    expect(text).toContain('password: $PASSWORD');
    expect(text).toMatch(/^ping_interval: 5s\nping_max: 2\nwrite_deadline: 10s$/m);
    expect(text).toContain(`max_file_store: ${Math.floor((10 * 1024 ** 3 * 9) / 10)}`);
    expect(text).not.toContain('cluster');
  });

  it.each([3, 5])(
    'of %i servers has a route to each, behind the password, and as many copies of everything',
    async (replicaCount) => {
      const objects = await render({ api: on, nats: { replicaCount } });
      expect(find<Deployment>(objects, 'StatefulSet', nats).spec.replicas).toBe(replicaCount);
      expect(config(objects).match(/\$ROUTE_\d/g)).toHaveLength(replicaCount);
      const routes = (firstContainer(objects, 'StatefulSet', nats).env ?? []).filter(({ name }) =>
        name.startsWith('ROUTE_'),
      );
      expect(routes[1]?.value).toBe(
        '"nats://windlass:$(GIVEN_PASSWORD)@windlass-nats-1.windlass-nats-peers.windlass-system.svc:6222"',
      );
      expect(environment(objects, clusterNames.api).WINDLASS_NATS_REPLICAS).toBe(String(replicaCount));
    },
  );

  it('AMB-182 is needed by more than one replica of the API; one works without it, and is never two for a moment', async () => {
    const without = (replicaCount: number) => render({ api: { ...on, replicaCount }, nats: { enabled: false } });
    await expect(without(2)).rejects.toThrow('api.replicaCount is more than 1 without an event bus');
    const { spec } = find<Deployment>(await without(1), 'Deployment', clusterNames.api);
    expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  });

  it('can be a server of one’s own, which gets no password of ours', async () => {
    const objects = await render({ api: on, nats: { url: 'tls://nats.example.com:4443', replicaCount: 3 } });
    expect([...namesOf(objects, 'StatefulSet'), ...namesOf(objects, 'Secret')]).toEqual(['windlass-api-seal']);
    const env = environment(objects, clusterNames.api);
    expect(env).toMatchObject({ WINDLASS_NATS_URL: 'tls://nats.example.com:4443', WINDLASS_NATS_REPLICAS: '3' });
    expect(Object.keys(env)).not.toContain('WINDLASS_NATS_PASSWORD');
    const { spec } = find<NetworkPolicy>(objects, 'NetworkPolicy', clusterNames.controllers);
    expect(spec?.egress).toEqual([{ ports: [{ protocol: 'TCP', port: 4443 }] }]);
  });

  it('is reached by our processes alone', async () => {
    const objects = await render({ api: on });
    const { spec } = find<NetworkPolicy>(objects, 'NetworkPolicy', nats);
    const from = (spec?.ingress ?? []) as { from: { podSelector: { matchLabels: Record<string, string> } }[] }[];
    const components = from.map((rule) =>
      rule.from.map((peer) => peer.podSelector.matchLabels['app.kubernetes.io/component']),
    );
    expect(components).toEqual([['controllers', 'api', 'gateway', 'relay'], ['nats']]);
    const release = find<NetworkPolicy>(objects, 'NetworkPolicy', 'windlass').spec;
    expect(release?.podSelector?.matchExpressions).toEqual([
      { key: 'app.kubernetes.io/component', operator: 'NotIn', values: ['nats'] },
    ]);
    expect(release?.ingress).toBeUndefined();
  });

  it('keeps out of its immutable parts what a new version of the chart would change', async () => {
    const set = find<Deployment>(await render({ nats: { enabled: true } }), 'StatefulSet', nats);
    const { version } = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as { version: string };
    const { template: _template, replicas: _replicas, ...immutable } = set.spec;
    expect(JSON.stringify(immutable)).not.toContain(version);
  });

  it('is of the version that the development cluster builds', () => {
    const values = readFileSync(join(chart, 'values.yaml'), 'utf8');
    const module = readFileSync(join(projectDir, 'dev/setup/go/nats-server/go.mod'), 'utf8');
    const built = /nats-server\/v2 v(\S+)/.exec(module)?.[1] ?? 'none';
    expect(values).toContain(`repository: docker.io/library/nats\n    # -- Tag.\n    tag: ${built}-alpine\n`);
  });

  it.each<[string, object, string]>([
    ['a server of one’s own beside the release’s', { nats: { enabled: true, url: 'nats://a:1' } }, 'nats.url'],
    ['a password in the URL', { nats: { url: 'nats://a:secret@b:1' } }, '/nats/url'],
    ['two servers', { nats: { replicaCount: 2 } }, '/nats/replicaCount'],
    ['a volume of no known unit', { nats: { enabled: true, storage: { size: '10GB' } } }, '/nats/storage/size'],
    ['streams larger than the volume', { nats: { enabled: true, events: { maxMb: 9_000 } } }, 'nats.storage.size'],
    [
      'more keys than its memory holds',
      { nats: { enabled: true, keys: { maxMb: 256 } } },
      'nats.resources.limits.memory',
    ],
    [
      'keys of five buckets for which its memory has no room',
      {
        nats: { enabled: true, keys: { maxMb: 140 } },
        gateway: { enabled: true },
        relay: { enabled: true, endpoint: 'edge.example.com:443', tls: { existingSecret: 'edge-tls' } },
        api: on,
      },
      'nats.resources.limits.memory',
    ],
    ['an issuer that is no URL', { api: { oidc: { issuer: 'id.example.com' } } }, '/api/oidc/issuer'],
    ['an algorithm without a key', { api: { oidc: { issuer, algorithms: ['none'] } } }, '/api/oidc/algorithms/0'],
    ['a shared-secret algorithm', { api: { oidc: { issuer, algorithms: ['HS256'] } } }, '/api/oidc/algorithms/0'],
    ['an HTTPRoute without a gateway', { api: { ...on, httpRoute: { enabled: true } } }, '/api/httpRoute/parentRefs'],
    ['neither on nor off', { api: { enabled: 'maybe' } }, '/api/enabled'],
  ])('refuses %s and names it', async (_what, values, path) => {
    await expect(render(values)).rejects.toThrow(path);
  });

  it.each([
    ['one MiB less than nine tenths', 0, true],
    ['one MiB more than nine tenths', 1, false],
  ])('takes streams of %s of the volume: %s', async (_what, more, fits) => {
    const storage = { size: '100Gi' };
    // Nine tenths of 100 GiB, without what audit, keys, conversations and archive take.
    const events = { maxMb: 92_160 - 1_024 - 128 - 1_024 - 2_048 + more };
    const rendered = render({ nats: { enabled: true, storage, events }, archive: { maxMb: 2_048 } });
    expect(
      await rendered.then(
        () => true,
        () => false,
      ),
    ).toBe(fits);
  });

  it.each([
    ['one MiB less than nine tenths', 0, true],
    ['one MiB more than nine tenths', 1, false],
  ])('counts the room for keys once for each of five buckets: %s of the volume: %s', async (_what, more, fits) => {
    const storage = { size: '100Gi' };
    const relay = { enabled: true, endpoint: 'edge.example.com:443', tls: { existingSecret: 'edge-tls' } };
    // The same, with audit events of the gateway and the ends of their chains, and with results of hosts.
    const events = { maxMb: 92_160 - 1_024 - 5 * 128 - 1_024 - 2_048 - 1_088 - 1_024 + more };
    const nats = { enabled: true, storage, events };
    const rendered = render({ api: on, gateway: { enabled: true }, relay, nats, archive: { maxMb: 2_048 } });
    expect(
      await rendered.then(
        () => true,
        () => false,
      ),
    ).toBe(fits);
  });
});

/** As the development cluster has it: with the API, its identity provider and one NATS server. */
describe('the installed API', () => {
  const api = 'system:serviceaccount:windlass-system:windlass-api';
  const namespace = 'windlass-system';
  const foreign = 'test-chart-api-foreign';
  const tenant = 'tenant-demo';
  let kube: KubeClient;
  let objects: KubeObject[] = [];

  beforeAll(async () => {
    kube = (await connect()).kube;
    objects = await render({ api: on, nats: { replicaCount: 3 } });
    await makeForeignNamespace(kube, foreign);
  });

  afterAll(async () => {
    await kube.delete(namespaces, { name: foreign });
    await kube.close();
  });

  it('lets the release out to the port behind the API server’s Service, whatever the values say', async () => {
    const slice = await kube.get(endpointSlices, { name: 'kubernetes', namespace: 'default' });
    const [port] = slice.ports.map((each) => each.port);
    const rendered = await render({ networkPolicy: { apiServerPorts: [8443] } }, namespace, [
      '--dry-run=server',
      '--kubeconfig',
      kubeconfigPath(),
    ]);
    const { spec } = find<NetworkPolicy>(rendered, 'NetworkPolicy', 'windlass');
    expect(spec?.egress).toContainEqual({
      ports: [
        { protocol: 'TCP', port: 8443 },
        { protocol: 'TCP', port },
      ],
    });
  });

  it.each([
    'watch windlass.dev/workflows in -',
    'watch windlass.dev/workflowexecutions in -',
    'watch windlass.dev/stimulusrouters in -',
    'watch ./namespaces in -',
    'get apps/controllerrevisions in -',
    `create windlass.dev/workflows in ${tenant}`,
    `update windlass.dev/workflows in ${tenant}`,
    `delete windlass.dev/workflows in ${tenant}`,
    `create windlass.dev/workflowexecutions in ${tenant}`,
    `patch windlass.dev/workflowexecutions in ${tenant}`,
    `delete windlass.dev/workflowexecutions in ${tenant}`,
    `get ./configmaps in ${tenant}`,
    `list windlass.dev/volumes in ${tenant}`,
    `delete windlass.dev/volumes in ${tenant}`,
    `list ./pods in ${tenant}`,
    `get ./pods/log in ${tenant}`,
    'create windlass.dev/workflows in windlass-global',
    'delete windlass.dev/workflows in windlass-global',
    `create windlass.dev/workflowexecutions in ${namespace}`,
  ])('may %s', async (access) => {
    expect(await may(kube, api, accessOf(access))).toBe(true);
  });

  it.each([
    'get ./secrets in -',
    `get ./secrets in ${namespace}`,
    `get ./secrets in ${tenant}`,
    `create ./pods in ${tenant}`,
    `delete ./pods in ${tenant}`,
    `create ./pods/exec in ${tenant}`,
    'list ./pods in -',
    'get ./configmaps in kube-system',
    `create ./configmaps in ${tenant}`,
    `patch windlass.dev/workflowexecutions/status in ${tenant}`,
    `patch windlass.dev/workflows/status in ${tenant}`,
    `create windlass.dev/workflows in ${foreign}`,
    'create windlass.dev/workflows in default',
    'create windlass.dev/workflowexecutions in windlass-global',
    'delete windlass.dev/workflowexecutions in windlass-global',
    'create ./namespaces in -',
    'patch ./namespaces in -',
    `create ./serviceaccounts/token in ${namespace}`,
    `create rbac.authorization.k8s.io/rolebindings in ${tenant}`,
    `get coordination.k8s.io/leases in ${namespace}`,
  ])('may not %s', async (access) => {
    expect(await may(kube, api, accessOf(access))).toBe(false);
  });

  it.each([
    ['Deployment', 'windlass-api'],
    ['StatefulSet', 'windlass-nats'],
  ])('has pods of its %s %s that pass Pod Security restricted', async (kind, name) => {
    const { spec } = find<Deployment>(objects, kind, name).spec.template;
    const store = { name: 'store', emptyDir: {} };
    const volumes = [...(spec.volumes ?? []), ...(kind === 'StatefulSet' ? [store] : [])];
    const pod = { metadata: { name, namespace: foreign }, spec: { ...spec, volumes, serviceAccountName: 'default' } };
    await expect(kube.create(pods, pod, { dryRun: true })).resolves.toBeDefined();
  });

  it('has two replicas that are ready and that know where the event bus is', async () => {
    const replicas = await podsOf(kube, 'api');
    expect(replicas.map((pod) => pod.status?.containerStatuses?.[0]?.ready)).toEqual([true, true]);
    const [bus] = await podsOf(kube, 'nats');
    expect(bus?.status?.containerStatuses?.[0]?.ready).toBe(true);
  });

  it('answers every request while it is rolled out, and its replicas then run on different nodes', async () => {
    const answers = await answersDuring(kube, () => rollOut(kube, 'api'));
    expect(Object.keys(answers)).toEqual(['200']);
    const after = await podsOf(kube, 'api');
    expect(new Set(after.map(({ spec }) => spec.nodeName)).size).toBe(2);
  });

  it('refuses to become a cluster of three: the one server would delete what it has stored', async () => {
    const three = (...more: string[]): Promise<string> =>
      helmRelease('upgrade', chart, '--reuse-values', '--dry-run=server', '--set', 'nats.replicaCount=3', ...more);
    await expect(three()).rejects.toThrow(/nats.replicaCount is 1 in the cluster/);
    expect(await three('--set', 'nats.allowStoreLoss=true')).toContain('$ROUTE_2');
  });

  it('passes helm test, whose workflow runs to its end, with a token of the provider and without', async () => {
    const { stdout } = await run(join(projectDir, 'dev/oidc/token'), ['--user', 'anna', '--tenant', 'demo']);
    const secret = { metadata: { name: 'test-chart-token', namespace }, stringData: { token: stdout.trim() } };
    await kube.apply(secrets, secret, { fieldManager: 'test', force: true });
    const test = (): Promise<string> => helmRelease('test', '--timeout', '90s', '--logs');
    const newestRun = async (): Promise<unknown> => {
      const { items } = await kube.listAll(workflowExecutions, { namespace });
      const runs = items.filter(({ spec }) => spec.workflow === 'windlass-test');
      const made = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? '';
      return runs.toSorted((a, b) => made(a).localeCompare(made(b))).at(-1)?.status;
    };
    try {
      const without = await test();
      expect(without).toContain('ok: no client comes in without a token');
      expect(without).not.toContain('the token is accepted');
      expect(await newestRun()).toMatchObject({ phase: 'completed', final_output: { said: 'hello\n' } });
      await upgrade(chart, 'api.test.existingSecret=test-chart-token');
      expect(await test()).toContain('ok: the token is accepted');
    } finally {
      await kube.delete(secrets, { name: 'test-chart-token', namespace });
      await upgrade(chart, 'api.test.existingSecret=');
    }
  });
});
