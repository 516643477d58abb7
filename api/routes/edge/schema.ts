import { type Static, Type } from 'typebox';
import { limits } from '../../../crds/limits.ts';
import { EdgeSelector } from '../../../crds/schema/edge-group.ts';
import { edgeHostStates } from '../../../crds/schema/edge-host.ts';
import { oneOf, timestamp } from '../../../crds/schema/parts.ts';

const strict = { additionalProperties: false } as const;

const nodeId = Type.String({ description: 'Id of the host.' });
const hostName = Type.String({ description: 'Display name.' });
const hostStatus = oneOf(edgeHostStates, { description: 'How the host is doing.' });

/** Path parameter of the routes about one host. */
export const hostParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 253, description: '`node_id` of the host.' }),
});

/** Path parameter of the routes about one group. */
export const groupParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 253, description: '`id` of the group.' }),
});

/** Path parameter of the routes about one fleet run. */
export const runParams = Type.Object({
  fleet_command_id: Type.String({ minLength: 1, maxLength: 253, description: 'Id of the fleet run.' }),
});

export const DisplayName = Type.String({
  minLength: 1,
  maxLength: limits.edgeNameLength,
  pattern: '^[^\\u0000-\\u001f\\u007f]+$',
  description: 'Display name.',
});

const Capabilities = Type.Object(
  {
    os: Type.String({ description: 'Operating system.' }),
    arch: Type.String({ description: 'Processor architecture.' }),
    local_tools: Type.Array(Type.String(), { description: 'Tools that the host runs.' }),
    labels: Type.Record(Type.String(), Type.String(), { description: 'Labels that the host gives itself.' }),
    command_timeout_secs: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "Longest time that the machine's owner permits one command; absent: the deadline counts alone.",
      }),
    ),
    facts_left_out: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Tools and labels that the host reports and that are left out: all together are too long.',
      }),
    ),
  },
  { ...strict, description: 'Facts that the host reports.' },
);

/** spec 2 §2.1, as in a list. */
export const EdgeHostSummary = Type.Object(
  {
    node_id: nodeId,
    name: hostName,
    tenant_id: Type.String({ description: 'Slug of the tenant that owns it.' }),
    status: hostStatus,
    since: timestamp({ description: 'When that began.' }),
    last_heartbeat_at: Type.Union([timestamp(), Type.Null()], {
      description:
        'Its last heartbeat, as its relay has it; the last one before its state changed where no relay answers. null: none yet.',
    }),
    tags: Type.Array(Type.String(), { description: 'Tags that operators gave it.' }),
    draining: Type.Optional(Type.Boolean({ description: 'true: no run targets it. Absent otherwise.' })),
    capabilities: Capabilities,
  },
  strict,
);
export type EdgeHostSummary = Static<typeof EdgeHostSummary>;

const RecentCommand = Type.Object(
  {
    command_id: Type.String({ description: 'Id of the command.' }),
    tool: Type.String({ description: 'The tool that ran.' }),
    dispatched_at: timestamp({ description: 'When it was sent.' }),
    outcome: Type.Union([Type.String(), Type.Null()], { description: 'How it ended; null: not yet.' }),
    duration_ms: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'Milliseconds it took.' }),
  },
  strict,
);

/** spec 2 §2.1, as for one host. */
export const EdgeHostView = Type.Object(
  {
    ...EdgeHostSummary.properties,
    enrolled_at: timestamp({ description: 'When it was enrolled.' }),
    recent_commands: Type.Array(RecentCommand, { description: `Its last ${limits.hostRecentCommands} commands.` }),
  },
  strict,
);
export type EdgeHostView = Static<typeof EdgeHostView>;

const pinnedMembers = Type.Array(Type.String(), { description: 'Hosts that belong to it whatever the selector says.' });
const group = {
  id: Type.String({ format: 'uuid', description: 'Id of the group.' }),
  name: Type.String({ description: 'Display name.' }),
  selector: Type.Union([EdgeSelector, Type.Null()], { description: 'Which hosts; null: only those that are pinned.' }),
  pinned_members: pinnedMembers,
  created_at: timestamp({ description: 'When it was made.' }),
};

/** spec 2 §2.3, as in a list. */
export const EdgeGroupSummary = Type.Object(
  { ...group, resolved_member_count: Type.Integer({ minimum: 0, description: 'Hosts that belong to it now.' }) },
  strict,
);
export type EdgeGroupSummary = Static<typeof EdgeGroupSummary>;

/** A host as a target resolves to it. */
export const ResolvedHost = Type.Object({ node_id: nodeId, name: hostName, status: hostStatus }, strict);
export type ResolvedHost = Static<typeof ResolvedHost>;

/** spec 2 §2.3, as for one group. */
export const EdgeGroupView = Type.Object(
  { ...group, resolved_members: Type.Array(ResolvedHost, { description: 'Hosts that belong to it now.' }) },
  strict,
);
export type EdgeGroupView = Static<typeof EdgeGroupView>;
