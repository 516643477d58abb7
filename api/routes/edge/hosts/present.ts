import type { EdgeHost, EdgeHostCapabilities } from '../../../../crds/schema/edge-host.ts';
import { labelsOfHost, nameOfHost, nodeIdOfHost, sinceOfHost, stateOfHost } from '../../../../lib/fleet/fleet-host.ts';
import type { RecentCommand } from '../../../../lib/edge/index.ts';
import type { EdgeHostSummary, EdgeHostView } from '../schema.ts';

/** Facts about a host that are not in its object. */
interface HostFacts {
  /** Its last heartbeat, where its relay answers. */
  readonly heard: string | undefined;
  readonly now: number;
}

/** spec 2 §2.1, as in a list; neither keys nor mount points. */
export function presentHostSummary(tenant: string, host: EdgeHost, { heard, now }: HostFacts): EdgeHostSummary {
  const { spec, status } = host;
  return {
    node_id: nodeIdOfHost(host),
    name: nameOfHost(host),
    tenant_id: tenant,
    status: stateOfHost(host),
    since: sinceOfHost(host, now),
    last_heartbeat_at: heard ?? status?.last_heartbeat_at ?? null,
    tags: spec.tags ?? [],
    ...(spec.draining === true && { draining: true }),
    capabilities: capabilitiesOf(host),
  };
}

function capabilitiesOf(host: EdgeHost): EdgeHostSummary['capabilities'] {
  const capabilities: Partial<EdgeHostCapabilities> = host.status?.capabilities ?? {};
  const { os = '', arch = '', local_tools: tools = [] } = capabilities;
  const { command_timeout_secs: most, facts_left_out: leftOut } = capabilities;
  return {
    os,
    arch,
    local_tools: tools,
    labels: { ...labelsOfHost(host) },
    ...(most !== undefined && { command_timeout_secs: most }),
    ...(leftOut !== undefined && { facts_left_out: leftOut }),
  };
}

interface HostNews extends HostFacts {
  readonly recent: readonly RecentCommand[];
}

/** spec 2 §2.1, as for one host. */
export function presentHost(tenant: string, host: EdgeHost, { recent, ...facts }: HostNews): EdgeHostView {
  const { status, metadata } = host;
  return {
    ...presentHostSummary(tenant, host, facts),
    enrolled_at: status?.enrolled_at ?? metadata.creationTimestamp ?? '',
    recent_commands: recent.map(({ outcome, duration_ms: duration, ...command }) => ({
      ...command,
      outcome: outcome ?? null,
      duration_ms: duration ?? null,
    })),
  };
}
