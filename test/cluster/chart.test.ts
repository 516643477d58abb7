import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ControllersConfig } from '../../controllers/config.ts';
import { kinds } from '../../crds/kinds.ts';
import { labels } from '../../crds/labels.ts';
import { parseConfig } from '../../lib/config.ts';
import { messageOf } from '../../lib/errors.ts';
import {
  customResourceDefinitions,
  type KubeClient,
  type KubeObject,
  leases,
  namespaces,
  type Pod,
  type PolicyRule,
  pods,
  type Role,
} from '../../lib/kube/index.ts';
import { clusterNames } from '../../lib/tenant/names.ts';
import { type TenantOptions, tenantManifests } from '../../lib/tenant/tenant-manifests.ts';
import { installedNats } from '../nats/installed-nats.ts';
import { type Access, accessOf, may } from './chart/access.ts';
import { install, makeForeignNamespace, podsOf, upgrade } from './chart/release.ts';
import {
  chart,
  type Deployment,
  environment,
  find,
  helm,
  listedVariables,
  namesOf,
  releaseNamespace,
  render,
  texts,
} from './chart/rendering.ts';
import { connect } from './harness/cluster.ts';
import { ensureWorkflow, startExecution } from './harness/executions.ts';
import { workflowExecutions } from './harness/kinds.ts';
import { projectDir } from './harness/project.ts';
import { waitForNone, waitForObject } from './harness/wait.ts';

const namespace = releaseNamespace;
const controllers = `system:serviceaccount:${namespace}:${clusterNames.controllers}`;

/** Values with which every variable of the bus is set. */
const wholeBus = {
  url: 'tls://nats:4222',
  auth: { existingSecret: 'nats-password' },
  credentials: { existingSecret: 'nats-credentials' },
  tls: { existingSecret: 'nats-tls', clientCertificate: true },
};

/** With it every variable of the node configuration is set. */
const nodeConfig = {
  llm_providers: [
    { name: 'cloud', type: 'openai', api_key: 'secret:model-keys/openai', models: [{ alias: 'default', model: 'm' }] },
    { name: 'home', type: 'ollama', endpoint: 'http://ollama.models:11434', models: [{ alias: 'local', model: 'm' }] },
  ],
};

const privileged = (inside: string): Pod => ({
  metadata: { name: 'privileged', namespace: inside },
  spec: { containers: [{ name: 'c', image: 'x' }], hostPID: true } as Pod['spec'],
});

const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
interface Affinity {
  readonly podAntiAffinity?: { readonly [preferred]: readonly { readonly podAffinityTerm: object }[] };
}

/** Whose tokens are accepted. */
const issuer = { oidc: { issuer: 'https://id.example.com' } };

describe('the rendered chart', () => {
  let objects: KubeObject[] = [];
  beforeAll(async () => {
    objects = await render();
  });

  it('passes helm lint', async () => {
    expect(await helm('lint', '--strict', chart)).toContain('0 chart(s) failed');
  });

  it('holds every kind and keeps it on uninstall, with its content unchanged', () => {
    for (const kind of kinds) {
      const name = `${kind.plural}.windlass.dev`;
      const crd = find<KubeObject & { spec: unknown }>(objects, 'CustomResourceDefinition', name);
      const source = readFileSync(join(projectDir, `crds/generated/${kind.plural}.yaml`), 'utf8');
      expect(crd.spec).toEqual((parse(source) as { spec: unknown }).spec);
      expect(crd.metadata.annotations?.['helm.sh/resource-policy']).toBe('keep');
    }
  });

  it('holds a binding for each admission policy', () => {
    const policies = namesOf(objects, 'ValidatingAdmissionPolicy');
    expect(policies.length).toBeGreaterThan(0);
    expect(namesOf(objects, 'ValidatingAdmissionPolicyBinding')).toEqual(policies);
  });

  it('AMB-175 holds the policy that takes any input where the server knows such policies', async () => {
    const kind = 'MutatingAdmissionPolicy';
    expect(namesOf(objects, kind)).toEqual([]);
    const args = ['template', 'windlass', chart, '--api-versions', `admissionregistration.k8s.io/v1/${kind}`];
    const text = await helm(...args);
    expect(text).toContain(`kind: ${kind}\n`);
    expect(text).toContain(`kind: ${kind}Binding\n`);
  });

  it('lets the policies trust the accounts of the namespace it is installed into', async () => {
    const trusting = async (releaseNamespace: string): Promise<string> =>
      JSON.stringify(
        find(await render({}, releaseNamespace), 'ValidatingAdmissionPolicy', 'workflow-execution-writes.windlass.dev'),
      );
    expect(await trusting('ops')).toContain("'system:serviceaccount:ops:windlass-controllers'");
    expect(await trusting('ops')).not.toContain('windlass-system');
    expect(await trusting(namespace)).toContain(`'${controllers}'`);
  });

  it('sets every variable that the controllers read and that its README lists, and no other', async () => {
    const s3 = { kind: 's3', s3: { bucket: 'blobs', endpoint: 'http://s3:9000', existingSecret: 'keys' } };
    const env = environment(
      await render({
        outputStore: s3,
        volumes: { storageClass: 'fast' },
        nats: wholeBus,
        nodeConfig,
        api: issuer,
        relay: { enabled: true, cleartext: true },
        git: { image: 'windlass-git:0.1.0', allowInternalAddresses: ['10.0.0.0/8'], clusterNetworks: ['10.96.0.0/12'] },
      }),
      clusterNames.controllers,
    );
    const keys = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
    const want = [...Object.keys(ControllersConfig.properties), ...keys].sort();
    expect(Object.keys(env).sort()).toEqual([...want, 'NODE_OPTIONS'].sort());
    expect(listedVariables('Both', 'The controllers')).toEqual(want);
  });

  it('gives the controllers values that they accept, and their own defaults', () => {
    const env = texts(environment(objects, clusterNames.controllers));
    const own = parseConfig(ControllersConfig, { WINDLASS_RUNNER_IMAGE: 'windlass-runner:0.1.0' });
    expect(parseConfig(ControllersConfig, env)).toEqual(own);
  });

  it('writes large numbers as digits', async () => {
    const env = environment(
      await render({ controllers: { executionTtlSeconds: 31_536_000 }, steps: { runAsUser: 1_234_567_890 } }),
      clusterNames.controllers,
    );
    expect(env).toMatchObject({ WINDLASS_EXECUTION_TTL_SECONDS: '31536000', WINDLASS_STEP_RUN_AS_USER: '1234567890' });
  });

  it('reads S3 credentials from the Secret that is named, and never from a value', async () => {
    const s3 = { kind: 's3', s3: { bucket: 'blobs', existingSecret: 'keys' } };
    expect(environment(await render({ outputStore: s3 }), clusterNames.controllers)).toMatchObject({
      AWS_ACCESS_KEY_ID: { secretKeyRef: { name: 'keys', key: 'access_key_id' } },
      AWS_SECRET_ACCESS_KEY: { secretKeyRef: { name: 'keys', key: 'secret_access_key' } },
    });
    const names = Object.keys(environment(objects, clusterNames.controllers));
    expect(names.filter((name) => /S3|AWS|NATS/.test(name))).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['an Ingress without an issuer', { api: { ingress: { enabled: true } } }, 'api.ingress.enabled is true'],
    [
      'an HTTPRoute of an API that is off',
      { api: { enabled: false, httpRoute: { enabled: true, parentRefs: [{ name: 'g' }] } } },
      'api.httpRoute.enabled is true',
    ],
    ['an issuer without TLS', { api: { oidc: { issuer: 'http://id.example.com' } } }, 'api.oidc.issuer is http:'],
    [
      'an issuer without TLS that is not of the pod',
      { api: { oidc: { issuer: 'http://id.example.com', allowHttp: true } } },
      'loopback only',
    ],
    [
      'keys without TLS',
      { api: { oidc: { issuer: 'https://id.example.com', jwksUrl: 'http://id.example.com/keys' } } },
      'api.oidc.jwksUrl is http:',
    ],
    ['gRPC without an issuer', { api: { grpc: { tlsSecret: 'x' } } }, 'api.grpc.tlsSecret is given'],
    [
      'a certificate without host names',
      { api: { ...issuer, ingress: { enabled: true, tlsSecret: 'x' } } },
      'api.ingress.hosts',
    ],
    [
      'an issuer of certificates without a Secret',
      { api: { ...issuer, ingress: { enabled: true, annotations: { 'cert-manager.io/issuer': 'x' } } } },
      'api.ingress.tlsSecret',
    ],
    [
      'an authority of gRPC clients without a listener',
      { api: { ...issuer, grpc: { clientCaSecret: 'x' } } },
      'api.grpc.tlsSecret',
    ],
    ['credentials for a bus of our own', { nats: { credentials: { existingSecret: 'x' } } }, 'give nats.url'],
    ['a client certificate from nowhere', { nats: { tls: { clientCertificate: true } } }, 'nats.tls.existingSecret'],
    ['an unknown value', { replicas: 2 }, 'replicas'],
    ['an unknown value deep inside', { outputStore: { s3: { buckets: 'x' } } }, 'buckets'],
    ['s3 without a bucket', { outputStore: { kind: 's3' } }, '/outputStore/s3/bucket'],
    ['root as the user of steps', { steps: { runAsUser: 0 } }, '/steps/runAsUser'],
    ['an unknown output store', { outputStore: { kind: 'disk' } }, '/outputStore/kind'],
    ['an unknown egress', { tenantDefaults: { egress: 'all' } }, '/tenantDefaults/egress'],
    ['a slug that is none', { tenants: [{ slug: 'A' }] }, '/tenants/0/slug'],
    ['a slug of 57 characters', { tenants: [{ slug: 'x'.repeat(57) }] }, '/tenants/0/slug'],
    ['a tenant without a slug', { tenants: [{ namespace: 'a' }] }, '/tenants/0'],
    [
      'a service account without a namespace',
      { tenants: [{ slug: 'a', viewers: [{ kind: 'ServiceAccount', name: 'x' }] }] },
      '/tenants/0/viewers/0',
    ],
    ['a namespace that is none', { tenants: [{ slug: 'a', namespace: 'team.a' }] }, '/tenants/0/namespace'],
    ['a duplicate slug', { tenants: [{ slug: 'a' }, { slug: 'a', namespace: 'b' }] }, 'tenants[1]'],
    ['a duplicate namespace', { tenants: [{ slug: 'b' }, { slug: 'a', namespace: 'tenant-b' }] }, 'tenants[1]'],
    ['the slug of the system', { tenants: [{ slug: 'system' }] }, 'tenants[0]'],
    ['the namespace of the release', { tenants: [{ slug: 'a', namespace }] }, 'tenants[0]'],
    ['a quota that is no amount', { tenants: [{ slug: 'a', quota: { pods: 'many' } }] }, '/tenants/0/quota/pods'],
    ['a limit that is no amount', { controllers: { resources: { limits: { memory: '1GB' } } } }, '/limits/memory'],
    ['a Secret that is none', { outputStore: { s3: { existingSecret: 'A B' } } }, '/outputStore/s3/existingSecret'],
    ['a port of 0', { metrics: { port: 0 } }, '/metrics/port'],
    ['a port of 65536', { metrics: { port: 65_536 } }, '/metrics/port'],
    ['eleven replicas', { controllers: { replicaCount: 11 } }, '/controllers/replicaCount'],
    ['a tag in the repository', { image: { repository: 'a b' } }, '/image/repository'],
  ])('refuses %s and names it', async (_what, values, path) => {
    await expect(render(values)).rejects.toThrow(path);
  });

  it('makes alerts and a dashboard where they are asked for, and takes its words for what they are', async () => {
    expect(namesOf(objects, 'PrometheusRule')).toEqual([]);
    expect(namesOf(objects, 'ConfigMap')).not.toContain('windlass-dashboard');
    const on = { enabled: true, labels: { team: 'ops' } };
    const made = await render({ metrics: { prometheusRule: on, dashboard: on } });
    const rule = find<KubeObject & { spec: unknown }>(made, 'PrometheusRule', 'windlass');
    expect(rule.spec).toEqual(parse(readFileSync(join(chart, 'files/alerts.yaml'), 'utf8')));
    const dashboard = find<KubeObject & { data: Record<string, string> }>(made, 'ConfigMap', 'windlass-dashboard');
    expect(dashboard.metadata.labels).toMatchObject({ team: 'ops', grafana_dashboard: '1' });
    expect(JSON.parse(dashboard.data['windlass.json'] ?? '')).toMatchObject({ title: 'Windlass' });
  });

  it('describes every value', () => {
    const lines = readFileSync(join(chart, 'values.yaml'), 'utf8').split('\n');
    const leaves = lines.flatMap((line, index) => (/^ *[a-zA-Z]+: .+/.test(line) ? [index] : []));
    const bare = leaves.filter((index) => {
      const before = lines[index - 1]?.trim() ?? '';
      return !before.startsWith('#');
    });
    // Below a described map, its entries speak for themselves.
    const entries = /^ +(cpu|memory|pods|persistentvolumeclaims|name): /;
    expect(bare.map((index) => lines[index]).filter((line) => !entries.test(line ?? ''))).toEqual([]);
  });

  it('gives each role what it names, without wildcards, secrets, exec, or writing status for people', () => {
    const roles = objects.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole') as Role[];
    expect(roles.length).toBeGreaterThan(4);
    for (const { metadata, rules } of roles) {
      const words = rules.flatMap((rule: PolicyRule) => [...rule.apiGroups, ...rule.resources, ...rule.verbs]);
      const never = new Set(['*', 'secrets', 'pods/exec', 'pods/attach', 'escalate', 'bind', 'impersonate']);
      expect({ role: metadata.name, words: words.filter((word) => never.has(word)) }).toEqual({
        role: metadata.name,
        words: [],
      });
    }
    for (const person of [clusterNames.viewer, clusterNames.operator]) {
      const { rules } = find<Role>(objects, 'ClusterRole', person);
      expect(rules.flatMap((rule) => rule.resources).filter((resource) => resource.includes('/'))).toEqual([
        'pods/log',
      ]);
    }
  });

  it('binds cluster-wide only what reads, the status of our kinds, and what lets executions and fleet runs go', () => {
    const cluster = objects.filter(({ kind }) => kind === 'ClusterRoleBinding') as (KubeObject & {
      roleRef: { name: string };
    })[];
    expect(cluster.map((binding) => binding.roleRef.name)).toEqual([clusterNames.controllers, clusterNames.api]);
    const { rules } = find<Role>(objects, 'ClusterRole', clusterNames.controllers);
    const writing = rules.filter((rule) => rule.verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)));
    // Relays write the status of hosts, and the API that of tool calls; that of a group or a script is not written at all.
    const judged = kinds.filter(({ kind }) => !['EdgeHost', 'EdgeGroup', 'Script', 'ToolCall'].includes(kind));
    expect(writing).toEqual([
      { apiGroups: ['windlass.dev'], resources: judged.map((kind) => `${kind.plural}/status`), verbs: ['patch'] },
      {
        apiGroups: ['windlass.dev'],
        resources: ['workflowexecutions', 'agentexecutions', 'fleetruns'],
        verbs: ['patch'],
      },
    ]);
  });

  it.each<[string, TenantOptions]>([
    ['a slug alone', { slug: 'acme' }],
    ['its own namespace', { slug: 'acme', namespace: 'team-a' }],
    ['a quota', { slug: 'acme', quota: { pods: '3', 'count/workflowexecutions.windlass.dev': '10' } }],
    ['no quota', { slug: 'acme', quota: {} }],
    ['egress dns', { slug: 'acme', egress: 'dns' }],
    ['egress open', { slug: 'acme', egress: 'open' }],
    [
      'people',
      {
        slug: 'acme',
        viewers: [{ kind: 'Group', name: 'auditors' }],
        operators: [
          { kind: 'User', name: 'kim@example.com' },
          { kind: 'ServiceAccount', name: 'ci', namespace: 'build' },
        ],
      },
    ],
  ])('makes of a tenant with %s what the command line makes', async (_what, tenant) => {
    const rendered = await render({ tenants: [tenant] }, 'ops');
    const inside = tenant.namespace ?? 'tenant-acme';
    const ours = rendered.filter(
      ({ kind, metadata }) => metadata.namespace === inside || (kind === 'Namespace' && metadata.name === inside),
    );
    const comparable = (list: readonly KubeObject[]): unknown[] =>
      list
        .map((object) => {
          const { ['app.kubernetes.io/managed-by']: _manager, ...labels } = object.metadata.labels ?? {};
          return { ...object, metadata: { name: object.metadata.name, namespace: object.metadata.namespace, labels } };
        })
        .sort((a, b) => `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`));
    expect(comparable(ours)).toEqual(comparable(tenantManifests({ ...tenant, releaseNamespace: 'ops' })));
  });

  it('spreads replicas over nodes and zones where it can, and takes affinity of one’s own beside that or instead', async () => {
    const affinity = (list: readonly KubeObject[]): Affinity =>
      find<Deployment>(list, 'Deployment', clusterNames.controllers).spec.template.spec.affinity as Affinity;
    const spread = affinity(objects).podAntiAffinity?.[preferred] ?? [];
    expect(spread.map(({ podAffinityTerm }) => podAffinityTerm)).toMatchObject([
      { topologyKey: 'kubernetes.io/hostname', matchLabelKeys: ['pod-template-hash'] },
      { topologyKey: 'topology.kubernetes.io/zone', matchLabelKeys: ['pod-template-hash'] },
    ]);
    const nodeAffinity = { [preferred]: [{ weight: 1, preference: {} }] };
    const own = [{ weight: 7, podAffinityTerm: { topologyKey: 'rack' } }];
    const given = async (value: object): Promise<Affinity> =>
      affinity(await render({ controllers: { affinity: value } }));
    expect(await given({ nodeAffinity })).toEqual({ nodeAffinity, podAntiAffinity: { [preferred]: spread } });
    expect(await given({ podAntiAffinity: { [preferred]: own } })).toEqual({ podAntiAffinity: { [preferred]: own } });
  });

  it('keeps the namespaces of tenants on uninstall', async () => {
    const rendered = await render({ tenants: [{ slug: 'acme' }] });
    for (const name of ['tenant-acme', 'windlass-global']) {
      expect(find(rendered, 'Namespace', name).metadata.annotations?.['helm.sh/resource-policy']).toBe('keep');
    }
  });

  it.each<[string, object, string]>([
    ['crds', { crds: { install: false } }, 'CustomResourceDefinition'],
    ['admission policies', { admissionPolicies: { install: false } }, 'ValidatingAdmissionPolicy'],
    ['disruption budget', { controllers: { podDisruptionBudget: { enabled: false } } }, 'PodDisruptionBudget'],
    ['workflow of helm test', { systemTenant: { enabled: false } }, 'Workflow'],
  ])('leaves out its %s when configured so', async (_what, values, kind) => {
    const has = (list: readonly KubeObject[]): boolean => list.some((object) => object.kind === kind);
    expect([has(objects), has(await render(values))]).toEqual([true, false]);
  });
});

describe('the installed chart', () => {
  let kube: KubeClient;
  let objects: KubeObject[] = [];
  const foreign = 'test-chart-foreign';

  beforeAll(async () => {
    kube = (await connect()).kube;
    objects = await render({ tenants: [{ slug: 'demo' }] });
    await makeForeignNamespace(kube, foreign);
  });

  afterAll(async () => {
    await kube.delete(namespaces, { name: foreign });
    await kube.close();
  });

  const tenant = 'tenant-demo';
  it.each([
    'list ./pods in -',
    'watch ./pods in -',
    'watch windlass.dev/workflows in -',
    'watch windlass.dev/workflowexecutions in -',
    'watch windlass.dev/volumes in -',
    'patch windlass.dev/workflowexecutions/status in -',
    'patch windlass.dev/workflowexecutions in -',
    'patch windlass.dev/agentexecutions in -',
    'patch windlass.dev/fleetruns in -',
    'watch apps/controllerrevisions in -',
    'watch ./persistentvolumeclaims in -',
    `create ./pods in ${tenant}`,
    `patch ./pods in ${tenant}`,
    `delete ./pods in ${tenant}`,
    `get ./pods/log in ${tenant}`,
    `create ./configmaps in ${tenant}`,
    `get ./configmaps in ${tenant}`,
    `patch ./configmaps in ${tenant}`,
    `create ./persistentvolumeclaims in ${tenant}`,
    `create apps/controllerrevisions in ${tenant}`,
    `delete apps/controllerrevisions in ${tenant}`,
    `create windlass.dev/workflowexecutions in ${tenant}`,
    `delete windlass.dev/workflowexecutions in ${tenant}`,
    `create windlass.dev/volumes in ${tenant}`,
    `create events.k8s.io/events in ${tenant}`,
    'create apps/controllerrevisions in windlass-global',
    'get ./configmaps in windlass-global',
    `create coordination.k8s.io/leases in ${namespace}`,
  ])('the controllers may %s', async (access) => {
    expect(await may(kube, controllers, accessOf(access))).toBe(true);
  });

  it.each([
    'get ./secrets in -',
    'list ./secrets in -',
    `get ./secrets in ${tenant}`,
    `get ./secrets in ${namespace}`,
    'get ./secrets in windlass-global',
    'list ./configmaps in -',
    'get ./configmaps in default',
    'get ./configmaps in kube-system',
    `delete ./configmaps in ${tenant}`,
    'create ./pods in -',
    'create ./pods in default',
    'create ./pods in kube-system',
    'create ./pods in windlass-global',
    `create ./pods in ${foreign}`,
    'delete ./pods in default',
    `create ./pods/exec in ${tenant}`,
    'create ./pods/exec in -',
    `get ./pods/exec in ${tenant}`,
    `create ./pods/attach in ${tenant}`,
    `create ./pods/ephemeralcontainers in ${tenant}`,
    'get ./pods/log in default',
    `create ./serviceaccounts/token in ${tenant}`,
    'create ./namespaces in -',
    'get ./nodes in -',
    `create rbac.authorization.k8s.io/rolebindings in ${tenant}`,
    `patch windlass.dev/workflows in ${tenant}`,
    `delete windlass.dev/workflows in ${tenant}`,
    'create windlass.dev/workflowexecutions in default',
    'delete windlass.dev/workflowexecutions in default',
    'create windlass.dev/fleetruns in -',
    'delete windlass.dev/fleetruns in default',
    'update coordination.k8s.io/leases in kube-system',
    `delete coordination.k8s.io/leases in ${namespace}`,
  ])('the controllers may not %s', async (access) => {
    expect(await may(kube, controllers, accessOf(access))).toBe(false);
  });

  it('lets the controllers write their own Lease and no other', async () => {
    const lease = (name: string): Access => ({
      verb: 'update',
      group: 'coordination.k8s.io',
      resource: 'leases',
      namespace,
      name,
    });
    expect(await may(kube, controllers, lease(clusterNames.controllers))).toBe(true);
    expect(await may(kube, controllers, lease('another'))).toBe(false);
  });

  it.each([
    [clusterNames.viewer, 'get windlass.dev/workflowexecutions in here', true],
    [clusterNames.viewer, 'get ./pods/log in here', true],
    [clusterNames.viewer, 'create windlass.dev/workflowexecutions in here', false],
    [clusterNames.viewer, 'get ./secrets in here', false],
    [clusterNames.operator, 'create windlass.dev/workflows in here', true],
    [clusterNames.operator, 'patch windlass.dev/workflowexecutions in here', true],
    [clusterNames.operator, 'patch windlass.dev/workflowexecutions/status in here', false],
    [clusterNames.operator, 'create ./pods in here', false],
    [clusterNames.operator, 'get ./secrets in here', false],
    [clusterNames.operator, 'get windlass.dev/fleetruns in here', true],
    [clusterNames.operator, 'create windlass.dev/fleetruns in here', false],
    [clusterNames.operator, 'patch windlass.dev/edgegroups in here', false],
    [clusterNames.operator, 'patch windlass.dev/edgehosts in here', false],
    [clusterNames.edgeOperator, 'create windlass.dev/fleetruns in here', true],
    [clusterNames.edgeOperator, 'patch windlass.dev/edgegroups in here', true],
    [clusterNames.edgeOperator, 'create windlass.dev/workflows in here', false],
  ])('%s: %s → %s', async (role, access, want) => {
    const { rules } = find<Role>(objects, 'ClusterRole', role);
    const { verb, group = '', resource, subresource } = accessOf(access);
    const asked = subresource === undefined ? resource : `${resource}/${subresource}`;
    const allows = (rule: PolicyRule): boolean =>
      rule.apiGroups.includes(group) && rule.resources.includes(asked) && rule.verbs.includes(verb);
    expect(rules.some(allows)).toBe(want);
  });

  it.each(['workflows', 'agents', 'apispecs', 'toolworkflows', 'clitools', 'securitycontexts'])(
    'lets all authenticated users read the %s of the global namespace, and none write them',
    async (resource) => {
      const access: Access = { verb: 'get', group: 'windlass.dev', resource, namespace: 'windlass-global' };
      expect(await may(kube, 'kim', access)).toBe(true);
      expect(await may(kube, 'kim', { ...access, verb: 'create' })).toBe(false);
      expect(await may(kube, 'kim', { ...access, namespace: tenant })).toBe(false);
      expect(await may(kube, 'kim', { ...access, group: '', resource: 'secrets' })).toBe(false);
    },
  );

  it('runs in namespaces that enforce Pod Security restricted, and its pods pass', async () => {
    for (const name of [namespace, 'windlass-global', tenant]) {
      const { metadata } = await kube.get(namespaces, { name });
      expect(metadata).toMatchObject({ name, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } });
      await expect(kube.create(pods, privileged(name), { dryRun: true })).rejects.toThrow('violates PodSecurity');
    }
    const { template } = find<Deployment>(objects, 'Deployment', clusterNames.controllers).spec;
    const rendered = [template.spec, find<Pod>(objects, 'Pod', 'windlass-test').spec];
    for (const spec of rendered) {
      const pod = {
        metadata: { name: 'security', namespace: foreign },
        spec: { ...spec, serviceAccountName: 'default' },
      };
      await expect(kube.create(pods, pod, { dryRun: true })).resolves.toBeDefined();
    }
    const { securityContext: _, ...insecure } = template.spec;
    const refused = {
      metadata: { name: 'security', namespace: foreign },
      spec: { ...insecure, serviceAccountName: 'default' },
    };
    await expect(kube.create(pods, refused, { dryRun: true })).rejects.toThrow('violates PodSecurity');
  });

  it('labels its own namespace, which Helm makes without labels: an upgrade brings them back, restarts no pod and keeps the password', async () => {
    const uids = async (): Promise<unknown> => {
      const running = await Promise.all(['controllers', 'api', 'nats'].map((component) => podsOf(kube, component)));
      return new Set(running.flat().map(({ metadata }) => metadata.uid));
    };
    const [before, { password }] = [await uids(), await installedNats(kube)];
    const [enforce, slug] = ['pod-security.kubernetes.io/enforce', labels.tenant];
    const bare = { metadata: { labels: { [enforce]: null, [slug]: null } } };
    await kube.mergePatch(namespaces, { name: namespace }, bare);
    // Admission reads namespaces from a cache.
    const answer = () => kube.create(pods, privileged(namespace), { dryRun: true }).then(() => 'taken', messageOf);
    await expect.poll(answer, { timeout: 30_000 }).toBe('taken');
    await install();
    expect(await uids()).toEqual(before);
    expect((await installedNats(kube)).password).toBe(password);
    const { metadata } = await kube.get(namespaces, { name: namespace });
    expect(metadata.labels).toMatchObject({ [enforce]: 'restricted', [slug]: 'system' });
    await expect.poll(answer, { timeout: 30_000 }).toContain('violates PodSecurity');
    // Helm deletes the pod of its hook in the background.
    const labelSelector = 'app.kubernetes.io/component=namespace-labels';
    await waitForNone(kube, { resource: pods, namespace, labelSelector }, { timeoutMs: 60_000 });
  });

  it('has two replicas that are ready, of which one holds the Lease', async () => {
    const running = await podsOf(kube, 'controllers');
    expect(running.map((pod) => pod.status?.containerStatuses?.[0]?.ready)).toEqual([true, true]);
    // After a rollout the old leader hands over within moments.
    await waitForObject(
      kube,
      { resource: leases, namespace, name: clusterNames.controllers },
      ({ spec }) => running.some((pod) => spec?.holderIdentity?.startsWith(`${pod.metadata.name}-`)),
      { timeoutMs: 30_000, what: 'a leader among the replicas' },
    );
  });

  it('upgrades the kinds with the release', async () => {
    const copy = await mkdtemp(join(tmpdir(), 'windlass-chart-'));
    const shortNames = async (): Promise<unknown> => {
      const { spec } = await kube.get(customResourceDefinitions, { name: 'volumes.windlass.dev' });
      return (spec as { names: { shortNames: string[] } }).names.shortNames;
    };
    const before = await shortNames();
    try {
      await cp(chart, copy, { recursive: true });
      const file = join(copy, 'generated/crds/volumes.yaml');
      const crd = parse(await readFile(file, 'utf8')) as { spec: { names: { shortNames: string[] } } };
      crd.spec.names.shortNames.push('newname');
      await writeFile(file, JSON.stringify(crd));
      await upgrade(copy);
      expect(await shortNames()).toContain('newname');
    } finally {
      await upgrade(chart);
      await rm(copy, { recursive: true });
    }
    expect(await shortNames()).toEqual(before);
  });

  it('says so when an execution is in a namespace that is no tenant, and makes no pod there', async () => {
    const metadata = { name: 'one', namespace: foreign };
    await ensureWorkflow(kube, {
      apiVersion: 'windlass.dev/v1',
      kind: 'Workflow',
      metadata,
      spec: {
        version: '1.0.0',
        initial_state: 'step',
        states: {
          step: { kind: 'ContainerRun', image: 'docker.io/library/busybox:1.36', command: ['true'], transitions: [] },
        },
      },
    });
    await startExecution(kube, metadata, { workflow: 'one' });
    const router = await waitForObject(
      kube,
      { resource: workflowExecutions, ...metadata },
      ({ status }) => status?.conditions?.some((condition) => /tenant/.test(condition.message)) ?? false,
      { timeoutMs: 30_000, what: 'a condition that names the missing tenant' },
    );
    expect(router.status?.conditions?.[0]?.message).toContain(foreign);
    expect((await kube.listAll(pods, { namespace: foreign })).items).toEqual([]);
  });
});
