import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import type { KubernetesObject } from './object.ts';
import { atomic, cel, type CelRule, mapOf, oneOf, timestamp } from './parts.ts';

/** One tag of a host, as operators choose it. */
export const edgeTag = Type.String({
  minLength: 1,
  maxLength: limits.edgeTagLength,
});

/** Labels as a daemon reports them, or an operator sets them. */
const edgeLabels = (description: string) =>
  mapOf(Type.String({ maxLength: limits.edgeLabelLength }), {
    maxProperties: limits.edgeLabels,
    description,
    ...atomic,
  });

const sumOf = (list: string, text: string): string =>
  `(has(self.${list}) ? self.${list}.map(t, ${text} + ${limits.edgeTextCharge}).sum() : 0)`;

/** AMB-094: revoking is final. `enrolled_by` is immutable. Every replica keeps the tags and labels of every host. */
export const edgeHostRules: CelRule[] = [
  {
    rule: '!(has(oldSelf.revoked) && oldSelf.revoked) || (has(self.revoked) && self.revoked)',
    message: 'a revoked host stays revoked; enroll the machine again',
    fieldPath: '.revoked',
  },
  {
    rule: '!has(oldSelf.enrolled_by) || (has(self.enrolled_by) && self.enrolled_by == oldSelf.enrolled_by)',
    message: 'says who enrolled the host, and does not change',
    fieldPath: '.enrolled_by',
  },
  {
    rule: `${sumOf('tags', 't.size()')} + ${sumOf('labels', 't.size() + self.labels[t].size()')} <= ${limits.edgeTextsLength}`,
    message:
      `tags and labels: have more than ${limits.edgeTextsLength} characters together, where each tag and label counts as ` +
      `${limits.edgeTextCharge} more; use fewer or shorter ones`,
  },
];

/** Operators' description of an edge host (spec 2 §2.1). */
export const EdgeHostSpec = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: limits.edgeNameLength, description: 'Display name.' })),
    tags: Type.Optional(
      Type.Array(edgeTag, {
        maxItems: limits.edgeTags,
        description: 'For operators to group hosts by; a daemon never changes them.',
        'x-kubernetes-list-type': 'atomic',
      }),
    ),
    labels: Type.Optional(edgeLabels('Labels that operators add to those of the daemon; theirs count first.')),
    revoked: Type.Optional(
      Type.Boolean({ description: 'Whether the host is revoked: its token and its key count no more. For good.' }),
    ),
    revoked_at: Type.Optional(
      timestamp({ description: 'When it was revoked, where that is known; the API writes it.' }),
    ),
    draining: Type.Optional(
      Type.Boolean({ description: 'Whether no run targets the host: it ends what it has, and takes no new commands.' }),
    ),
    enrolled_by: Type.Optional(
      Type.String({ maxLength: limits.objectNameLength, description: 'Issuer of the token that enrolled it.' }),
    ),
  },
  { additionalProperties: false, ...cel(...edgeHostRules) },
);
export type EdgeHostSpec = Static<typeof EdgeHostSpec>;

export const edgeHostStates = ['Connected', 'Disconnected', 'Unhealthy', 'Revoked'] as const;
export type EdgeHostState = (typeof edgeHostStates)[number];

const publicKey = (description: string) => Type.String({ minLength: 44, maxLength: 44, description });

/** Facts that a daemon reports; the REST view has no mount points (spec 2 §2.1, §2.2). */
export const EdgeHostCapabilities = Type.Object(
  {
    os: Type.String({ maxLength: limits.nameLength }),
    arch: Type.String({ maxLength: limits.nameLength }),
    local_tools: Type.Array(Type.String({ maxLength: limits.objectNameLength }), {
      maxItems: limits.edgeLocalTools,
      'x-kubernetes-list-type': 'atomic',
    }),
    mount_points: Type.Array(Type.String({ maxLength: limits.edgePathLength }), {
      maxItems: limits.edgeLocalTools,
      'x-kubernetes-list-type': 'atomic',
    }),
    labels: edgeLabels('Labels of the daemon.'),
    command_timeout_secs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.fleetDeadlineSecsMax,
        description: "Longest time that the machine's owner permits one command; absent: no limit of the owner.",
      }),
    ),
    facts_left_out: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.edgeLocalTools + limits.edgeLabels,
        description: 'Tools and labels that the daemon reports and that are left out here: all together are too long.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Facts that the daemon reports of its machine.' },
);
export type EdgeHostCapabilities = Static<typeof EdgeHostCapabilities>;

export const EdgeHostStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    node_id: Type.String({ maxLength: limits.uidLength, description: 'Identifier of the host, a UUID.' }),
    status: oneOf(edgeHostStates, { description: 'Whether its daemon holds a stream, and lives.' }),
    since: timestamp({ description: 'When this status began.' }),
    enrolled_at: timestamp({ description: 'When the host enrolled.' }),
    last_heartbeat_at: Type.Optional(timestamp({ description: 'The last heartbeat before this status was written.' })),
    capabilities: Type.Optional(EdgeHostCapabilities),
    keys: Type.Object(
      {
        current: publicKey('Ed25519 public key of the daemon, 32 bytes in base64.'),
        previous: Type.Optional(publicKey('The key before; it counts on an open stream until previous_until.')),
        previous_until: Type.Optional(timestamp()),
      },
      { additionalProperties: false, description: 'Keys of the daemon.' },
    ),
    token_jti: Type.String({
      maxLength: limits.nameLength,
      description: 'The one node security token that counts; every other one is blacklisted.',
    }),
  },
  { additionalProperties: false },
);
export type EdgeHostStatus = Static<typeof EdgeHostStatus>;

export type EdgeHost = KubernetesObject<'EdgeHost', EdgeHostSpec, EdgeHostStatus>;

/** Name of the object of a host. */
export const edgeHostName = (nodeId: string): string => `host-${nodeId}`;
