import type { EdgeHost } from '../../../../crds/schema/edge-host.ts';
import type { RecentCommands } from '../../../../lib/edge/index.ts';
import { AppError } from '../../../../lib/errors.ts';
import { nodeIdOfHost } from '../../../../lib/fleet/fleet-host.ts';
import { presentHost } from './present.ts';
import type { EdgeHostView } from '../schema.ts';

export interface RecentDeps {
  readonly recent: Pick<RecentCommands, 'of'>;
}

/** A host with its last commands. They are in the bus: while it is away there are none, and the host is shown. */
export async function viewOf({ recent }: RecentDeps, tenant: string, host: EdgeHost): Promise<EdgeHostView> {
  const commands = await recent.of(tenant, nodeIdOfHost(host)).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'unavailable') return [];
    throw error;
  });
  return presentHost(tenant, host, commands);
}
