import { describe, expect, it } from 'vitest';
import type { Volume } from '../../crds/schema/volume.ts';
import { limits } from '../../crds/limits.ts';
import { KubeError, type KubeObject, type Resource } from '../../lib/kube/index.ts';
import type { ServiceToolsDeps } from './service-tools.ts';
import { createServiceToolsWorld, type ServiceToolsWorld } from '../../test/support/service-tools.ts';

const mib = 1_048_576;
const most = limits.volumeSizeMb * mib;
const volume = (size: number | undefined): Volume => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'Volume',
  metadata: { name: 'v', namespace: 'tenant-acme' },
  spec: { storage_class: 'persistent', ...(size === undefined ? {} : { size_limit_mb: size }) },
});

let world: ServiceToolsWorld;

/** A server that takes every volume, or refuses it. */
function open(refusal?: KubeError) {
  const made: KubeObject[] = [];
  const lists: Readonly<Record<string, readonly object[]>> = {
    volumes: [volume(5), volume(undefined)],
    resourcequotas: [
      {
        status: {
          hard: { pods: '5', persistentvolumeclaims: '200', 'requests.storage': '1Gi' },
          used: { pods: '1', persistentvolumeclaims: '3' },
        },
      },
    ],
  };
  const kube = {
    create: async (_resource: unknown, object: KubeObject) => {
      if (refusal !== undefined) throw refusal;
      made.push(object);
      return { ...object, metadata: { ...object.metadata, uid: 'u-1' } };
    },
    list: async ({ plural }: Resource<KubeObject>, { namespace = '' }) => ({
      metadata: {},
      items: namespace === 'tenant-acme' ? lists[plural] : [],
    }),
  } as unknown as ServiceToolsDeps['kube'];
  world = createServiceToolsWorld({ kube });
  return made;
}

describe('svc.volume.create', () => {
  it.each([
    [1, 1],
    [mib - 1, 1],
    [mib, 1],
    [mib + 1, 2],
    [most, limits.volumeSizeMb],
  ])('TOOL-020 of %i bytes makes a persistent volume of %i MiB', async (bytes, size_limit_mb) => {
    const made = open();
    const value = await world.valueOf('svc.volume.create', { label: 'cache', size_limit_bytes: bytes });
    expect(value).toMatchObject({ volume_id: 'u-1', name: 'cache', size_limit_mb, phase: 'pending' });
    expect(made).toMatchObject([
      { metadata: { name: 'cache', namespace: 'tenant-acme' }, spec: { storage_class: 'persistent', size_limit_mb } },
    ]);
    expect(world.audited).toMatchObject([{ type: 'VolumeCreated', subject: 'u-1' }]);
  });

  it.each([
    [{ label: 'cache', size_limit_bytes: most + 1 }, /^INVALID_ARGUMENT: size_limit_bytes must be at most/],
    [{ label: 'Cache', size_limit_bytes: 1 }, /^INVALID_ARGUMENT: label must have/],
    [{ label: 'a/b', size_limit_bytes: 1 }, /^INVALID_ARGUMENT: label must have/],
    [{ label: 'x'.repeat(limits.nameLength + 1), size_limit_bytes: 1 }, /^INVALID_ARGUMENT: label must have/],
  ])('TOOL-020 refuses %j', async (args, want) => {
    const made = open();
    const { content, isError } = await world.run('svc.volume.create', args);
    expect([isError, content]).toEqual([true, expect.stringMatching(want)]);
    expect(made).toEqual([]);
  });

  it.each([
    [
      409,
      'AlreadyExists',
      'volumes "cache" already exists',
      'CONFLICT: conflict; name: there is a volume cache already; choose another name',
    ],
    [
      403,
      'Forbidden',
      'exceeded quota: windlass, requested: count/volumes.windlass.dev=1',
      'LIMIT_EXCEEDED: limit_exceeded; exceeded quota: windlass, requested: count/volumes.windlass.dev=1; delete what is no longer needed',
    ],
  ])('TOOL-020 answers what the server refuses with %i', async (status, reason, message, want) => {
    open(new KubeError(status, { reason, message }, { verb: 'create', resource: 'volumes' }));
    const { content } = await world.run('svc.volume.create', { label: 'cache', size_limit_bytes: 1 });
    expect(content.replace('conflict; ', '').replace('limit_exceeded; ', '')).toBe(
      want.replace('conflict; ', '').replace('limit_exceeded; ', ''),
    );
  });

  it('does not explain what our account may not do', async () => {
    open(new KubeError(403, { message: 'cannot create resource' }, { verb: 'create', resource: 'volumes' }));
    await expect(world.run('svc.volume.create', { label: 'cache', size_limit_bytes: 1 })).rejects.toThrow('cannot');
  });
});

describe('svc.volume.quota', () => {
  it('TOOL-075 answers what volumes ask for, and the bounds of storage alone', async () => {
    open();
    expect(await world.valueOf('svc.volume.quota')).toEqual({
      volumes: 2,
      size_limit_bytes: 5 * mib,
      bounds: [
        { resource: 'persistentvolumeclaims', hard: 200, used: 3 },
        { resource: 'requests.storage', hard: 1_073_741_824, used: null },
      ],
    });
  });

  it('TOOL-075 is refused to a tenant without a namespace', async () => {
    open();
    world = createServiceToolsWorld({ tenants: { namespaceOf: () => undefined } });
    expect((await world.run('svc.volume.quota')).content).toMatch(/^NOT_FOUND: the tenant has no namespace/);
  });
});
