import type { EdgeHost } from '../../../../crds/schema/edge-host.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { Heartbeats, RecentCommands } from '../../../../lib/edge/index.ts';
import { AppError } from '../../../../lib/errors.ts';
import { nodeIdOfHost, stateOfHost } from '../../../../lib/fleet/fleet-host.ts';
import { presentHost } from './present.ts';
import type { EdgeHostView } from '../schema.ts';

export interface RecentDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly recent: Pick<RecentCommands, 'of'>;
  readonly heartbeats: Heartbeats;
}

/** A host with its last commands. They are in the bus: while it is away there are none, and the host is shown. */
export async function viewOf(
  { clock, recent, heartbeats }: RecentDeps,
  tenant: string,
  host: EdgeHost,
): Promise<EdgeHostView> {
  const [commands, heard] = await Promise.all([
    recent.of(tenant, nodeIdOfHost(host)).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'unavailable') return [];
      throw error;
    }),
    heardOf(heartbeats, [host]),
  ]);
  return presentHost(tenant, host, {
    heard: heard.get(host.metadata.uid ?? ''),
    now: clock.now(),
    recent: commands,
  });
}

/** When the hosts that hold a stream were heard last, by uid. */
export const heardOf = (heartbeats: Heartbeats, hosts: readonly EdgeHost[]): ReturnType<Heartbeats['last']> =>
  heartbeats.last(hosts.filter(isOpen).map(({ metadata }) => metadata.uid ?? ''));

const isOpen = (host: EdgeHost): boolean => ['Connected', 'Unhealthy'].includes(stateOfHost(host));
