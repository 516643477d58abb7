import { type Static, type TUnsafe, Type } from 'typebox';
import { limits } from '../limits.ts';
import { Conditions } from './condition.ts';
import { EdgeSelector, NodeId } from './edge-group.ts';
import type { KubernetesObject } from './object.ts';
import { anyObject, cel, oneOf, timestamp } from './parts.ts';

/** A string for most, an object for one of them; Kubernetes knows no such type, an admission policy checks it. */
const formOf = <T>(description: string): TUnsafe<T> =>
  Type.Unsafe<T>({ 'x-kubernetes-preserve-unknown-fields': true, description });

export type FleetMode = 'Sequential' | 'Parallel' | { readonly Rolling: { readonly batch: number } };
export type FailurePolicy = 'FailFast' | 'ContinueOnError' | { readonly StopAfter: number };

/** spec 2 §2.4: exactly one key. */
export const FleetTarget = Type.Object(
  {
    Node: Type.Optional(NodeId),
    Group: Type.Optional(Type.String({ minLength: 1, maxLength: limits.uidLength, description: 'id of a group.' })),
    Selector: Type.Optional(EdgeSelector),
    All: Type.Optional(
      Type.Unsafe<null | Record<string, never>>({
        type: 'object',
        nullable: true,
        maxProperties: 0,
        description: 'Every host of the tenant: {}. A null means the same, but kubectl apply drops it.',
      }),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    description: 'Which hosts: exactly one of Node, Group, Selector and All.',
  },
);
export type FleetTarget = Static<typeof FleetTarget>;

/** spec 2 §2.4 with the defaults of requirements AMB-103. */
export const FleetPolicySpec = Type.Object(
  {
    mode: Type.Optional(
      formOf<FleetMode>('Sequential, Parallel or an object Rolling with an integer batch. Default: Parallel.'),
    ),
    max_concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.fleetTargets,
        default: limits.fleetConcurrencyDefault,
        description: 'Most commands in flight at a time.',
      }),
    ),
    failure_policy: Type.Optional(
      formOf<FailurePolicy>(
        'FailFast, ContinueOnError or an object StopAfter with an integer. Default: ContinueOnError.',
      ),
    ),
    require_min_targets: Type.Optional(
      Type.Unsafe<number | null>({
        type: 'integer',
        nullable: true,
        minimum: 0,
        maximum: limits.fleetTargets,
        description: 'The run is refused where fewer hosts resolve.',
      }),
    ),
    per_target_deadline_secs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.fleetDeadlineSecsMax,
        default: limits.fleetDeadlineSecsDefault,
        description: 'Longest time of one command.',
      }),
    ),
  },
  { additionalProperties: false, description: 'How the command is dispatched over the hosts.' },
);
export type FleetPolicySpec = Static<typeof FleetPolicySpec>;

const person = Type.String({ minLength: 1, maxLength: 512, description: 'User name as the API server saw it.' });

const FleetCancel = Type.Object(
  {
    by: person,
    at: Type.Optional(timestamp({ description: 'When it was asked for.' })),
    via: Type.Optional(oneOf(['api'], { description: 'api: the Windlass API, which has checked a token.' })),
  },
  { additionalProperties: false, description: 'Stops the run, once and for good.' },
);

const unchanged = (...fields: string[]): string =>
  fields
    .map(
      (field) =>
        `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
    )
    .join(' && ');

/** The same for the API and for kubectl: characters that every daemon can name a tool with. */
export const FleetToolName = Type.String({
  minLength: 1,
  maxLength: limits.toolNameLength,
  pattern: '^[A-Za-z0-9_.-]+$',
  description: 'Tool that each host runs.',
});

export const FleetRunSpec = Type.Object(
  {
    target: FleetTarget,
    tool: FleetToolName,
    args: Type.Optional(anyObject({ description: `Its arguments, at most ${limits.fleetArgsBytes} bytes of JSON.` })),
    policy: Type.Optional(FleetPolicySpec),
    security_context: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.nameLength,
        default: 'default',
        description: "Security context of the host's own configuration that the command runs under.",
      }),
    ),
    requested_by: person,
    cancel: Type.Optional(FleetCancel),
    ttl_seconds_after_finished: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 31_536_000,
        description: 'Seconds after its end until the run is deleted.',
      }),
    ),
  },
  {
    additionalProperties: false,
    ...cel(
      {
        rule: '!has(oldSelf.cancel) || (has(self.cancel) && self.cancel == oldSelf.cancel)',
        message: 'cancel: cannot be taken back',
      },
      {
        rule: unchanged('tool', 'requested_by', 'security_context'),
        message: 'tool, requested_by and security_context: are immutable; start another run',
      },
    ),
  },
);
export type FleetRunSpec = Static<typeof FleetRunSpec>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** spec 2 §2.4. While the run is under way, hosts without an outcome are in no number. */
export const FleetSummary = Type.Object(
  {
    ok: count('Hosts whose command ended, whatever its exit code.'),
    err: count('Hosts whose command could not be run or failed.'),
    timed_out: count('Hosts that gave no result before the deadline.'),
    cancelled: count('Hosts whose command was cancelled.'),
    not_started: count('Hosts that were never sent the command.'),
  },
  { additionalProperties: false, description: 'Hosts by outcome; at the end they add up to targets_resolved.' },
);
export type FleetSummary = Static<typeof FleetSummary>;

/** A part of a record in the output store. */
const StoredPart = Type.Object(
  {
    ref: Type.String({ maxLength: 64, description: 'SHA-256 of its bytes.' }),
    bytes: count('Its size.'),
    nodes: count('Hosts that it tells of.'),
  },
  { additionalProperties: false },
);
export type StoredPart = Static<typeof StoredPart>;

const fleetPhases = ['Pending', 'Running', 'Ended'] as const;
const fleetOutcomes = ['complete', 'halted', 'cancelled', 'refused'] as const;

export const FleetRunStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
    phase: Type.Optional(oneOf(fleetPhases, { description: 'Pending, Running or Ended.' })),
    outcome: Type.Optional(oneOf(fleetOutcomes, { description: 'complete, halted, cancelled or refused.' })),
    reason: Type.Optional(Type.String({ maxLength: 128, description: 'Why it ended so or waits, in one word.' })),
    message: Type.Optional(Type.String({ maxLength: 2_048, description: 'The same in one sentence.' })),
    started_at: Type.Optional(timestamp({ description: 'When its targets were fixed.' })),
    ended_at: Type.Optional(timestamp({ description: 'When it ended.' })),
    targets_resolved: Type.Optional(count('Hosts that the target resolved to.')),
    targets_skipped: Type.Optional(count('Hosts of the target that cannot take a command.')),
    targets_ref: Type.Optional(StoredPart),
    in_flight: Type.Optional(count('Hosts that have the command and gave no result yet.')),
    summary: Type.Optional(FleetSummary),
    cancellation: Type.Optional(
      Type.Object(
        {
          cancelled: count('Commands in flight when the cancellation was taken up.'),
          already_terminal: count('Hosts that had an outcome by then.'),
        },
        { additionalProperties: false, description: 'The cancellation as it was taken up (requirements AMB-109).' },
      ),
    ),
    per_node_ref: Type.Optional(
      Type.Array(StoredPart, {
        maxItems: limits.fleetRecordParts,
        description: 'Where the outcomes of the single hosts are, in the order in which they came.',
      }),
    ),
    sent_since: Type.Optional(
      timestamp({ description: 'When the first of the commands in flight left, for the controllers.' }),
    ),
    open_outcomes: Type.Optional(
      Type.String({
        maxLength: limits.fleetOpenOutcomesLength,
        description:
          'Outcomes that summary counts and per_node_ref lacks, for the controllers. Each has the place of its target, a letter, and an exit code.',
      }),
    ),
    stored_bytes: Type.Optional(count('Bytes that the run takes in the output store.')),
  },
  { additionalProperties: false },
);
export type FleetRunStatus = Static<typeof FleetRunStatus>;

/** One tool over many hosts (spec 2 §2.4); its `fleet_command_id` is the uid of the object. */
export type FleetRun = KubernetesObject<'FleetRun', FleetRunSpec, FleetRunStatus>;
