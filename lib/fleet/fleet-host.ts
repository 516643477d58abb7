import type { EdgeHost, EdgeHostState } from '../../crds/schema/edge-host.ts';
import { isBeingDeleted } from '../being-deleted.ts';
import { ownMember } from '../own-member.ts';
import type { FleetHost } from './selector.ts';

const prefix = 'host-';

/** The id of a host, also before its status is written. */
export const nodeIdOfHost = ({ metadata, status }: EdgeHost): string =>
  status?.node_id ?? (metadata.name.startsWith(prefix) ? metadata.name.slice(prefix.length) : metadata.name);

/**
 * State of a host: revoked from the moment when an operator revokes or deletes it; before it has connected Disconnected
 * (AMB-204). A relay refuses both alike.
 */
export const stateOfHost = ({ metadata, spec, status }: EdgeHost): EdgeHostState =>
  spec.revoked === true || isBeingDeleted({ metadata }) ? 'Revoked' : (status?.status ?? 'Disconnected');

/**
 * When an operator revoked a host, as its object says. Each who may change hosts may write that time: one before the enrolment, or
 * to come, is not taken. RFC 3339.
 */
export function revokedAt({ spec, status, metadata }: EdgeHost, now: number): string | undefined {
  const at = Date.parse(spec.revoked_at ?? '');
  const enrolled = Date.parse(status?.enrolled_at ?? metadata.creationTimestamp ?? '');
  return at < enrolled || !(at <= now) ? undefined : spec.revoked_at;
}

/** When the state of a host began (spec 2 §2.1): its revocation counts before a relay has written it. RFC 3339. */
export function sinceOfHost(host: EdgeHost, now: number): string {
  const { spec, status, metadata } = host;
  const began = status?.since ?? metadata.creationTimestamp ?? '';
  const isUnwritten = spec.revoked === true && status?.status !== 'Revoked';
  return (isUnwritten ? revokedAt(host, now) : undefined) ?? began;
}

/** One of the labels of a host, without an object of all: a target asks every host of a tenant. */
const labelOf = ({ spec, status }: EdgeHost, name: string): string | undefined =>
  ownMember(spec.labels, name) ?? ownMember(status?.capabilities?.labels, name);

/** Labels of the daemon and those that operators add; the latter count first. */
export const labelsOfHost = ({ spec, status }: EdgeHost): Readonly<Record<string, string>> => ({
  ...status?.capabilities?.labels,
  ...spec.labels,
});

/** Display name, which may be absent. */
export const nameOfHost = (host: EdgeHost): string => host.spec.name ?? nodeIdOfHost(host);

/** Hosts as targets and groups see them, each made when it is asked for. */
export function* fleetHostsOf(hosts: Iterable<EdgeHost>): Generator<FleetHost> {
  for (const host of hosts) yield fleetHostOf(host);
}

/** A host as targets and groups see it. */
export function fleetHostOf(host: EdgeHost): FleetHost {
  const { capabilities } = host.status ?? {};
  return {
    nodeId: nodeIdOfHost(host),
    uid: host.metadata.uid ?? '',
    name: nameOfHost(host),
    status: stateOfHost(host),
    isDraining: host.spec.draining === true,
    os: capabilities?.os,
    tools: capabilities?.local_tools ?? [],
    tags: host.spec.tags ?? [],
    label: (name) => labelOf(host, name),
  };
}
