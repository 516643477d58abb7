import { describe, expect, it } from 'vitest';
import type { KubeObject, NetworkPolicy, ResourceQuota, RoleBinding } from '../kube/index.ts';
import { keptOptions, type TenantFacts } from './kept-options.ts';
import type { Egress } from './network-policies.ts';
import { defaultQuota, type Subject, type TenantOptions, tenantManifests } from './tenant-manifests.ts';

/** Objects of a tenant that was made with these options. */
function madeWith(options: Omit<TenantOptions, 'slug'>): TenantFacts {
  const objects = tenantManifests({ slug: 'acme', ...options });
  const find = <T extends KubeObject>(kind: string, name: string): T | undefined =>
    objects.find((object) => object.kind === kind && object.metadata.name === name) as T | undefined;
  return {
    quota: find<ResourceQuota>('ResourceQuota', 'windlass'),
    steps: find<NetworkPolicy>('NetworkPolicy', 'windlass-steps'),
    controllers: find<RoleBinding>('RoleBinding', 'windlass-controllers'),
    viewer: find<RoleBinding>('RoleBinding', 'windlass-viewer'),
    operator: find<RoleBinding>('RoleBinding', 'windlass-operator'),
  };
}

const kim: Subject = { kind: 'User', name: 'kim' };
const bot: Subject = { kind: 'ServiceAccount', namespace: 'ci', name: 'bot' };
const made = madeWith({
  quota: { pods: '7', 'requests.cpu': '3' },
  egress: 'open',
  viewers: [{ kind: 'Group', name: 'auditors' }],
  operators: [kim, bot],
  releaseNamespace: 'ops',
});

describe('making a tenant again', () => {
  it('without options changes nothing that it has', () => {
    const again = tenantManifests(keptOptions({ slug: 'acme' }, made));
    const before = tenantManifests({
      slug: 'acme',
      quota: { ...defaultQuota, pods: '7', 'requests.cpu': '3' },
      egress: 'open',
      viewers: [{ kind: 'Group', name: 'auditors' }],
      operators: [kim, bot],
      releaseNamespace: 'ops',
    });
    expect(again).toEqual(before);
  });

  it('changes the limit that is named, and keeps the others', () => {
    expect(keptOptions({ slug: 'acme', quota: { pods: '9' } }, made).quota).toEqual({
      ...defaultQuota,
      pods: '9',
      'requests.cpu': '3',
    });
  });

  it('adds a default limit that the tenant lacks', () => {
    expect(keptOptions({ slug: 'acme' }, {}).quota).toEqual(defaultQuota);
    expect(keptOptions({ slug: 'acme', quota: { pods: '1' } }, {}).quota).toEqual({ ...defaultQuota, pods: '1' });
  });

  it.each<Egress>(['dns', 'internet', 'open'])('keeps egress %s, and changes it when it is named', (egress) => {
    const facts = madeWith({ egress });
    expect(keptOptions({ slug: 'acme' }, facts).egress).toBe(egress);
    expect(keptOptions({ slug: 'acme', egress: 'dns' }, facts).egress).toBe('dns');
  });

  it('adds people, once each, and takes none away', () => {
    const lee: Subject = { kind: 'User', name: 'lee' };
    expect(keptOptions({ slug: 'acme', operators: [lee, kim] }, made)).toMatchObject({
      operators: [kim, bot, lee],
      viewers: [{ kind: 'Group', name: 'auditors' }],
    });
  });

  it('moves to another release only when it is named', () => {
    expect(keptOptions({ slug: 'acme' }, made).releaseNamespace).toBe('ops');
    expect(keptOptions({ slug: 'acme', releaseNamespace: 'b' }, made).releaseNamespace).toBe('b');
    expect(keptOptions({ slug: 'acme' }, {}).releaseNamespace).toBe('windlass-system');
  });
});
