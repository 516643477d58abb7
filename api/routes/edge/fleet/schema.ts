import { type Static, Type } from 'typebox';
import { limits } from '../../../../crds/limits.ts';
import { EdgeSelector, NodeId } from '../../../../crds/schema/edge-group.ts';
import { oneOf, timestamp } from '../../../../crds/schema/parts.ts';
import { edgeUnavailableReason } from '../../../../lib/edge/edge-unavailable.ts';
import { ResolvedHost } from '../schema.ts';

const strict = { additionalProperties: false } as const;
const exactlyOne = { ...strict, minProperties: 1, maxProperties: 1 } as const;

/** spec 2 §2.4, requirements AMB-102. */
export const Target = Type.Object(
  {
    Node: Type.Optional(NodeId),
    Group: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: '`id` of a group.' })),
    Selector: Type.Optional(EdgeSelector),
    All: Type.Optional(
      Type.Union([Type.Null(), Type.Object({}, strict)], {
        description: 'Every host of the tenant: null, or {} as in a FleetRun. Answers have null.',
      }),
    ),
  },
  { ...exactlyOne, description: 'Which hosts: exactly one of `Node`, `Group`, `Selector` and `All`.' },
);
export type Target = Static<typeof Target>;

const hosts = { minimum: 1, maximum: limits.fleetTargets } as const;

const Mode = Type.Union(
  [
    oneOf(['Sequential', 'Parallel']),
    Type.Object(
      { Rolling: Type.Object({ batch: Type.Integer({ ...hosts, description: 'Hosts of one batch.' }) }, strict) },
      strict,
    ),
  ],
  { description: '`Sequential`, `Parallel`, or `{"Rolling":{"batch":n}}`. Default: `Parallel`.' },
);

const FailurePolicy = Type.Union(
  [
    oneOf(['FailFast', 'ContinueOnError']),
    Type.Object(
      { StopAfter: Type.Integer({ ...hosts, description: 'Failures after which nothing new begins.' }) },
      strict,
    ),
  ],
  { description: '`FailFast`, `ContinueOnError`, or `{"StopAfter":n}`. Default: `ContinueOnError`.' },
);

/** spec 2 §2.4, with the defaults of requirements AMB-103. */
export const Policy = Type.Object(
  {
    mode: Type.Optional(Mode),
    max_concurrency: Type.Optional(
      Type.Integer({ ...hosts, description: `Most commands in flight. Default: ${limits.fleetConcurrencyDefault}.` }),
    ),
    failure_policy: Type.Optional(FailurePolicy),
    require_min_targets: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: limits.fleetTargets }), Type.Null()], {
        description: 'The run is refused where fewer hosts resolve. Default: null.',
      }),
    ),
    per_target_deadline_secs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.fleetDeadlineSecsMax,
        description: `Longest time of one command. Default: ${limits.fleetDeadlineSecsDefault}.`,
      }),
    ),
  },
  { ...strict, description: 'How the command is dispatched over the hosts.' },
);
export type Policy = Static<typeof Policy>;

/** Arguments of a tool; `limits.fleetArgsBytes` bounds their JSON. */
export const Arguments = Type.Record(Type.String({ maxLength: 256 }), Type.Unknown(), {
  description: `Arguments of the tool, at most ${limits.fleetArgsBytes / 1024} KiB of JSON.`,
});

const SkippedHost = Type.Object(
  {
    node_id: Type.String({ description: 'Id of the host.' }),
    reason: Type.String({ description: 'Why it gets no command, such as `Disconnected`.' }),
  },
  strict,
);

/** spec 2 §4.5. */
export const Preview = Type.Object(
  {
    resolved: Type.Array(ResolvedHost, { description: 'Hosts that would get the command.' }),
    skipped: Type.Array(SkippedHost, { description: 'Hosts of the target that would not.' }),
  },
  strict,
);
export type Preview = Static<typeof Preview>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** spec 2 §2.4. */
export const Summary = Type.Object(
  {
    ok: count('Hosts whose command ended, whatever its exit code.'),
    err: count('Hosts whose command could not be run or failed.'),
    timed_out: count('Hosts that gave no result before the deadline.'),
    cancelled: count('Hosts whose command was cancelled.'),
    not_started: count('Hosts that were never sent the command.'),
  },
  { ...strict, description: 'Hosts by outcome.' },
);
export type Summary = Static<typeof Summary>;

export const runOutcomes = ['complete', 'halted', 'cancelled'] as const;
const nodeOutcomes = ['ok', 'err', 'timed_out', 'cancelled', 'not_started'] as const;
export type RunOutcome = (typeof runOutcomes)[number];

/** spec 2 §2.4, as in a list. `reason`, `message` and `requested_by` are ours. */
export const FleetRunSummary = Type.Object(
  {
    fleet_command_id: Type.String({ format: 'uuid', description: 'Id of the run.' }),
    tool: Type.String({ description: 'Tool that each host runs.' }),
    target: Target,
    policy: Policy,
    started_at: Type.Union([timestamp(), Type.Null()], {
      description: 'When its hosts were fixed; null: not yet, or never, where the run ended before that.',
    }),
    ended_at: Type.Union([timestamp(), Type.Null()], { description: 'When it ended; null: it is still running.' }),
    outcome: Type.Union([oneOf(runOutcomes), Type.Null()], { description: 'How it ended; null: it is still running.' }),
    reason: Type.Optional(Type.String({ description: 'Why it was halted or refused, or waits, in one word.' })),
    message: Type.Optional(Type.String({ description: 'The same in one sentence.' })),
    requested_by: Type.String({ description: 'The user who asked for it.' }),
    summary: Summary,
  },
  strict,
);
export type FleetRunSummary = Static<typeof FleetRunSummary>;

const NodeResult = Type.Object(
  {
    node_id: Type.String({ description: 'Id of the host.' }),
    command_id: Type.String({ description: 'Id of its command.' }),
    outcome: oneOf(nodeOutcomes, { description: 'How it ended.' }),
    exit_code: Type.Union([Type.Integer(), Type.Null()], { description: 'Exit code, where the tool has one.' }),
    duration_ms: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'Milliseconds it took.' }),
    stdout_tail: Type.String({ description: 'The end of its output.' }),
    stderr_tail: Type.String({ description: 'The end of its error output.' }),
    code: Type.Optional(Type.String({ description: 'Code of an err, such as OutcomeUnknown; 128 bytes at most.' })),
    message: Type.Optional(
      Type.String({ description: 'Why it is err, timed_out or cancelled; the last 1,024 bytes at most.' }),
    ),
  },
  strict,
);
export type NodeResult = Static<typeof NodeResult>;

/** spec 2 §2.4, as for one run. */
export const FleetRunView = Type.Object(
  {
    ...FleetRunSummary.properties,
    per_node: Type.Array(NodeResult, {
      description:
        'Hosts that have an outcome, in the order in which they got it. At the end those that were never sent the ' +
        'command follow.',
    }),
    records_lost: Type.Optional(
      Type.Literal(true, {
        description: 'The outcomes of the hosts were deleted, and per_node is empty; the summary is all that is left.',
      }),
    ),
  },
  strict,
);
export type FleetRunView = Static<typeof FleetRunView>;

const ids = {
  node_id: Type.String({ description: 'Id of the host.' }),
  command_id: Type.String({ description: 'Id of its command.' }),
};
const words = (description: string) => Type.String({ description });

/** A piece of output. */
export const Chunk = Type.Union([
  Type.Object({ stdout: words('Text of the output.') }, strict),
  Type.Object({ stderr: words('Text of the error output.') }, strict),
  Type.Object({ status: words('Progress as the tool reports it.') }, strict),
]);
export type Chunk = Static<typeof Chunk>;

const exit = Type.Optional(Type.Integer({ description: 'Exit code, where the tool has one.' }));

/** How the command of one host ended. */
export const Result = Type.Union([
  Type.Object(
    { ok: Type.Object({ exit_code: Type.Integer(), duration_ms: Type.Integer({ minimum: 0 }) }, strict) },
    strict,
  ),
  Type.Object({ err: Type.Object({ code: words('Code.'), message: words('Why.'), exit_code: exit }, strict) }, strict),
  Type.Object({ timed_out: Type.Object({ deadline_ms: Type.Integer({ minimum: 0 }) }, strict) }, strict),
  Type.Object({ cancelled: Type.Object({ reason: words('Why.') }, strict) }, strict),
]);
export type Result = Static<typeof Result>;

/** spec 2 §4.5 and §7. */
const fleetErrorReasons = ['RequireMinNotSatisfied', edgeUnavailableReason, 'Halted'] as const;

/** The data of each type of event (spec 2 §4.5). `fleet_result` ends the stream. */
const fleetEventFields = {
  command_progress: Type.Object({ ...ids, chunk: Chunk }, { ...strict, description: 'Output of one host.' }),
  command_result: Type.Object({ ...ids, result: Result }, { ...strict, description: 'The command of one host ended.' }),
  fleet_result: Type.Object(
    {
      fleet_command_id: Type.String({ format: 'uuid', description: 'Id of the run.' }),
      targets_resolved: Type.Array(Type.String(), { description: 'Ids of its hosts.' }),
      targets_skipped: Type.Array(SkippedHost, { description: 'Hosts of the target that got no command.' }),
      summary: Summary,
    },
    { ...strict, description: 'The run ended. Ends the stream.' },
  ),
  error: Type.Object(
    {
      reason: Type.String({
        description:
          `One of ${fleetErrorReasons.map((one) => `\`${one}\``).join(', ')}, or a word of ours for a run that ` +
          'got past these checks, such as `GroupNotFound`, `TooManyTargets`, `NotFleetCapable` and `EdgeKeyMissing`.',
      }),
      message: Type.String({ description: 'The same in one sentence.' }),
    },
    { ...strict, description: 'The run was refused or halted; `fleet_result` follows.' },
  ),
} as const;
type FleetEventType = keyof typeof fleetEventFields;
type FleetEventFields = { readonly [T in FleetEventType]: Static<(typeof fleetEventFields)[T]> };

/** One event: its name, what a client sends back as Last-Event-ID, and its data. */
export type FleetEvent = {
  readonly [T in FleetEventType]: { readonly id: string; readonly event: T; readonly data: FleetEventFields[T] };
}[FleetEventType];

export const FleetEventData = Type.Union(Object.values(fleetEventFields));
export const lastFleetEvents = ['fleet_result'] as const satisfies readonly FleetEventType[];
