import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { kinds } from '../../crds/kinds.ts';
import { AppError } from '../errors.ts';
import type { KubeObject, NetworkPolicy, ResourceQuota, RoleBinding } from '../kube/index.ts';
import { parseTenantSlug, tenantNamespace } from './names.ts';
import type { Egress } from './network-policies.ts';
import { defaultQuota, tenantManifests } from './tenant-manifests.ts';

function one<T extends KubeObject>(objects: readonly KubeObject[], kind: string, name: string): T {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  if (found.length !== 1) throw new Error(`${found.length} objects ${kind}/${name}`);
  return found[0] as T;
}

/** Objects that a quota lets be there at once; `pods` are among `count/pods`, and ports are no objects. */
const objectsIn = (quota: Readonly<Record<string, string>>): number =>
  Object.entries(quota)
    .filter(([name]) => name.startsWith('count/') || name === 'persistentvolumeclaims')
    .reduce((sum, [, count]) => sum + Number(count), 0);
/** The most that etcd takes of one. */
const mebibytesIn = (quota: Readonly<Record<string, string>>): number => 1.5 * objectsIn(quota);

const words = (names: string, before: string, after = ''): string[] =>
  names.split(' ').map((name) => `${before}${name}${after}`);

describe('the slug of a tenant', () => {
  it.each(['a', 'a-1', '9', 'x'.repeat(55), 'x'.repeat(56)])('%j is accepted', (slug) => {
    expect(parseTenantSlug(slug)).toBe(slug);
  });

  it.each(['x'.repeat(57), '', '-a', 'a-', 'A', 'a.b', 'a_b', 'a\n'])('%j is refused', (slug) => {
    expect(() => parseTenantSlug(slug)).toThrow(AppError);
  });

  it('makes a namespace that can be none of the cluster', () => {
    expect(tenantNamespace('kube-system')).toBe('tenant-kube-system');
    expect(() => tenantNamespace('KUBE')).toThrow(/1 to 56 of a-z/);
  });
});

describe('the objects of a tenant', () => {
  it('begin with a namespace that carries the slug and enforces Pod Security restricted', () => {
    const [first] = tenantManifests({ slug: 'acme' });
    expect(first).toMatchObject({
      kind: 'Namespace',
      metadata: {
        name: 'tenant-acme',
        labels: {
          'windlass.dev/tenant': 'acme',
          'pod-security.kubernetes.io/enforce': 'restricted',
          'pod-security.kubernetes.io/warn': 'restricted',
        },
      },
    });
  });

  it('are in the requested namespace', () => {
    const [namespace, ...rest] = tenantManifests({ slug: 'acme', namespace: 'team-a' });
    expect(namespace?.metadata.name).toBe('team-a');
    expect(namespace?.metadata.labels?.['windlass.dev/tenant']).toBe('acme');
    expect(rest.map((object) => object.metadata.namespace)).toEqual(rest.map(() => 'team-a'));
  });

  it('bind the controllers, the API, the gateway and the relay of the release to a role each, and to nothing else', () => {
    const bindings = tenantManifests({ slug: 'acme', releaseNamespace: 'ops' }).filter(
      (object) => object.kind === 'RoleBinding',
    ) as RoleBinding[];
    expect(bindings.map(({ roleRef, subjects }) => [roleRef.kind, roleRef.name, subjects])).toEqual([
      [
        'ClusterRole',
        'windlass-tenant-controller',
        [{ kind: 'ServiceAccount', name: 'windlass-controllers', namespace: 'ops' }],
      ],
      ['ClusterRole', 'windlass-tenant-api', [{ kind: 'ServiceAccount', name: 'windlass-api', namespace: 'ops' }]],
      [
        'ClusterRole',
        'windlass-tenant-gateway',
        [{ kind: 'ServiceAccount', name: 'windlass-gateway', namespace: 'ops' }],
      ],
      ['ClusterRole', 'windlass-tenant-relay', [{ kind: 'ServiceAccount', name: 'windlass-relay', namespace: 'ops' }]],
    ]);
  });

  it('bind people to the roles they are given', () => {
    const objects = tenantManifests({
      slug: 'acme',
      viewers: [{ kind: 'Group', name: 'auditors' }],
      operators: [
        { kind: 'User', name: 'kim' },
        { kind: 'ServiceAccount', name: 'ci', namespace: 'build' },
      ],
    });
    expect(one<RoleBinding>(objects, 'RoleBinding', 'windlass-viewer').subjects).toEqual([
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'auditors' },
    ]);
    expect(one<RoleBinding>(objects, 'RoleBinding', 'windlass-operator').subjects).toEqual([
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'kim' },
      { kind: 'ServiceAccount', name: 'ci', namespace: 'build' },
    ]);
  });

  it('bound pods, claims and objects of ours by default, what is asked for otherwise, and nothing for an empty quota', () => {
    const hard = (objects: KubeObject[]): unknown =>
      one<ResourceQuota>(objects, 'ResourceQuota', 'windlass').spec?.hard;
    expect(hard(tenantManifests({ slug: 'acme' }))).toEqual(defaultQuota);
    expect(hard(tenantManifests({ slug: 'acme', quota: { pods: '3' } }))).toEqual({ pods: '3' });
    expect(tenantManifests({ slug: 'acme', quota: {} }).map((object) => object.kind)).not.toContain('ResourceQuota');
  });

  it('bound every kind of ours, every kind that the ClusterRole edit may create, and the ports of nodes', () => {
    const counted = Object.keys(defaultQuota);
    const ours = kinds.map(({ plural }) => `count/${plural}.windlass.dev`);
    // `pods` leaves out those that have ended; Kubernetes counts no events.
    const core = [
      'pods',
      'persistentvolumeclaims',
      ...words('pods configmaps secrets services serviceaccounts', 'count/'),
    ];
    const others = [
      'count/replicationcontrollers',
      ...words('deployments replicasets statefulsets daemonsets controllerrevisions', 'count/', '.apps'),
      ...words('jobs cronjobs', 'count/', '.batch'),
      'count/horizontalpodautoscalers.autoscaling',
      'count/poddisruptionbudgets.policy',
      ...words('ingresses networkpolicies', 'count/', '.networking.k8s.io'),
      'count/leases.coordination.k8s.io',
      ...words('nodeports loadbalancers', 'services.'),
    ];
    expect(counted.toSorted()).toEqual([...ours, ...core, ...others].toSorted());
    // Each execution of an agent whose context lists networks has a policy.
    expect(defaultQuota['count/networkpolicies.networking.k8s.io']).toBe(
      defaultQuota['count/agentexecutions.windlass.dev'],
    );
  });

  it('can be given a quota that keeps all of it below 1 GiB of etcd, of every kind that the default one counts', () => {
    const page = readFileSync(resolve(import.meta.dirname, '../../docs/operating.md'), 'utf8');
    const quota = parse(/```yaml quota-of-1-gib\n([^`]+)```/.exec(page)?.[1] ?? '') as Record<string, string>;
    expect(Object.keys(quota).toSorted()).toEqual(Object.keys(defaultQuota).toSorted());
    expect(mebibytesIn(quota)).toBeLessThan(1_024);
    expect(page).toContain(`${Math.round(mebibytesIn(defaultQuota) / 1_024)} GiB of them`);
    expect(page).toContain(`lets ${Math.round(objectsIn(defaultQuota) / 1_000)},000 objects`);
  });

  it('deny all traffic of all pods, then let pods of steps out', () => {
    const objects = tenantManifests({ slug: 'acme' });
    expect(one<NetworkPolicy>(objects, 'NetworkPolicy', 'windlass-default-deny').spec).toEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    });
    expect(one<NetworkPolicy>(objects, 'NetworkPolicy', 'windlass-steps').spec?.podSelector).toEqual({
      matchExpressions: [{ key: 'windlass.dev/execution', operator: 'Exists' }],
    });
  });

  it.each<Egress>(['dns', 'internet', 'open'])(
    'design §12 let pods of agents reach names and the API of the release alone, where egress is %s',
    (egress) => {
      const objects = tenantManifests({ slug: 'acme', egress, releaseNamespace: 'ops' });
      const { spec } = one<NetworkPolicy>(objects, 'NetworkPolicy', 'windlass-agents');
      expect(spec?.podSelector).toEqual({
        matchExpressions: [{ key: 'windlass.dev/agent-execution', operator: 'Exists' }],
      });
      const [dns, api, ...others] = (spec?.egress ?? []).map((rule) => JSON.stringify(rule));
      expect([dns?.includes('"port":53'), api?.includes('"port":8081'), api?.includes('"ops"'), others]).toEqual([
        true,
        true,
        true,
        [],
      ]);
    },
  );

  it('design §12 hold the account of agents, which nothing is bound to', () => {
    const objects = tenantManifests({ slug: 'acme' });
    expect(one(objects, 'ServiceAccount', 'windlass-agent')).toMatchObject({ automountServiceAccountToken: false });
    const bound = objects.filter(({ kind }) => kind === 'RoleBinding');
    expect(JSON.stringify(bound)).not.toContain('windlass-agent');
  });

  it.each<[Egress, { dns: boolean; internet: boolean; everything: boolean }]>([
    ['dns', { dns: true, internet: false, everything: false }],
    ['internet', { dns: true, internet: true, everything: false }],
    ['open', { dns: false, internet: false, everything: true }],
  ])('egress %s lets out %o', (egress, want) => {
    const spec = one<NetworkPolicy>(tenantManifests({ slug: 'acme', egress }), 'NetworkPolicy', 'windlass-steps').spec;
    const text = (spec?.egress ?? []).map((rule) => JSON.stringify(rule));
    expect({
      dns: text.some((rule) => rule.includes('kube-dns') && rule.includes('"port":53')),
      internet: text.some((rule) => rule.includes('0.0.0.0/0') && rule.includes('169.254.0.0/16')),
      everything: text.includes('{}'),
    }).toEqual(want);
  });

  it('internet is what the internet is for everybody: no range of a cluster, no metadata service', () => {
    const spec = one<NetworkPolicy>(tenantManifests({ slug: 'acme' }), 'NetworkPolicy', 'windlass-steps').spec;
    const block = new BlockList();
    for (const rule of (spec?.egress ?? []) as { to: { ipBlock?: { except?: string[] } }[] }[]) {
      for (const range of rule.to.flatMap(({ ipBlock }) => ipBlock?.except ?? [])) {
        const [address = '', prefix] = range.split('/');
        block.addSubnet(address, Number(prefix), address.includes(':') ? 'ipv6' : 'ipv4');
      }
    }
    const isPublic = (address: string): boolean => !block.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
    expect(
      [
        '1.1.1.1',
        '100.63.255.255',
        '100.128.0.0',
        '168.63.129.17',
        '198.20.0.0',
        '2606:4700::1',
        '64:ff9a::1',
        '64:ff9b:2::1',
      ].filter(isPublic),
    ).toHaveLength(8);
    expect(
      [
        '10.0.0.1',
        '100.100.100.200',
        '168.63.129.16',
        '169.254.169.254',
        '172.31.255.255',
        '192.0.0.192',
        '198.19.255.255',
        '240.0.0.1',
        '255.255.255.255',
        'fd00:ec2::254',
        '64:ff9b::10.0.0.1',
        '64:ff9b::a9fe:a9fe',
        '64:ff9b:1:ffff::1',
        'ff02::1',
      ].filter(isPublic),
    ).toEqual([]);
  });

  it('dns is that of the cluster alone, wherever it answers', () => {
    const objects = tenantManifests({ slug: 'acme', egress: 'dns' });
    const [rule] = (one<NetworkPolicy>(objects, 'NetworkPolicy', 'windlass-steps').spec?.egress ?? []) as {
      to: unknown[];
      ports: unknown;
    }[];
    expect(rule?.ports).toEqual([
      { protocol: 'UDP', port: 53 },
      { protocol: 'TCP', port: 53 },
    ]);
    expect(rule?.to).toEqual([
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
        podSelector: {
          matchExpressions: [{ key: 'k8s-app', operator: 'In', values: ['kube-dns', 'node-local-dns'] }],
        },
      },
      { ipBlock: { cidr: '169.254.20.10/32' } },
      { ipBlock: { cidr: '169.254.169.254/32' } },
    ]);
  });

  it('are the same each time', () => {
    expect(tenantManifests({ slug: 'acme' })).toEqual(tenantManifests({ slug: 'acme' }));
  });
});
