import { describe, expect, it } from 'vitest';
import { annotations } from '../../crds/labels.ts';
import { createCache } from '../informer/index.ts';
import type { Namespace } from '../kube/index.ts';
import {
  assignedClaims,
  createTenantDirectory,
  type TenantIndex,
  tenantIndex,
  tenantOfRead,
} from './tenant-directory.ts';

const namespace = (name: string, slug: string, age = '2026-01-01T00:00:00Z'): Namespace => ({
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: age, labels: { 'windlass.dev/tenant': slug } },
});

function cacheOf(...objects: Namespace[]) {
  const cache = createCache<Namespace, TenantIndex>({
    indexes: { tenant: tenantIndex, assigned: assignedClaims },
  });
  for (const object of objects) cache.apply({ type: 'ADDED', object });
  return { namespaces: cache, systemTenant: 'system', systemNamespace: 'windlass-system' };
}

const directory = (...objects: Namespace[]) => createTenantDirectory(cacheOf(...objects));

describe('the namespace of a tenant', () => {
  const tenants = directory(namespace('tenant-acme', 'acme'), namespace('team-b', 'b'));

  it.each([
    ['acme', 'tenant-acme'],
    ['b', 'team-b'],
    ['unknown', undefined],
    ['tenant-acme', undefined],
    ['', undefined],
    ['__proto__', undefined],
    ['system', 'windlass-system'],
  ])('AMB-025 of %s is %s', (slug, want) => {
    expect(tenants.namespaceOf(slug)).toBe(want);
  });

  it.each([
    ['tenant-acme', 'acme'],
    ['windlass-system', 'system'],
    ['windlass-global', undefined],
    ['kube-system', undefined],
  ])('%s belongs to %s', (name, want) => {
    expect(tenants.tenantOf(name)).toBe(want);
  });

  it('is the oldest that carries its label, so that a label takes no tenant over', () => {
    const twice = directory(
      namespace('newer', 'acme', '2026-02-01T00:00:00Z'),
      namespace('older', 'acme'),
      namespace('of-the-same-second', 'acme'),
    );
    expect(twice.namespaceOf('acme')).toBe('of-the-same-second');
    expect(twice.tenantOf('older')).toBeUndefined();
    expect(twice.tenantOf('of-the-same-second')).toBe('acme');
  });

  it('is never the global one nor that of the system, whatever its label', () => {
    const odd = directory(namespace('windlass-global', 'acme'), namespace('windlass-system', 'acme'));
    expect(odd.namespaceOf('acme')).toBeUndefined();
    expect(odd.tenantOf('windlass-global')).toBeUndefined();
    expect(odd.tenantOf('windlass-system')).toBe('system');
  });
});

describe('the namespace that a source is assigned to', () => {
  const assigned = (name: string, sources: string, age?: string): Namespace => {
    const made = namespace(name, name, age);
    return { metadata: { ...made.metadata, annotations: { [annotations.webhookSources]: sources } } };
  };
  const tenants = directory(
    assigned('tenant-young', 'github,my.ci', '2026-02-01T00:00:00Z'),
    assigned('tenant-old', ' github , HTTP_API,,gitlab'),
  );

  it.each([
    ['github', 'tenant-old'],
    ['gitlab', 'tenant-old'],
    ['my.ci', 'tenant-young'],
    ['my-ci', 'tenant-young'],
    ['unknown', undefined],
    ['HTTP_API', undefined],
    ['', undefined],
  ])('of %j is %s', (source, want) => {
    expect(tenants.assigneeOf(source)).toBe(want);
  });
});

describe('the tenant of a namespace that was read, of which the cache is behind', () => {
  const acme = namespace('tenant-acme', 'acme');
  const { labels: _, ...unlabelled } = acme.metadata;
  const newer = namespace('other', 'acme', '2026-02-01T00:00:00Z');
  const older = namespace('other', 'acme', '2025-01-01T00:00:00Z');
  const system = namespace('windlass-system', 'x');
  const globals = namespace('windlass-global', 'acme');

  it.each<[string, Namespace[], string, Namespace | undefined, string | undefined]>([
    ['that of its label, which the cache lacks', [], 'tenant-acme', acme, 'acme'],
    [
      'that of its label, which it had before under another slug',
      [namespace('tenant-acme', 'b')],
      'tenant-acme',
      acme,
      'acme',
    ],
    ['none without the label that the cache has', [acme], 'tenant-acme', { metadata: unlabelled }, undefined],
    ['none where it is gone', [acme], 'tenant-acme', undefined, undefined],
    ['that of its label beside a newer one', [newer], 'tenant-acme', acme, 'acme'],
    ['none beside an older one', [older], 'tenant-acme', acme, undefined],
    ['the system tenant for the namespace of the release', [], 'windlass-system', system, 'system'],
    ['none for the global namespace', [], 'windlass-global', globals, undefined],
  ])('D8 AMB-025 is %s', (_title, cached, ...[name, read, want]) => {
    expect(tenantOfRead(cacheOf(...cached), name, read)).toBe(want);
  });
});
