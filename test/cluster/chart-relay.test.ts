import { createPrivateKey } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { busVariables } from '../../lib/bus/index.ts';
import { readKeyPair } from '../../lib/keys/private-key.ts';
import { type KubeObject, type NetworkPolicy, pods, type Role } from '../../lib/kube/index.ts';
import { clusterNames } from '../../lib/tenant/names.ts';
import { RelayConfig, readRelayConfig } from '../../relay/config.ts';
import { accessOf, may } from './chart/access.ts';
import {
  accountWithoutRights,
  foreignPodOf,
  installedProcess,
  replicasOf,
  tenantAccountOf,
  twoReplicas,
} from './chart/optional-process.ts';
import { podsOf, rollOut } from './chart/release.ts';
import { type Deployment, environment, find, listedVariables, namesOf, render, texts } from './chart/rendering.ts';

const api = { oidc: { issuer: 'https://id.example.com' } };
const relay = { enabled: true, tls: { existingSecret: 'edge-tls' } };
const behindIngress = { enabled: true, cleartext: true };
const edgeKeyFile = '/etc/windlass/edge/key.pem';

interface Service extends KubeObject {
  readonly spec: {
    readonly type?: string;
    readonly externalTrafficPolicy?: string;
    readonly ports: readonly { readonly port: number; readonly targetPort: string; readonly appProtocol?: string }[];
  };
}
interface Secret extends KubeObject {
  readonly data: Readonly<Record<string, string>>;
}

describe('a chart without a relay', () => {
  it('runs none, names none to the API, and has its account for the tenants all the same', async () => {
    const objects = await render({ api, tenants: [{ slug: 'acme' }] });
    expect(namesOf(objects, 'Deployment')).not.toContain(clusterNames.relay);
    const given = Object.keys(environment(objects, clusterNames.api));
    expect(given.filter((name) => ['WINDLASS_EDGE_KEY', 'WINDLASS_EDGE_ENDPOINT'].includes(name))).toEqual([]);
    expect(tenantAccountOf(objects, 'relay')).toMatchObject(accountWithoutRights('relay'));
  });
});

describe('a chart with a relay', () => {
  let objects: KubeObject[] = [];
  beforeAll(async () => {
    objects = await render({ api, relay });
  });

  it('runs two replicas that go one at a time, with the probes on the internal listener', () => {
    expect(replicasOf(objects, 'relay')).toMatchObject(twoReplicas('relay'));
  });

  it('sets every variable that the relay reads and that its README lists, and no other', async () => {
    const nats = {
      url: 'tls://nats:4222',
      auth: { existingSecret: 'nats-password' },
      credentials: { existingSecret: 'nats-credentials' },
      tls: { existingSecret: 'nats-tls', clientCertificate: true },
    };
    const whole = { ...relay, trustedProxies: ['10.0.0.0/8'] };
    const env = environment(await render({ api, nats, relay: whole }), clusterNames.relay);
    const reads = Object.keys(RelayConfig.properties).sort();
    const byHand = new Set(['WINDLASS_HTTP_HOST', 'WINDLASS_NODE_ROLE']);
    expect(Object.keys(env).sort()).toEqual([...reads.filter((name) => !byHand.has(name)), 'NODE_OPTIONS'].sort());
    const shared = new Set([...Object.keys(busVariables), 'WINDLASS_SYSTEM_TENANT']);
    expect(listedVariables('The relay')).toEqual(reads.filter((name) => !shared.has(name)));
  });

  it('GEN-10 gives the relay values that it accepts, its own defaults and port 50056', async () => {
    const env = texts(environment(await render({ api, relay: behindIngress }), clusterNames.relay));
    const own = { WINDLASS_NATS_URL: 'nats://windlass-nats.windlass-system.svc:4222', WINDLASS_RELAY_KEY: 'x' };
    const { WINDLASS_RELAY_KEY: _, ...defaults } = readRelayConfig(own);
    const bus = { WINDLASS_NATS_USER: 'windlass', WINDLASS_NATS_PASSWORD: 'x' };
    expect(readRelayConfig({ ...env, ...bus })).toEqual({
      ...defaults,
      ...bus,
      WINDLASS_RELAY_KEY: '/etc/windlass/relay-key/key.pem',
    });
    expect(env['WINDLASS_RELAY_PORT']).toBe('50056');
  });

  it('gives the API and the controllers the key of tokens, the API the address, and the relay neither', async () => {
    for (const name of [clusterNames.api, clusterNames.controllers]) {
      expect(environment(objects, name)).toMatchObject({ WINDLASS_EDGE_KEY: edgeKeyFile });
      const { containers, volumes } = find<Deployment>(objects, 'Deployment', name).spec.template.spec;
      expect(containers[0]?.volumeMounts).toContainEqual({
        name: 'edge',
        mountPath: '/etc/windlass/edge',
        readOnly: true,
      });
      expect(volumes).toContainEqual({
        name: 'edge',
        secret: { secretName: 'windlass-edge-key', items: [{ key: 'key.pem', path: 'key.pem' }] },
      });
    }
    expect(JSON.stringify(find(objects, 'Deployment', clusterNames.relay))).not.toContain('windlass-edge-key');
    const endpoint = (list: KubeObject[]) => environment(list, clusterNames.api)['WINDLASS_EDGE_ENDPOINT'];
    expect(endpoint(objects)).toBe('windlass-relay.windlass-system.svc:50056');
    const named = await render({ api, relay: { ...relay, endpoint: 'edge.example.com:443' } });
    expect(endpoint(named)).toBe('edge.example.com:443');
  });

  it('makes two keys that the processes can read, and keeps them on uninstall, or takes those that are named', async () => {
    const names = ['windlass-relay-key', 'windlass-edge-key'];
    const pems = names.map((name) => {
      const { data, metadata } = find<Secret>(objects, 'Secret', name);
      expect(metadata.annotations?.['helm.sh/resource-policy']).toBe('keep');
      return Buffer.from(data['key.pem'] ?? '', 'base64').toString('utf8');
    });
    expect(new Set(pems).size).toBe(2);
    for (const pem of pems) {
      const { privateKey } = readKeyPair({ variable: 'KEY', path: 'key.pem' }, () => pem);
      expect(privateKey.equals(createPrivateKey(pem))).toBe(true);
    }
    const own = { key: { existingSecret: 'one' }, edgeKey: { existingSecret: 'two' } };
    const rendered = await render({ api, relay: { ...relay, ...own } });
    expect(namesOf(rendered, 'Secret').filter((name) => names.includes(name))).toEqual([]);
    expect(JSON.stringify(find(rendered, 'Deployment', clusterNames.relay))).toContain('"secretName":"one"');
    expect(JSON.stringify(find(rendered, 'Deployment', clusterNames.api))).toContain('"secretName":"two"');
  });

  it('GEN-10 is reached over TLS by its own certificate, or speaks HTTP/2 cleartext behind an ingress', async () => {
    const port = (list: KubeObject[]) => find<Service>(list, 'Service', clusterNames.relay).spec.ports;
    const grpc = { name: 'grpc', port: 50_056, targetPort: 'grpc' };
    expect(port(objects)).toEqual([{ ...grpc, appProtocol: 'tls' }]);
    expect(environment(objects, clusterNames.relay)).toMatchObject({
      WINDLASS_RELAY_TLS_CERT_FILE: '/etc/windlass/relay-tls/tls.crt',
      WINDLASS_RELAY_TLS_KEY_FILE: '/etc/windlass/relay-tls/tls.key',
    });
    const ingress = { enabled: true, className: 'traefik', hosts: ['edge.example.com'], tlsSecret: 'certificate' };
    const rendered = await render({ api, relay: { ...behindIngress, endpoint: 'edge.example.com:443', ingress } });
    expect(port(rendered)).toEqual([{ ...grpc, appProtocol: 'kubernetes.io/h2c' }]);
    expect(Object.keys(environment(rendered, clusterNames.relay)).filter((name) => name.includes('TLS'))).toEqual([]);
    const backend = { service: { name: 'windlass-relay', port: { name: 'grpc' } } };
    expect(find(rendered, 'Ingress', clusterNames.relay)).toMatchObject({
      spec: {
        ingressClassName: 'traefik',
        tls: [{ hosts: ['edge.example.com'], secretName: 'certificate' }],
        rules: [{ host: 'edge.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
      },
    });
  });

  it.each<[string, object, string | undefined]>([
    ['ClusterIP', {}, undefined],
    ['NodePort', {}, 'Local'],
    ['LoadBalancer', {}, 'Local'],
    ['NodePort', { externalTrafficPolicy: 'Cluster' }, 'Cluster'],
    ['LoadBalancer', { externalTrafficPolicy: 'Cluster' }, 'Cluster'],
  ])('has a Service %s with %o that has the traffic policy %s', async (type, more, want) => {
    const rendered = await render({ api, relay: { ...relay, service: { type, ...more } } });
    expect(find<Service>(rendered, 'Service', clusterNames.relay).spec).toMatchObject({ type });
    expect(find<Service>(rendered, 'Service', clusterNames.relay).spec.externalTrafficPolicy).toBe(want);
  });

  it('opens the port of daemons to everybody and the internal one to the release, and lets the relay out to the bus', () => {
    const { spec } = find<NetworkPolicy>(objects, 'NetworkPolicy', clusterNames.relay);
    const release = { 'app.kubernetes.io/name': 'windlass', 'app.kubernetes.io/instance': 'windlass' };
    expect(spec?.ingress).toEqual([
      { ports: [{ protocol: 'TCP', port: 50_056 }] },
      { from: [{ podSelector: { matchLabels: release } }], ports: [{ protocol: 'TCP', port: 50_057 }] },
    ]);
    expect(spec?.egress).toMatchObject([
      { to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/component': 'nats' } } }], ports: [{ port: 4222 }] },
    ]);
    const { ports } = find<Service>(objects, 'Service', 'windlass-relay-internal').spec;
    expect(ports.map(({ port }) => port)).toEqual([50_057]);
  });

  it('lets the relay make hosts and write their status in tenants, read hosts everywhere, and nothing else', () => {
    const rights = ({ rules }: Role): string[] =>
      rules.flatMap((rule) => rule.resources.map((resource) => `${resource}: ${rule.verbs.join(' ')}`));
    expect(rights(find<Role>(objects, 'ClusterRole', clusterNames.tenantRelay))).toEqual([
      'edgehosts: create delete',
      'edgehosts/status: update',
    ]);
    expect(rights(find<Role>(objects, 'ClusterRole', clusterNames.relay))).toEqual([
      'edgehosts: get list watch',
      'namespaces: list watch',
    ]);
    const { rules } = find<Role>(objects, 'Role', clusterNames.relay);
    expect(rules).toEqual([
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['windlass-public-keys'], verbs: ['get'] },
    ]);
  });

  it('can have a ServiceMonitor, which finds the internal port alone', async () => {
    const metrics = { serviceMonitor: { enabled: true } };
    const rendered = await render({ api, relay, metrics });
    expect(find(rendered, 'ServiceMonitor', clusterNames.relay)).toMatchObject({
      spec: {
        selector: { matchLabels: { 'app.kubernetes.io/component': 'relay' } },
        endpoints: [{ port: 'internal' }],
      },
    });
    const labelled = rendered.filter(
      ({ kind, metadata }) => kind === 'Service' && metadata.labels?.['app.kubernetes.io/component'] === 'relay',
    );
    expect(labelled.map(({ metadata }) => metadata.name)).toEqual(['windlass-relay-internal']);
  });

  it('lets the admission policies trust the relay of the namespace it is installed into', async () => {
    const policies = async (inside: string): Promise<string> => {
      const rendered = await render({ api, relay }, inside);
      const names = ['edge-hosts.windlass.dev', 'status-writes.windlass.dev'];
      return JSON.stringify(names.map((name) => find(rendered, 'ValidatingAdmissionPolicy', name)));
    };
    const text = await policies('ops');
    expect(text.match(/'system:serviceaccount:ops:windlass-relay'/g)).toHaveLength(2);
    expect(text).not.toContain('windlass-system');
  });

  it.each<[string, object, string]>([
    ['without an issuer', { relay }, 'relay.enabled is true: hosts are enrolled and commanded by the API'],
    [
      'without a bus',
      { api: { ...api, replicaCount: 1 }, nats: { enabled: false }, relay },
      'set nats.enabled or nats.url',
    ],
    ['with neither certificate nor ingress', { api, relay: { enabled: true } }, 'give relay.tls.existingSecret'],
    ['with both', { api, relay: { ...relay, cleartext: true } }, 'leave relay.tls.existingSecret out'],
    [
      'open to the world without TLS',
      { api, relay: { ...behindIngress, service: { type: 'LoadBalancer' } } },
      'without TLS; give relay.tls.existingSecret',
    ],
    [
      'with a port of nodes that nothing opens',
      { api, relay: { ...relay, service: { nodePort: 30_056 } } },
      'NodePort',
    ],
    [
      'with an Ingress for no name',
      { api, relay: { ...behindIngress, ingress: { enabled: true } } },
      'relay.ingress.hosts',
    ],
    [
      'with an Ingress without a public address',
      { api, relay: { ...behindIngress, ingress: { enabled: true, hosts: ['edge.example.com'] } } },
      'give relay.endpoint',
    ],
    ['with an endpoint that is a URL', { api, relay: { ...relay, endpoint: 'https://a:443' } }, '/relay/endpoint'],
    ['with an endpoint without a port', { api, relay: { ...relay, endpoint: 'edge.example.com' } }, '/relay/endpoint'],
    ['with a proxy that is a name', { api, relay: { ...relay, trustedProxies: ['proxy'] } }, '/relay/trustedProxies/0'],
    [
      'that takes each host for dead',
      { api, relay: { ...relay, staleThresholdSeconds: 30 } },
      'relay.staleThresholdSeconds',
    ],
    ['with a drain of a minute', { api, relay: { ...relay, drainSeconds: 60 } }, '/relay/drainSeconds'],
    ['with an unknown value', { api, relay: { ...relay, port: 1 } }, '/relay'],
  ])('refuses a relay %s and says what to do', async (_what, values, problem) => {
    await expect(render(values)).rejects.toThrow(problem);
  });
});

/** As the development cluster has it. */
describe('the installed relay', () => {
  const { account, namespace, tenant, foreign, kube } = installedProcess('relay');

  it.each([
    'watch windlass.dev/edgehosts in -',
    'watch ./namespaces in -',
    `create windlass.dev/edgehosts in ${tenant}`,
    `delete windlass.dev/edgehosts in ${tenant}`,
    `update windlass.dev/edgehosts/status in ${tenant}`,
    `create windlass.dev/edgehosts in ${namespace}`,
  ])('may %s', async (access) => {
    expect(await may(kube(), account, accessOf(access))).toBe(true);
  });

  it.each([
    'get ./secrets in -',
    `get ./secrets in ${namespace}`,
    `get ./secrets in ${tenant}`,
    `get ./configmaps in ${namespace}`,
    `get ./configmaps in ${tenant}`,
    `create windlass.dev/edgehosts in ${foreign}`,
    'update windlass.dev/edgehosts/status in -',
    `patch windlass.dev/edgehosts in ${tenant}`,
    `create windlass.dev/fleetruns in ${tenant}`,
    'get windlass.dev/fleetruns in -',
    'list ./pods in -',
    `create ./pods in ${tenant}`,
    `create ./serviceaccounts/token in ${namespace}`,
  ])('may not %s', async (access) => {
    expect(await may(kube(), account, accessOf(access))).toBe(false);
  });

  it('has pods that pass Pod Security restricted', async () => {
    const pod = foreignPodOf(await render({ api, relay }), 'relay');
    await expect(kube().create(pods, pod, { dryRun: true })).resolves.toBeDefined();
  });

  it('has two replicas that are ready, on different nodes, once it is rolled out', async () => {
    await rollOut(kube(), 'relay');
    const replicas = await podsOf(kube(), 'relay');
    expect(replicas.map((pod) => pod.status?.containerStatuses?.[0]?.ready)).toEqual([true, true]);
    expect(new Set(replicas.map(({ spec }) => spec.nodeName)).size).toBe(2);
  });
});
