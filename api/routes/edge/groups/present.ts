import type { EdgeGroup } from '../../../../crds/schema/edge-group.ts';
import { type FleetHost, groupMembers } from '../../../../lib/fleet/selector.ts';
import type { EdgeGroupSummary, EdgeGroupView, ResolvedHost } from '../schema.ts';

export const presentResolved = ({ nodeId, name, status }: FleetHost): ResolvedHost => ({
  node_id: nodeId,
  name,
  status,
});

const ownFields = ({ metadata, spec }: EdgeGroup) => ({
  id: metadata.uid ?? '',
  name: spec.name,
  selector: spec.selector ?? null,
  pinned_members: spec.pinned_members ?? [],
  created_at: metadata.creationTimestamp ?? '',
});

/** spec 2 §2.3, as in a list. */
export const presentGroupSummary = (group: EdgeGroup, members: number): EdgeGroupSummary => ({
  ...ownFields(group),
  resolved_member_count: members,
});

/** spec 2 §2.3, as for one group. */
export const presentGroup = async (group: EdgeGroup, hosts: Iterable<FleetHost>): Promise<EdgeGroupView> => ({
  ...ownFields(group),
  resolved_members: (await groupMembers(group.spec, hosts)).map(presentResolved),
});
