import { describe, expect, it } from 'vitest';
import type { Volume } from '../../../crds/schema/volume.ts';
import { createValidator } from '../../../crds/validators.ts';
import type { AuditEntry } from '../../../lib/bus/index.ts';
import type { ListOptions } from '../../../lib/kube/index.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { after } from '../../../test/builders/execution-builder.ts';
import { VolumeView } from './contract.ts';
import { createVolumeRoutes, type VolumeRoutesDeps } from './index.ts';

const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
const aVolume = (index: number, fields: Partial<Volume> = {}): Volume => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'Volume',
  metadata: {
    name: `v${index}`,
    namespace: 'tenant-acme',
    uid: idOf(index),
    creationTimestamp: after(index).replace('.000', ''),
    labels: { 'windlass.dev/execution-uid': idOf(99) },
    annotations: { 'windlass.dev/volume': `my cache.${index}` },
  },
  spec: { storage_class: 'ephemeral', size_limit_mb: 5, expires_at: after(60) },
  status: { phase: 'ready', claim_name: `v${index}` },
  ...fields,
});

/** Answers to callers of tenants, each with volumes of its own, and the deletions and audit records. */
function world(byNamespace: Record<string, Volume[]>) {
  const deleted: string[] = [];
  const audited: AuditEntry[] = [];
  const asked: string[] = [];
  const deps = {
    kube: {
      list: async (
        { metadataOnly = false },
        { namespace = '', answerBytes = Number.POSITIVE_INFINITY }: ListOptions,
      ) => {
        asked.push(`list of ${metadataOnly ? 'metadata' : 'volumes'} in ${answerBytes} bytes`);
        return { metadata: {}, items: byNamespace[namespace] ?? [] };
      },
      get: async (_: unknown, { name, namespace }: { name: string; namespace: string }) => {
        asked.push(`get ${name}`);
        return byNamespace[namespace]?.find(({ metadata }) => metadata.name === name);
      },
      delete: async (_: unknown, { name, namespace }: { name: string; namespace: string }, { uid }: { uid: string }) =>
        void deleted.push(`${namespace}/${name} ${uid}`),
    },
    tenants: { namespaceOf: (tenant: string) => (tenant === 'none' ? undefined : `tenant-${tenant}`) },
    audit: { record: (entry: AuditEntry) => void audited.push(entry) },
  } as unknown as VolumeRoutesDeps;
  const routes = createVolumeRoutes(deps);
  const call = async (index: number, tenant: string, request: object): Promise<unknown> => {
    const caller = { subject: 'ada', tenant };
    try {
      const reply = await routes[index]?.handle({ params: {}, query: {}, ...request, caller } as never);
      return (reply as { value?: unknown } | undefined)?.value;
    } catch (error) {
      return error instanceof HttpError ? error.options.error : error;
    }
  };
  return { call, deleted, audited, asked };
}

const [list, read, remove] = [0, 1, 2] as const;

describe('volumes over HTTP', () => {
  const mine = [aVolume(1), aVolume(2), aVolume(3)];
  const theirs = [aVolume(7)];

  it('AMB-188 are listed in pages, the newest first, in the documented form', async () => {
    const { call } = world({ 'tenant-acme': mine });
    const first = (await call(list, 'acme', { query: { limit: 2 } })) as { volumes: VolumeView[]; next_cursor: string };
    expect(first.volumes.map(({ name }) => name)).toEqual(['v3', 'v2']);
    for (const volume of first.volumes) expect(createValidator(VolumeView)(volume)).toEqual([]);
    const rest = (await call(list, 'acme', { query: { limit: 2, cursor: first.next_cursor } })) as typeof first;
    expect([rest.volumes.map(({ name }) => name), rest.next_cursor]).toEqual([['v1'], null]);
  });

  it.each([idOf(2), 'v2'])('AMB-188 are read by %s', async (volume_id) => {
    const { call } = world({ 'tenant-acme': mine });
    expect(await call(read, 'acme', { params: { volume_id } })).toMatchObject({
      volume_id: idOf(2),
      phase: 'ready',
      execution_id: idOf(99),
      declared_name: 'my cache.2',
    });
  });

  it.each([undefined, '', 'a/b', 'x'.repeat(64)])(
    'AMB-179 one without the name of a workflow has none (%#)',
    async (text) => {
      const volume = aVolume(1);
      const annotations: Record<string, string> = text === undefined ? {} : { 'windlass.dev/volume': text };
      const { call } = world({ 'tenant-acme': [{ ...volume, metadata: { ...volume.metadata, annotations } }] });
      expect(await call(read, 'acme', { params: { volume_id: idOf(1) } })).toMatchObject({ declared_name: null });
    },
  );

  it('AMB-188 WF-STOR-12 are deleted as they were read, with an audit record', async () => {
    const { call, deleted, audited } = world({ 'tenant-acme': mine });
    expect(await call(remove, 'acme', { params: { volume_id: idOf(2) } })).toEqual({ status: 'deleted' });
    expect(deleted).toEqual([`tenant-acme/v2 ${idOf(2)}`]);
    expect(audited).toMatchObject([{ type: 'VolumeDeleted', subject: idOf(2) }]);
  });

  it('AMB-188 are read without the others of the tenant, which may be large, and listed in answers of 4 MiB', async () => {
    const { call, asked } = world({ 'tenant-acme': mine });
    await call(read, 'acme', { params: { volume_id: idOf(2) } });
    await call(list, 'acme', { query: { limit: 2 } });
    expect(asked).toEqual(['list of metadata in 4194304 bytes', 'get v2', 'list of volumes in 4194304 bytes']);
  });

  it.each([
    ['of another tenant', 'acme', idOf(7)],
    ['that never was', 'acme', 'nothing'],
    ['of a tenant without a namespace', 'none', idOf(1)],
  ])('AMB-188 one %s does not exist for the caller', async (_which, tenant, volume_id) => {
    const { call, deleted } = world({ 'tenant-acme': mine, 'tenant-other': theirs });
    for (const route of [read, remove]) {
      expect(await call(route, tenant, { params: { volume_id } })).toBe('Volume not found');
    }
    expect(deleted).toEqual([]);
  });
});
