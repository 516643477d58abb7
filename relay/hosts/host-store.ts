import type { EdgeHost, EdgeHostStatus } from '../../crds/schema/edge-host.ts';
import { AppError } from '../../lib/errors.ts';
import { firstAnswer } from '../../lib/retry.ts';

/** A host as it is stored, with the tenant that its namespace belongs to. */
export interface StoredHost {
  readonly tenant: string;
  readonly object: EdgeHost;
}

/** Fields of a new host. */
export interface NewHost {
  readonly tenant: string;
  readonly nodeId: string;
  readonly name: string | undefined;
  readonly enrolledBy: string;
}

/** The EdgeHosts of all tenants. Calls throw AppError `unavailable` where the server cannot be asked. */
export interface HostStore {
  /** As the server has it now; undefined where the tenant has no such host. One whose tenant is not known here is `unavailable`. */
  find(tenant: string, nodeId: string): Promise<StoredHost | undefined>;
  /** All of a tenant as the server has them now, in pages. */
  pagesOf(tenant: string): AsyncIterable<readonly StoredHost[]>;
  /** The same as `find` from memory, which may be behind; undefined also where it is not known yet. */
  cached(tenant: string, nodeId: string): StoredHost | undefined;
  /** Makes it, or finds the one that is there. Throws AppError `not_found` for a tenant that is not set up. */
  create(host: NewHost): Promise<StoredHost>;
  /** Replaces the status of the version that was read; undefined where another one wrote first. */
  write(host: StoredHost, status: EdgeHostStatus): Promise<StoredHost | undefined>;
  /** Deletes a host that was never bound to a key, in the version that was read; false where another one wrote first. */
  discard(host: StoredHost): Promise<boolean>;
  /** All that are known, from memory. */
  known(): Iterable<StoredHost>;
  /** Called for every change; `after` is undefined for a host that is gone. */
  onChange(handler: (uid: string, after: StoredHost | undefined) => void): void;
}

export const isRevoked = ({ object }: StoredHost): boolean =>
  object.spec.revoked === true ||
  object.status?.status === 'Revoked' ||
  object.metadata.deletionTimestamp !== undefined;

/** The key before the last rotation, for as long as it counts beside the current one. */
export function keyBefore(
  { previous, previous_until: until = '' }: EdgeHostStatus['keys'],
  now: number,
): string | undefined {
  return now < Date.parse(until) ? previous : undefined;
}

/** Whether an operator has revoked the host and no relay has written so yet. */
export const isRevocationUnwritten = ({ object }: StoredHost): boolean =>
  object.spec.revoked === true && object.status !== undefined && object.status.status !== 'Revoked';

/**
 * Changes the status of a host as long as others write in between. `change` answers undefined where nothing is to be
 * written any more. `known` is the host where it has just been read: the server is asked only after another writer was first.
 * @throws AppError `conflict` where others were always first.
 */
export async function changeStatus(
  hosts: HostStore,
  { tenant, nodeId }: { readonly tenant: string; readonly nodeId: string },
  change: (host: StoredHost) => EdgeHostStatus | undefined,
  known?: StoredHost,
): Promise<void> {
  const isDone = await firstAnswer(attemptsMax, async (attempt) => {
    const host = attempt === 1 && known !== undefined ? known : await hosts.find(tenant, nodeId);
    const status = host === undefined ? undefined : change(host);
    if (host === undefined || status === undefined) return true;
    return (await hosts.write(host, status)) === undefined ? undefined : true;
  });
  if (isDone) return;
  throw new AppError('conflict', `others changed the host at ${attemptsMax} attempts to write it`);
}

const attemptsMax = 8;
