import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { GatewayConfig, readGatewayConfig } from '../../gateway/config.ts';
import { busVariables } from '../../lib/bus/index.ts';
import { sealTokenVariables } from '../../lib/envelope/index.ts';
import { type KubeObject, type NetworkPolicy, pods, type Role } from '../../lib/kube/index.ts';
import { nodeConfigVariables } from '../../lib/node-config/index.ts';
import { s3Variables } from '../../lib/output-store/s3-config.ts';
import { clusterNames } from '../../lib/tenant/names.ts';
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
import { environment, find, listedVariables, namesOf, render, texts } from './chart/rendering.ts';
import { answersDuring } from './chart/steady-requests.ts';

const issuer = 'https://id.example.com';
const api = { oidc: { issuer } };
const gateway = { enabled: true };

interface Service extends KubeObject {
  readonly spec: {
    readonly type?: string;
    readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
  };
}
interface Secret extends KubeObject {
  readonly data: Readonly<Record<string, string>>;
}

describe('a chart without a gateway', () => {
  it('runs none, names none to the API, and has its account for the tenants all the same', async () => {
    const objects = await render({ api, tenants: [{ slug: 'acme' }] });
    expect(namesOf(objects, 'Deployment')).not.toContain(clusterNames.gateway);
    expect(Object.keys(environment(objects, clusterNames.api))).not.toContain('WINDLASS_GATEWAY_URL');
    expect(tenantAccountOf(objects, 'gateway')).toMatchObject(accountWithoutRights('gateway'));
  });
});

describe('a chart with a gateway', () => {
  let objects: KubeObject[] = [];
  beforeAll(async () => {
    objects = await render({ api, gateway });
  });

  it('runs two replicas that go one at a time, with the probes on the internal listener', () => {
    expect(replicasOf(objects, 'gateway')).toMatchObject(twoReplicas('gateway'));
  });

  it('GW-ENV-01 GW-ENV-08 sets every variable that the gateway reads and that its README lists, and no other', async () => {
    const values = {
      api: {
        oidc: {
          issuer,
          jwksUrl: 'https://id.example.com/keys',
          caConfigMap: 'authority',
          roleScopes: { fleet: ['svc.edge.fleet.read'] },
        },
      },
      gateway: { ...gateway, audit: { formerPublicKeys: '-----BEGIN PUBLIC KEY-----' } },
      nats: {
        url: 'tls://nats:4222',
        auth: { existingSecret: 'nats-password' },
        credentials: { existingSecret: 'nats-credentials' },
        tls: { existingSecret: 'nats-tls', clientCertificate: true },
      },
      nodeConfig: { mcp_servers: [{ name: 'notes', url: 'https://notes.example.com/mcp' }] },
    };
    const env = environment(await render(values), clusterNames.gateway);
    const reads = Object.keys(GatewayConfig.properties).sort();
    const byHand = new Set([
      'WINDLASS_HTTP_HOST',
      'SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM',
      'SEAL_GATEWAY_AUTH_DISABLED',
      'SEAL_GATEWAY_AUTH_DISABLED_FORCE',
    ]);
    const store = new Set(Object.keys(s3Variables));
    const set = Object.keys(env).filter((name) => !store.has(name) && name !== 'NODE_OPTIONS');
    expect(set.sort()).toEqual(reads.filter((name) => !byHand.has(name)));
    const shared = new Set([
      ...Object.keys(busVariables),
      ...Object.keys(sealTokenVariables),
      ...Object.keys(nodeConfigVariables),
      'WINDLASS_SYSTEM_TENANT',
    ]);
    const own = reads.filter((name) => !shared.has(name) && !/^(?:WINDLASS_OIDC_|OIDC_)/.test(name));
    expect(listedVariables('The tool gateway')).toEqual(own);
  });

  it('GW-ENV-01 GW-ENV-02 GW-ENV-03 GW-ENV-06 GW-ENV-07 gives it values that it accepts, and its own defaults', async () => {
    const bus = { WINDLASS_NATS_USER: 'windlass', WINDLASS_NATS_PASSWORD: 'x' };
    const env = texts(environment(objects, clusterNames.gateway));
    const own = {
      WINDLASS_NATS_URL: 'nats://windlass-nats.windlass-system.svc:4222',
      SEAL_GATEWAY_OPERATOR_JWT_ISSUER: issuer,
      SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE: env['SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE'],
      WINDLASS_GATEWAY_AUDIT_KEY: '/etc/windlass/gateway-audit/key.pem',
    };
    expect(readGatewayConfig({ ...env, ...bus })).toEqual(readGatewayConfig({ ...own, ...bus }));
    const patient = { api, gateway: { ...gateway, terminationGracePeriodSeconds: 90 } };
    const rendered = texts(environment(await render(patient), clusterNames.gateway));
    expect(rendered).toMatchObject({ WINDLASS_GRACE_SECONDS: '80' });
    const other = { issuer: 'https://ops.example.com/', audience: 'tools', jwksUrl: 'https://ops.example.com/jwks' };
    const named = environment(await render({ api, gateway: { ...gateway, oidc: other } }), clusterNames.gateway);
    expect(named).toMatchObject({
      SEAL_GATEWAY_OPERATOR_JWT_ISSUER: other.issuer,
      SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE: other.audience,
      SEAL_GATEWAY_OPERATOR_JWKS_URL: other.jwksUrl,
    });
  });

  it('makes the key of the audit, and keeps it on uninstall, or takes the one that is named', async () => {
    const { data, metadata } = find<Secret>(objects, 'Secret', 'windlass-gateway-audit');
    expect(metadata.annotations?.['helm.sh/resource-policy']).toBe('keep');
    const pem = Buffer.from(data['key.pem'] ?? '', 'base64').toString('utf8');
    expect(createPrivateKey(pem).asymmetricKeyType).toBe('ed25519');
    const named = await render({ api, gateway: { ...gateway, audit: { existingSecret: 'mine' } } });
    expect(namesOf(named, 'Secret')).not.toContain('windlass-gateway-audit');
    expect(JSON.stringify(find(named, 'Deployment', clusterNames.gateway))).toContain('"secretName":"mine"');
    const former = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const changed = await render({ api, gateway: { ...gateway, audit: { formerPublicKeys: former } } });
    const variable = 'WINDLASS_GATEWAY_AUDIT_FORMER_KEYS';
    expect(environment(changed, clusterNames.gateway)).toMatchObject({ [variable]: former });
    expect(environment(named, clusterNames.gateway)).not.toHaveProperty(variable);
  });

  it('is known to the API, whose agents reach it, and to no other pod by the policy', async () => {
    const rendered = await render({ api, gateway: { ...gateway, service: { port: 80 } } });
    const url = 'http://windlass-gateway.windlass-system.svc:80';
    expect(environment(rendered, clusterNames.api)).toMatchObject({ WINDLASS_GATEWAY_URL: url });
    const way = {
      to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/component': 'gateway' } } }],
      ports: [{ protocol: 'TCP', port: 8_090 }],
    };
    const policies = rendered.filter(({ kind }) => kind === 'NetworkPolicy') as NetworkPolicy[];
    const open = policies.filter(({ spec }) => {
      const rules = spec?.egress?.map((rule) => JSON.stringify(rule)) ?? [];
      return rules.some((rule) => rule.includes('"app.kubernetes.io/component":"gateway"'));
    });
    expect(open.map(({ metadata }) => metadata.name)).toEqual([clusterNames.api]);
    expect(find<NetworkPolicy>(rendered, 'NetworkPolicy', clusterNames.api).spec?.egress).toEqual(
      expect.arrayContaining([expect.objectContaining({ ports: way.ports })]),
    );
  });

  it('opens the public port to everybody and the internal one to the release, and lets it out to upstreams', async () => {
    const { spec } = find<NetworkPolicy>(objects, 'NetworkPolicy', clusterNames.gateway);
    const release = { 'app.kubernetes.io/name': 'windlass', 'app.kubernetes.io/instance': 'windlass' };
    expect(spec?.ingress).toEqual([
      { ports: [{ protocol: 'TCP', port: 8_090 }] },
      { from: [{ podSelector: { matchLabels: release } }], ports: [{ protocol: 'TCP', port: 8_091 }] },
    ]);
    const upstreams = { ports: [80, 443].map((port) => ({ protocol: 'TCP', port })) };
    expect(spec?.egress).toEqual(expect.arrayContaining([upstreams]));
    const ports = (name: string) => find<Service>(objects, 'Service', name).spec.ports.map(({ port }) => port);
    expect([ports('windlass-gateway'), ports('windlass-gateway-internal')]).toEqual([[8_090], [8_091]]);
  });

  it('lets the gateway register tools and run CLI tools in tenants, read Secrets by name, and nothing else', () => {
    const rights = ({ rules }: Role): string[] =>
      rules.flatMap((rule) => rule.resources.map((resource) => `${resource}: ${rule.verbs.join(' ')}`));
    const own = ['apispecs', 'toolworkflows', 'clitools', 'securitycontexts'];
    expect(rights(find<Role>(objects, 'ClusterRole', clusterNames.tenantGateway))).toEqual([
      ...own.map((kind) => `${kind}: create update patch delete`),
      'workflows: create patch',
      'workflowexecutions: create patch',
      'configmaps: get create patch delete',
      'secrets: get',
    ]);
    expect(rights(find<Role>(objects, 'ClusterRole', clusterNames.gateway))).toEqual([
      ...[...own, 'workflowexecutions'].map((kind) => `${kind}: get list watch`),
      'namespaces: get list watch',
    ]);
    expect(find<Role>(objects, 'Role', clusterNames.gateway, 'windlass-system').rules).toEqual([
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['windlass-public-keys'], verbs: ['get'] },
    ]);
  });

  it('AMB-125 lets the gateway write in windlass-global what all tenants share, and run nothing there', async () => {
    const { rules } = find<Role>(objects, 'Role', clusterNames.gateway, 'windlass-global');
    expect(rules.map(({ resources, verbs }) => [resources.join(' '), verbs.join(' ')])).toEqual([
      ['apispecs toolworkflows clitools securitycontexts', 'create update patch delete'],
      ['configmaps', 'get create patch delete'],
      ['secrets', 'get'],
    ]);
    const isIts = ({ kind, metadata }: KubeObject): boolean =>
      kind === 'Role' && metadata.namespace === 'windlass-global' && metadata.name === clusterNames.gateway;
    expect((await render({ api })).some(isIts)).toBe(false);
  });

  it('can have a ServiceMonitor, which finds the internal port alone', async () => {
    const rendered = await render({ api, gateway, metrics: { serviceMonitor: { enabled: true } } });
    expect(find(rendered, 'ServiceMonitor', clusterNames.gateway)).toMatchObject({
      spec: { endpoints: [{ port: 'internal' }] },
    });
    const labelled = rendered.filter(
      ({ kind, metadata }) => kind === 'Service' && metadata.labels?.['app.kubernetes.io/component'] === 'gateway',
    );
    expect(labelled.map(({ metadata }) => metadata.name)).toEqual(['windlass-gateway-internal']);
  });

  it.each<[string, object, string]>([
    ['without an issuer', { gateway }, 'give gateway.oidc.issuer or api.oidc.issuer'],
    ['without the API', { gateway: { ...gateway, oidc: { issuer } } }, 'so give api.oidc.issuer, or set api.enabled'],
    [
      'without a bus',
      { api: { ...api, replicaCount: 1 }, nats: { enabled: false }, gateway },
      'set nats.enabled or nats.url',
    ],
    ['with a port that is none', { api, gateway: { ...gateway, upstreamPorts: [0] } }, '/gateway/upstreamPorts'],
    ['with a drain of a minute', { api, gateway: { ...gateway, drainSeconds: 60 } }, '/gateway/drainSeconds'],
    [
      'that has no time to stop',
      { api, gateway: { ...gateway, terminationGracePeriodSeconds: 20 } },
      '/gateway/terminationGracePeriodSeconds',
    ],
    ['with an unknown value', { api, gateway: { ...gateway, port: 1 } }, '/gateway'],
  ])('refuses a gateway %s and says what to do', async (_what, values, problem) => {
    await expect(render(values)).rejects.toThrow(problem);
  });
});

/** As the development cluster has it. */
describe('the installed gateway', () => {
  const { account, namespace, tenant, foreign, kube } = installedProcess('gateway');

  it.each([
    'watch windlass.dev/toolworkflows in -',
    'watch ./namespaces in -',
    `create windlass.dev/apispecs in ${tenant}`,
    `create windlass.dev/workflowexecutions in ${tenant}`,
    `get ./secrets in ${tenant}`,
    `create windlass.dev/apispecs in ${namespace}`,
    'create windlass.dev/apispecs in windlass-global',
    'get ./secrets in windlass-global',
  ])('may %s', async (access) => {
    expect(await may(kube(), account, accessOf(access))).toBe(true);
  });

  it.each([
    'get ./secrets in -',
    `list ./secrets in ${tenant}`,
    `watch ./secrets in ${tenant}`,
    `get ./secrets in ${foreign}`,
    `create windlass.dev/apispecs in ${foreign}`,
    'list ./secrets in windlass-global',
    'create windlass.dev/workflowexecutions in windlass-global',
    `create ./pods in ${tenant}`,
    `get ./pods/log in ${tenant}`,
    `create windlass.dev/agentexecutions in ${tenant}`,
    `delete windlass.dev/workflowexecutions in ${tenant}`,
    `update windlass.dev/toolworkflows/status in ${tenant}`,
    `create ./serviceaccounts/token in ${namespace}`,
  ])('may not %s', async (access) => {
    expect(await may(kube(), account, accessOf(access))).toBe(false);
  });

  it('has pods that pass Pod Security restricted', async () => {
    const pod = foreignPodOf(await render({ api, gateway }), 'gateway');
    await expect(kube().create(pods, pod, { dryRun: true })).resolves.toBeDefined();
  });

  it('answers every request while it is rolled out, and its replicas then run on different nodes', async () => {
    const answers = await answersDuring(kube(), () => rollOut(kube(), 'gateway'), {
      component: 'gateway',
      port: 8_090,
    });
    expect(Object.keys(answers)).toEqual(['200']);
    const after = await podsOf(kube(), 'gateway');
    expect(new Set(after.map(({ spec }) => spec.nodeName)).size).toBe(2);
  });
});
