import type { EdgeHostState } from '../../crds/schema/edge-host.ts';
import type { EventSink } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { HostStore, StoredHost } from './host-store.ts';

interface AnnounceDeps {
  readonly events: EventSink;
  readonly clock: Pick<Clock, 'now'>;
}

/** Domain events of hosts; those who read events see neither keys nor capabilities. */
const types = {
  Connected: 'EdgeHostConnected',
  Disconnected: 'EdgeHostDisconnected',
  Unhealthy: 'EdgeHostUnhealthy',
  Revoked: 'EdgeHostRevoked',
} as const satisfies Readonly<Record<EdgeHostState, string>>;

/**
 * The same store, which raises an event for each change of a host's state that it has written. Every relay writes states
 * under the guard of the object's version, so that one of several raises the event.
 */
export function announceHosts(hosts: HostStore, { events, clock }: AnnounceDeps): HostStore {
  return {
    ...hosts,
    async write(before, status) {
      const written = await hosts.write(before, status);
      const type = written === undefined ? undefined : typeOf(before, written);
      if (written !== undefined && type !== undefined) events.raise(eventOf(written, type, clock.now()));
      return written;
    },
  };
}

/** Undefined: its state is the one that it was. */
function typeOf({ object: before }: StoredHost, { object: after }: StoredHost): string | undefined {
  if (before.status === undefined) return 'EdgeHostEnrolled';
  const state = after.status?.status;
  return state === undefined || state === before.status.status ? undefined : types[state];
}

function eventOf({ tenant, object }: StoredHost, type: string, now: number) {
  const { uid = '', name, namespace = '', resourceVersion = '' } = object.metadata;
  const { status } = object;
  return {
    id: `edge-host.${uid}.${resourceVersion}`,
    topic: 'edge',
    source: 'relay',
    type,
    subject: uid,
    tenant,
    time: new Date(now).toISOString(),
    data: { host: name, namespace, node_id: status?.node_id, status: status?.status, since: status?.since },
  };
}
