import { Type } from 'typebox';
import { limits } from '../../../../crds/limits.ts';
import { FleetToolName } from '../../../../crds/schema/fleet-run.ts';
import { oneOf } from '../../../../crds/schema/parts.ts';
import { type Contract, defineContract, type ErrorContract } from '../../../../lib/http/contract.ts';
import { nextCursor, pageQuery, unknownCursor } from '../../../../lib/http/paging.ts';
import { unknownTenant } from '../../not-found.ts';
import { quotaExceeded } from '../../workflows/errors.ts';
import { withoutScope } from '../edge-caller.ts';
import { notFleetCapable, unknownRun } from '../errors.ts';
import { runParams } from '../schema.ts';
import {
  Arguments,
  FleetEventData,
  FleetRunSummary,
  FleetRunView,
  lastFleetEvents,
  Policy,
  Preview,
  runOutcomes,
  Target,
} from './schema.ts';

const tag = 'Fleet';

const node_id = '6c0a3c52-8a52-8a8e-9c0e-6d7d6a0c9f11';
const command_id = '1b9d6bcd-bbfd-8b2d-9b5d-ab8dfbbd4bed';

const previewExample: Preview = {
  resolved: [{ node_id, name: 'build-7', status: 'Connected' }],
  skipped: [{ node_id: '0f0a3c52-8a52-8a8e-9c0e-6d7d6a0c9f12', reason: 'Disconnected' }],
};

const runSummaryExample: FleetRunSummary = {
  fleet_command_id: 'a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22',
  tool: 'cmd.run',
  target: { Group: '3f0f6c1e-52a8-4c0e-9b53-0c0f5a3a7d10' },
  policy: { mode: { Rolling: { batch: 2 } }, max_concurrency: 2, failure_policy: { StopAfter: 1 } },
  started_at: '2026-11-02T10:00:00Z',
  ended_at: '2026-11-02T10:00:04Z',
  outcome: 'complete',
  requested_by: 'ada',
  summary: { ok: 1, err: 0, timed_out: 0, cancelled: 0, not_started: 0 },
};

const runExample: FleetRunView = {
  ...runSummaryExample,
  per_node: [
    { node_id, command_id, outcome: 'ok', exit_code: 0, duration_ms: 120, stdout_tail: 'done\n', stderr_tail: '' },
  ],
};

const invokeExample = [
  `id: 1\nevent: command_progress\ndata: {"node_id":"${node_id}","command_id":"${command_id}","chunk":{"stdout":"done\\n"}}\n`,
  `id: 2\nevent: command_result\ndata: {"node_id":"${node_id}","command_id":"${command_id}","result":{"ok":{"exit_code":0,"duration_ms":120}}}\n`,
  `id: end\nevent: fleet_result\ndata: {"fleet_command_id":"${runSummaryExample.fleet_command_id}","targets_resolved":["${node_id}"],"targets_skipped":[],"summary":{"ok":1,"err":0,"timed_out":0,"cancelled":0,"not_started":0}}\n`,
].join('\n');

/** spec 2 §4.5. */
export const previewFleet = defineContract({
  operationId: 'previewFleet',
  method: 'post',
  path: '/v1/edge/fleet/preview',
  tag,
  summary: 'Show which hosts a target is',
  description: 'The hosts of now; nothing is dispatched. Needs the scope `svc.edge.fleet.read`.',
  access: 'bearer',
  body: {
    kind: 'json',
    schema: Type.Object({ target: Target }, { additionalProperties: false }),
    example: { target: { Selector: { os: 'linux' } } },
  },
  success: { kind: 'json', description: 'The hosts.', schema: Preview, example: previewExample },
  errors: [withoutScope('svc.edge.fleet.read')],
});

const keyReused: ErrorContract = {
  status: 422,
  error: 'idempotency_key_reused',
  when: 'The same key was used for another body, and that run still exists.',
};

/** spec 2 §4.5, requirements AMB-102 to AMB-108 and AMB-203; ADR 0073. */
export const invokeFleet = defineContract({
  operationId: 'invokeFleet',
  method: 'post',
  path: '/v1/edge/fleet/invoke',
  tag,
  summary: 'Run a tool on hosts',
  description:
    'Server-sent events: output and result of each host as they come, `error` where the run is refused or halted, and ' +
    '`fleet_result` at last. The header `X-Fleet-Command-Id` has the id of the run, which is in the history from its ' +
    'start and continues when the client leaves. With an `Idempotency-Key` the same request sent again starts no ' +
    'second run: it follows the first one, after the event of `Last-Event-ID`. Needs the scope `svc.edge.fleet.manage`.',
  access: 'bearer',
  headers: Type.Object({
    'idempotency-key': Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.idempotencyKeyLength,
        description: 'Any text that this caller uses for this one run.',
      }),
    ),
    'last-event-id': Type.Optional(
      Type.String({ maxLength: 64, description: 'The id of the last event that was received; empty: from the start.' }),
    ),
  }),
  body: {
    kind: 'json',
    schema: Type.Object(
      { target: Target, tool: FleetToolName, args: Type.Optional(Arguments), policy: Type.Optional(Policy) },
      { additionalProperties: false },
    ),
    example: {
      target: { Group: '3f0f6c1e-52a8-4c0e-9b53-0c0f5a3a7d10' },
      tool: 'cmd.run',
      args: { command: 'uptime' },
      policy: { mode: { Rolling: { batch: 2 } }, failure_policy: { StopAfter: 1 } },
    },
  },
  success: {
    kind: 'events',
    description: 'The events.',
    headers: { 'X-Fleet-Command-Id': 'Id of the run.' },
    schema: FleetEventData,
    lastEvents: lastFleetEvents,
    example: invokeExample,
  },
  errors: [
    withoutScope('svc.edge.fleet.manage'),
    notFleetCapable,
    {
      status: 400,
      error: 'invalid_request',
      when: 'Target, tool, arguments or policy are not as described, or `Last-Event-ID` is not the id of an event.',
    },
    unknownTenant,
    { status: 503, error: 'unavailable', when: 'The tool gateway cannot be asked whether a fleet can run the tool.' },
    { status: 409, error: 'already_exists', when: 'Another caller has made a run of the name of the key.' },
    keyReused,
    quotaExceeded,
  ],
});

/** spec 2 §4.5, requirements AMB-109. */
export const cancelFleet = defineContract({
  operationId: 'cancelFleet',
  method: 'post',
  path: '/v1/edge/fleet/{fleet_command_id}/cancel',
  tag,
  summary: 'Cancel a fleet run',
  description:
    'Cancels every command that is in flight; hosts that have an outcome keep it. For a run that has ended ' +
    '`cancelled` is 0. Needs the scope `svc.edge.fleet.manage`.',
  access: 'bearer',
  params: runParams,
  // Many clients send `{}` with every POST.
  body: { kind: 'json', schema: Type.Object({}, { additionalProperties: false }), required: false, example: {} },
  success: {
    kind: 'json',
    description: 'The run is cancelled, or has ended.',
    schema: Type.Object(
      {
        fleet_command_id: Type.String({ format: 'uuid', description: 'Id of the run.' }),
        cancelled: Type.Integer({ minimum: 0, description: 'Commands that were in flight.' }),
        already_terminal: Type.Integer({ minimum: 0, description: 'Hosts that had an outcome.' }),
      },
      { additionalProperties: false },
    ),
    example: { fleet_command_id: runSummaryExample.fleet_command_id, cancelled: 3, already_terminal: 9 },
  },
  errors: [
    withoutScope('svc.edge.fleet.manage'),
    unknownRun,
    { status: 409, error: 'conflict', when: 'Others change the run at the same time; try again.' },
    {
      status: 503,
      error: 'unavailable',
      when: 'The cancellation is written, and the controllers have not taken it up yet; read the run.',
    },
  ],
});

/** spec 2 §4.5. */
export const listFleetRuns = defineContract({
  operationId: 'listFleetRuns',
  method: 'get',
  path: '/v1/edge/fleet/runs',
  tag,
  summary: 'List fleet runs',
  description:
    'The newest first, those of one second by their ids. Runs are kept for a week. Needs the scope `svc.edge.fleet.read`.',
  access: 'bearer',
  query: Type.Object(
    {
      tool: Type.Optional(
        Type.String({ minLength: 1, maxLength: limits.toolNameLength, description: 'Only runs of this tool.' }),
      ),
      outcome: Type.Optional(oneOf(runOutcomes, { description: 'Only runs that ended so.' })),
      ...pageQuery('Runs'),
    },
    { additionalProperties: false },
  ),
  success: {
    kind: 'json',
    description: 'One page.',
    schema: Type.Object(
      { items: Type.Array(FleetRunSummary), next_cursor: nextCursor },
      { additionalProperties: false },
    ),
    example: { items: [runSummaryExample], next_cursor: null },
  },
  errors: [withoutScope('svc.edge.fleet.read'), unknownCursor],
});

/** spec 2 §4.5. */
export const readFleetRun = defineContract({
  operationId: 'readFleetRun',
  method: 'get',
  path: '/v1/edge/fleet/runs/{fleet_command_id}',
  tag,
  summary: 'Read a fleet run',
  description: 'With the outcome and the end of the output of each host. Needs the scope `svc.edge.fleet.read`.',
  access: 'bearer',
  params: runParams,
  success: { kind: 'json', description: 'The run.', schema: FleetRunView, example: runExample },
  errors: [withoutScope('svc.edge.fleet.read'), unknownRun],
});

export const contracts: readonly Contract[] = [previewFleet, invokeFleet, cancelFleet, listFleetRuns, readFleetRun];
