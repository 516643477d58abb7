import { labelNamePattern } from '../../crds/label-name.ts';
import { apiVersion } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { AuditTrail } from '../../lib/bus/index.ts';
import { AppError } from '../../lib/errors.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { volumes } from '../../lib/kinds.ts';
import {
  isAlreadyExists,
  type KubeClient,
  listPages,
  type ResourceQuota,
  resourceQuotas,
} from '../../lib/kube/index.ts';
import { quantityValue } from '../../lib/quantity.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { ToolArguments, ToolCaller } from '../../lib/tools/tool.ts';
import { presentVolume } from '../routes/volumes/present.ts';
import { writeRefusal } from '../routes/write-refusal.ts';
import { type Give, invalid, textArgument } from './give.ts';

export interface VolumeToolsDeps {
  readonly kube: Pick<KubeClient, 'create' | 'list'>;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
  readonly audit: AuditTrail;
}

/** Tools about volumes that no operation of the HTTP API has (requirements AMB-188, AMB-194). */
export function volumeTools(deps: VolumeToolsDeps): Record<string, Give> {
  return { 'svc.volume.create': creates(deps), 'svc.volume.quota': tellsQuota(deps) };
}

const mebibyte = 1_048_576;
const nameOf = new RegExp(labelNamePattern, 'u');

function creates({ kube, tenants, audit }: VolumeToolsDeps): Give {
  return async (caller, args) => {
    const namespace = namespaceOf(tenants, caller);
    const volume = volumeOf(args, namespace);
    const made = await kube.create(volumes, volume).catch((error: unknown) => {
      throw asRefusal(error, volume.metadata.name);
    });
    const { name, uid = '' } = made.metadata;
    audit.record({ type: 'VolumeCreated', by: caller, subject: uid, act: 'create', data: { volume: name } });
    return presentVolume(made);
  };
}

/** The label of what a tool makes, which becomes the name of an object. @throws AppError that names the rule. */
export function volumeName(args: ToolArguments): string {
  const name = textArgument(args, 'label');
  if (name.length <= limits.nameLength && nameOf.test(name)) return name;
  throw invalid(`label must have 1 to ${limits.nameLength} small letters, digits and dashes, as build-cache`);
}

/** A size that is no whole number of MiB is rounded up. */
function volumeOf(args: ToolArguments, namespace: string): Volume {
  const name = volumeName(args);
  const size = Math.ceil(Number(args['size_limit_bytes']) / mebibyte);
  if (size > limits.volumeSizeMb) throw invalid(`size_limit_bytes must be at most ${limits.volumeSizeMb * mebibyte}`);
  return {
    apiVersion,
    kind: 'Volume',
    metadata: { name, namespace },
    spec: { storage_class: 'persistent', size_limit_mb: size },
  };
}

function asRefusal(error: unknown, name: string): unknown {
  if (isAlreadyExists(error))
    return new HttpError({
      code: 'conflict',
      message: `name: there is a volume ${name} already; choose another name`,
      cause: error,
    });
  const tooLarge = (cause: unknown) =>
    new HttpError({
      code: 'limit_exceeded',
      message: 'the volume is larger than Kubernetes takes; shorten its texts',
      cause,
    });
  return writeRefusal(error, tooLarge) ?? error;
}

export function namespaceOf(tenants: Pick<TenantDirectory, 'namespaceOf'>, { tenant }: ToolCaller): string {
  const namespace = tenants.namespaceOf(tenant);
  if (namespace !== undefined) return namespace;
  throw new AppError('not_found', 'the tenant has no namespace; an operator makes one', { reason: 'NOT_FOUND' });
}

/** Storage entries of a ResourceQuota; quotas of one StorageClass have names of their own. */
const isStorage = (name: string): boolean =>
  name === 'count/volumes.windlass.dev' ||
  name === 'persistentvolumeclaims' ||
  name === 'requests.storage' ||
  name.endsWith('.storageclass.storage.k8s.io/requests.storage');

/** The storage that the tenant's volumes request, and each bound that the quotas of its namespace set. */
function tellsQuota({ kube, tenants }: VolumeToolsDeps): Give {
  return async (caller) => {
    const namespace = namespaceOf(tenants, caller);
    let count = 0;
    let sizeMb = 0;
    for await (const { items } of listPages((paged) => kube.list(volumes, paged), { namespace })) {
      count += items.length;
      for (const { spec } of items) sizeMb += spec.size_limit_mb ?? 0;
    }
    const bounds = [];
    for await (const { items } of listPages((paged) => kube.list(resourceQuotas, paged), { namespace })) {
      for (const { status = {} } of items) bounds.push(...boundsOf(status));
    }
    return { volumes: count, size_limit_bytes: sizeMb * mebibyte, bounds };
  };
}

type Counted = NonNullable<ResourceQuota['status']>;

/** Amounts in bytes or pieces; null: not counted yet. */
function boundsOf({ hard = {}, used = {} }: Counted) {
  return Object.entries(hard)
    .filter(([resource]) => isStorage(resource))
    .map(([resource, most]) => ({
      resource,
      hard: quantityValue(most) ?? null,
      used: quantityValue(used[resource] ?? '') ?? null,
    }));
}
