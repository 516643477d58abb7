import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import { isUid } from '../../../../crds/uid.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import { notFound } from '../../not-found.ts';
import { unknownRun } from '../errors.ts';

/** A run of the caller's tenant by its id. @throws HttpError 404, the same for one of another tenant. */
export async function locateRun(
  runs: Pick<Cluster['fleetRuns'], 'locate'>,
  { tenant }: Pick<Caller, 'tenant'>,
  id: string,
): Promise<FleetRun> {
  const uid = id.toLowerCase();
  const found = isUid(uid) ? await runs.locate(tenant, uid) : undefined;
  if (found === undefined) throw notFound(unknownRun);
  return found;
}
