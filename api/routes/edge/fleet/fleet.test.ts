import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { type FleetRun, FleetRunSpec, type FleetRunStatus } from '../../../../crds/schema/fleet-run.ts';
import { commandIdOf, type EdgeNews } from '../../../../lib/edge/index.ts';
import { systemClock } from '../../../../lib/clock.ts';
import { slimFleetRun } from '../../../../lib/fleet/slim-fleet-run.ts';
import { createResponses } from '../../../../lib/http/openapi/responses.ts';
import { readBody } from '../../../../lib/http/read-body.ts';
import { pageBytes } from '../../../../lib/http/read-page.ts';
import { aGroup, aHost, nodeId } from '../../../../test/builders/edge-builder.ts';
import { edgeWorld, everyEdgeScope } from '../../../../test/builders/edge-world.ts';
import { fasterClock } from '../../../../test/support/faster-clock.ts';
import { createManualClock } from '../../../../test/support/manual-clock.ts';
import { cancelFleet, invokeFleet, previewFleet } from './contract.ts';
import { type EventPlace, fromStart, readEventId } from './event-ids.ts';
import { fleetEvents } from './events.ts';
import type { RunRecords } from './ports.ts';
import type { NodeRecord } from '../../../../lib/fleet/node-record.ts';
import { FleetEventData, FleetRunSummary, FleetRunView } from './schema.ts';
import { endlessRoom } from '../../../../test/support/whole-body.ts';

const uid = '0000000a-0000-4000-8000-000000000001';
const summary = { ok: 1, err: 0, timed_out: 1, cancelled: 0, not_started: 1 };
const aRun = (status: Partial<FleetRunStatus> = {}, spec: Partial<FleetRun['spec']> = {}): FleetRun => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'FleetRun',
  metadata: { name: 'fleet-1', namespace: 'tenant-acme', uid, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { target: { All: {} }, tool: 'cmd.run', requested_by: 'ada', ...spec },
  status: { phase: 'Ended', outcome: 'complete', started_at: '2026-01-01T00:00:01Z', summary, ...status },
});
const record = (number: number, outcome: NodeRecord['outcome'], more: Partial<NodeRecord> = {}): NodeRecord => ({
  node_id: nodeId(number),
  command_id: commandIdOf(uid, nodeId(number)),
  outcome,
  exit_code: outcome === 'ok' ? 0 : null,
  duration_ms: 5,
  stdout_tail: 'out',
  stderr_tail: '',
  ...more,
});
/** Pages of one record each. */
const pagesOf = (all: readonly NodeRecord[]): RunRecords['pages'] =>
  async function* ofAll(_run, { take }) {
    for (const one of all) {
      const taken = take(one);
      if (taken !== undefined) yield [taken];
    }
  };
const late = { message: 'no result within 5 s' };
const lost = { code: 'OutcomeUnknown', message: 'the host gave no result' };
const perNode = [record(1, 'ok'), record(2, 'timed_out', late), record(3, 'not_started')];
const records = {
  targets: async () => ({
    resolved: perNode.map(({ node_id }) => ({ node_id })),
    skipped: [{ node_id: nodeId(9), reason: 'Disconnected' as const }],
  }),
  open: async () => [],
  perNode: async () => perNode,
  parts: () => expect.fail('its record is small'),
  pages: pagesOf(perNode),
};
const hosts = [aHost(1), aHost(2, {}, { status: 'Unhealthy' }), aHost(3, { revoked: true })];
const group = aGroup(1, { selector: {} });
const theirs = { ...group, metadata: { ...group.metadata, namespace: 'tenant-other', uid: `${uid.slice(0, -1)}9` } };
const world = (...runs: FleetRun[]) =>
  edgeWorld([...hosts, group, theirs, ...runs], { records, clock: { ...systemClock, sleep: async () => undefined } });

describe('EDGE-REST-27 the preview of a target', () => {
  it.each([
    ['all', { All: null }],
    ['all, in the form that kubectl keeps', { All: {} }],
    ['a group', { Group: group.metadata.uid }],
    ['a selector', { Selector: { os: 'linux' } }],
  ])('of %s has hosts that would get the command, and why others would not', async (_title, target) => {
    const one = world();
    expect(await one.call('previewFleet', { body: { target } })).toEqual({
      resolved: [{ node_id: nodeId(1), name: 'host 1', status: 'Connected' }],
      skipped: [{ node_id: nodeId(2), reason: 'Unhealthy' }],
    });
    expect(one.all()).toHaveLength(5);
  });

  it('EDGE-AUTH-12 refuses a group of another tenant like an unknown one', async () => {
    for (const Group of [theirs.metadata.uid, uid, 'x']) {
      expect(await world().call('previewFleet', { body: { target: { Group } } })).toMatchObject({
        details: [{ path: 'body.target.Group', message: 'is the id of no group of the tenant' }],
      });
    }
  });

  it.each<[target: unknown, isValid: boolean]>([
    [{ Node: 'a' }, true],
    [{ Node: `a${'b'.repeat(63)}` }, true],
    [{ Node: `a${'b'.repeat(64)}` }, false],
    [{ Node: 'host 1' }, false],
    [{ Node: '' }, false],
    [{ All: null }, true],
    [{ Selector: {} }, true],
    [{}, false],
    [{ All: null, Node: 'a' }, false],
    [{ Every: null }, false],
    [{ All: {} }, true],
    [{ All: { all: true } }, false],
    [{ All: true }, false],
    ['All', false],
  ])('EDGE-RES-19 AMB-102 takes %j: %s', (target, isValid) => {
    expect(Value.Check(previewFleet.body.schema, { target })).toBe(isValid);
  });
});

describe('EDGE-REST-28 a start with a key', () => {
  const policy = readFileSync(
    new URL('../../../../crds/generated/admission/fleet-run-writes.yaml', import.meta.url),
    'utf8',
  );
  const refused = [...policy.matchAll(/object\.metadata\.name\.matches\('([^']+)'\)/g)].map(
    ([, text = '']) => new RegExp(text),
  );
  const nameWith = async (headers: object): Promise<string> => {
    const one = world();
    await one.ask('invokeFleet', { body: { target: { Node: nodeId(1) }, tool: 'cmd.run' }, headers });
    return one.all().at(-1)?.metadata.name ?? '';
  };

  it('has a name that follows from its caller and key, and that the API server takes from no other writer', async () => {
    const name = await nameWith({ 'idempotency-key': 'k' });
    expect(name).toBe(await nameWith({ 'idempotency-key': 'k' }));
    expect(refused.some((pattern) => pattern.test(name))).toBe(true);
  });

  it.each(['fleet-1', `fleet-${'a'.repeat(31)}`, `fleet-${'a'.repeat(33)}`, `my-fleet-${'a'.repeat(32)}`])(
    'leaves the name %s to everybody',
    (name) => {
      expect(refused.some((pattern) => pattern.test(name))).toBe(false);
    },
  );
});

describe('the policy of a run', () => {
  it.each<[policy: object, isValid: boolean]>([
    [{ mode: 'Sequential' }, true],
    [{ mode: 'Parallel' }, true],
    [{ mode: { Rolling: { batch: 1 } } }, true],
    [{ mode: { Rolling: { batch: 0 } } }, false],
    [{ mode: 'Rolling' }, false],
    [{ mode: 'Random' }, false],
    [{ max_concurrency: 0 }, false],
    [{ max_concurrency: 1 }, true],
    [{ failure_policy: 'FailFast' }, true],
    [{ failure_policy: 'ContinueOnError' }, true],
    [{ failure_policy: { StopAfter: 1 } }, true],
    [{ failure_policy: { StopAfter: 0 } }, false],
    [{ failure_policy: 'Stop' }, false],
    [{ require_min_targets: null }, true],
    [{ require_min_targets: 0 }, true],
    [{ require_min_targets: -1 }, false],
    [{ per_target_deadline_secs: 0 }, false],
    [{ per_target_deadline_secs: 1 }, true],
    [{ retries: 1 }, false],
  ])('EDGE-RES-20 EDGE-RES-21 EDGE-RES-22 EDGE-RES-23 AMB-103 takes %j: %s', (policy, isValid) => {
    expect(Value.Check(invokeFleet.body.schema, { target: { All: null }, tool: 'a', policy })).toBe(isValid);
  });
});

describe('the name of a tool', () => {
  it.each([
    ['cmd.run', true],
    ['a-b_C.1', true],
    ['a b', false],
    ['a/b', false],
    ['', false],
  ])('%j is taken by the route as by kubectl: %s', (tool, isValid) => {
    const target = { Node: nodeId(1) };
    expect(Value.Check(invokeFleet.body.schema, { target, tool })).toBe(isValid);
    expect(Value.Check(FleetRunSpec, { target, tool, requested_by: 'ada' })).toBe(isValid);
  });
});

describe('the document of the API', () => {
  it('AMB-203 names the header with the id of the run', () => {
    const writer = { write: () => ({}) };
    expect(createResponses(invokeFleet, writer as never)).toMatchObject({
      200: { headers: { 'X-Fleet-Command-Id': { schema: { type: 'string' } }, 'X-Request-Id': {} } },
    });
  });
});

describe('EDGE-REST-28 invoking', () => {
  const body = { target: { All: null }, tool: 'cmd.run', args: { command: 'uptime' } };

  it('AMB-107 AMB-203 makes a run that the controllers carry out, and names it in a header', async () => {
    const one = world();
    const reply = await one.ask('invokeFleet', { body });
    const made = one.all().at(-1) as FleetRun;
    expect(reply).toMatchObject({ kind: 'events', headers: { 'X-Fleet-Command-Id': made.metadata.uid } });
    expect(made.spec).toEqual({ target: { All: {} }, tool: 'cmd.run', args: body.args, requested_by: 'ada' });
    expect(one.audited).toMatchObject([{ type: 'FleetRunStarted', data: { tool: 'cmd.run' } }]);
    expect(JSON.stringify(one.audited)).not.toContain('uptime');
  });

  it('AMB-108 EDGE-TOOL-06 refuses many targets for a tool of a single one, before the stream opens', async () => {
    const ask = (target: object) => world().call('invokeFleet', { body: { target, tool: 'svc.volume.list' } });
    for (const target of [{ All: null }, { All: {} }, { Group: group.metadata.uid }, { Selector: {} }]) {
      expect(await ask(target)).toMatchObject({ status: 400, error: 'tool is not fleet capable' });
    }
    expect(await ask({ Node: nodeId(1) })).toBe('events');
  });

  it('AMB-108 EDGE-TOOL-06 asks the gateway for the descriptor of a registered tool, in the tenant of the call', async () => {
    const asked: string[] = [];
    const fleetCapable = async (tenant: string, tool: string) => (asked.push(`${tenant} ${tool}`), tool === 'own.tool');
    const one = edgeWorld(hosts, { fleetCapable });
    const ask = (target: object, tool: string) => one.call('invokeFleet', { body: { target, tool } });
    expect(await ask({ All: null }, 'github.create_issue')).toMatchObject({ error: 'tool is not fleet capable' });
    expect(await ask({ All: null }, 'own.tool')).toBe('events');
    expect(await ask({ Node: nodeId(1) }, 'github.create_issue')).toBe('events');
    expect(asked).toEqual(['acme github.create_issue', 'acme own.tool']);
  });

  it('refuses an unknown group and a wrong Last-Event-ID before the stream opens, and makes nothing', async () => {
    const one = world();
    expect(await one.call('invokeFleet', { body: { ...body, target: { Group: uid } } })).toMatchObject({
      code: 'invalid',
    });
    expect(await one.call('invokeFleet', { body, headers: { 'last-event-id': 'x' } })).toMatchObject({
      code: 'invalid',
    });
    expect(one.all()).toHaveLength(5);
  });
});

const news = (number: number, more: object): EdgeNews =>
  ({
    tenant: 'acme',
    run: uid,
    node_id: nodeId(number),
    command_id: commandIdOf(uid, nodeId(number)),
    at: '2026-01-01T00:00:02Z',
    ...more,
  }) as EdgeNews;
const chunk = (text: string) => ({ stream: 'stdout', data: Buffer.from(text).toString('base64') });

/** News of a log whose first message has this sequence. */
const logged = (said: readonly EdgeNews[], first = 1) =>
  said.map((one, index) => ({ news: one, place: { sequence: first + index, storedAt: 1_000 * (first + index) } }));

async function eventsOf(run: FleetRun, said: readonly EdgeNews[], after: EventPlace = fromStart, kept = records) {
  return eventsOfLog(run, { log: logged(said), after, kept });
}

interface Reader {
  readonly log: ReturnType<typeof logged>;
  readonly after: EventPlace;
  readonly kept?: typeof records;
}

async function eventsOfLog(run: FleetRun, { log, after, kept = records }: Reader) {
  const deps = {
    clock: fasterClock,
    records: kept,
    runNews: { current: () => run, changed: async () => undefined },
    results: {
      async *follow() {
        yield* log;
        await new Promise(() => undefined);
      },
    },
  };
  const events = [];
  const followed = { tenant: 'acme', uid: run.metadata.uid ?? '', after, signal: new AbortController().signal };
  for await (const event of fleetEvents(deps as never, followed)) events.push(event);
  return events;
}

describe('the events of a run', () => {
  const said = [
    news(1, { kind: 'progress', chunk: chunk('hi') }),
    news(1, { kind: 'result', result: { outcome: 'ok', exit_code: 0, duration_ms: 7 } }),
    news(1, { kind: 'result', result: { outcome: 'ok', exit_code: 0, duration_ms: 7 } }),
  ];
  const ids = (number: number) => ({ node_id: nodeId(number), command_id: commandIdOf(uid, nodeId(number)) });
  const last = {
    id: 'end',
    event: 'fleet_result',
    data: {
      fleet_command_id: uid,
      targets_resolved: [nodeId(1), nodeId(2), nodeId(3)],
      targets_skipped: [{ node_id: nodeId(9), reason: 'Disconnected' }],
      summary,
    },
  };

  it('EDGE-REST-29 EDGE-REST-30 EDGE-REST-31 are output and one result of each host, and the whole at last', async () => {
    const events = await eventsOf(aRun(), said);
    expect(events).toEqual([
      { id: '1-1000-0', event: 'command_progress', data: { ...ids(1), chunk: { stdout: 'hi' } } },
      {
        id: '2-2000-3',
        event: 'command_result',
        data: { ...ids(1), result: { ok: { exit_code: 0, duration_ms: 7 } } },
      },
      { id: 'r2', event: 'command_result', data: { ...ids(2), result: { timed_out: { deadline_ms: 60_000 } } } },
      last,
    ]);
    for (const { data } of events) expect(Value.Check(FleetEventData, data)).toBe(true);
  });

  it('EDGE-REST-29 EDGE-FLOW-11 have whole characters, what was cut off at the end, and nothing after the result', async () => {
    const bytes = Buffer.from('a€b€');
    const part = (from: number, to: number) => ({
      stream: 'stdout',
      data: bytes.subarray(from, to).toString('base64'),
    });
    const result = { outcome: 'ok', exit_code: 0, duration_ms: 7 };
    const events = await eventsOf(aRun(), [
      news(1, { kind: 'progress', chunk: part(0, 2) }),
      news(2, { kind: 'progress', chunk: part(0, 4) }),
      news(1, { kind: 'progress', chunk: part(2, 3) }),
      news(1, { kind: 'progress', chunk: part(3, 7) }),
      news(1, { kind: 'result', result }),
      news(1, { kind: 'progress', chunk: chunk('late') }),
    ]);
    const said = events.map(({ id, event, data }) => [id, event, 'chunk' in data ? data.chunk : undefined]);
    expect(said.slice(0, 5)).toEqual([
      ['1-1000-0', 'command_progress', { stdout: 'a' }],
      ['2-2000-0', 'command_progress', { stdout: 'a€' }],
      ['4-4000-0', 'command_progress', { stdout: '€b' }],
      ['5-5000-0', 'command_progress', { stdout: '\ufffd' }],
      ['5-5000-3', 'command_result', undefined],
    ]);
    expect(JSON.stringify(events)).not.toContain('late');
  });

  it('EDGE-REST-29 have the answer of a tool that puts nothing out before its result, and the end of a long one', async () => {
    const answered = (number: number, payload: object) =>
      news(number, { kind: 'result', result: { outcome: 'ok', exit_code: 0, duration_ms: 7, payload } });
    const events = await eventsOf(aRun(), [
      answered(1, { os: 'linux', cpus: 2 }),
      answered(2, { content: `${'\u0000'.repeat(20_000)}end` }),
      answered(3, { stdout: 'said before', stderr: '', exit_code: 0 }),
    ]);
    const [first, , long, , third] = events;
    expect(first).toMatchObject({
      id: '1-1000-2',
      event: 'command_progress',
      data: { chunk: { stdout: '{"os":"linux","cpus":2}\n' } },
    });
    expect(long?.data).toMatchObject({ chunk: { stdout: expect.stringMatching(/^\0{16380}end\n$/) } });
    expect(third).toMatchObject({ id: '3-3000-3', event: 'command_result' });
  });

  it('EDGE-REST-30 have the deadline that was over, and no exit code of what is not known to have ended', async () => {
    const ended = [
      record(1, 'timed_out', { deadline_ms: 120 }),
      record(2, 'timed_out'),
      record(3, 'err', { code: 'x' }),
    ];
    const run = aRun({}, { policy: { per_target_deadline_secs: 7 } });
    const events = await eventsOf(run, [], fromStart, { ...records, pages: pagesOf(ended) });
    const results = events.flatMap(({ data }) => ('result' in data ? [data.result] : []));
    expect(results).toMatchObject([{ timed_out: { deadline_ms: 120 } }, { timed_out: { deadline_ms: 7_000 } }, {}]);
    expect(results[2]).toEqual({ err: { code: 'x', message: '' } });
    const unknown = { outcome: 'err', code: 'OutcomeUnknown', message: '', exit_code: 0 };
    const said = await eventsOf(run, [news(1, { kind: 'result', result: unknown })]);
    expect(said[0]?.data).toMatchObject({ result: { err: { code: 'OutcomeUnknown' } } });
    expect(JSON.stringify(said[0])).not.toContain('exit_code');
  });

  it('continue behind each event that a client has, and name those that follow in the same way', async () => {
    const run = aRun({ outcome: 'halted', reason: 'Halted', message: 'why' });
    const all = (await eventsOf(run, said)).map(({ id }) => id);
    expect(all).toEqual(['1-1000-0', '2-2000-3', 'r2', 'error', 'end']);
    for (const [index, id] of all.slice(0, -1).entries()) {
      const rest = await eventsOf(run, said, readEventId(id));
      expect(rest.map((event) => event.id)).toEqual(all.slice(index + 1));
    }
  });

  const result = (number: number) =>
    news(number, { kind: 'result', result: { outcome: 'ok', exit_code: 0, duration_ms: 7 } });
  const recorded = { ...records, pages: pagesOf([record(1, 'ok'), record(2, 'ok'), record(3, 'ok')]) };
  const resultsOf = async (reader: Omit<Reader, 'kept'>) =>
    (await eventsOfLog(aRun(), { ...reader, kept: recorded })).flatMap(({ event, data }) =>
      event === 'command_result' && 'node_id' in data ? [data.node_id] : [],
    );

  it.each([
    ['has dropped its oldest', 0],
    ['has dropped more than the client has read', 3],
  ])('EDGE-REST-30 have each result for a client that comes back where the log %s', async (_, dropped) => {
    const log = logged([...said, result(2), result(3)]);
    const after: EventPlace = { kind: 'log', sequence: 2, storedAt: 2_000, slot: 3 };
    expect(await resultsOf({ log: log.slice(dropped), after })).toEqual(
      dropped === 3 ? [nodeId(2), nodeId(3), nodeId(1)] : [nodeId(2), nodeId(3)],
    );
  });

  it('EDGE-REST-30 have each result for a client that comes back to a log that begins anew', async () => {
    const log = [{ news: result(2), place: { sequence: 1, storedAt: 9_000 } }];
    const after: EventPlace = { kind: 'log', sequence: 2, storedAt: 2_000, slot: 3 };
    expect(await resultsOf({ log, after })).toEqual([nodeId(2), nodeId(1), nodeId(3)]);
  });

  it.each([
    ['EDGE-REST-34 AMB-105', { outcome: 'halted', reason: 'Halted' }, 'Halted'],
    ['EDGE-REST-32', { outcome: 'refused', reason: 'RequireMinNotSatisfied' }, 'RequireMinNotSatisfied'],
    ['EDGE-REST-33', { outcome: 'refused', reason: 'EdgeUnavailable' }, 'EdgeUnavailable'],
  ] as const)('%s AMB-106 tell why, before the whole: %j', async (_id, status, reason) => {
    const events = await eventsOf(aRun({ ...status, message: 'why' }), said);
    expect(events.slice(-2)).toEqual([{ id: 'error', event: 'error', data: { reason, message: 'why' } }, last]);
  });
});

describe('the history of runs', () => {
  const refused = { ...aRun({ outcome: 'refused' }), metadata: { ...aRun().metadata, name: 'b', uid: nodeId(77) } };
  const running = {
    ...aRun({ phase: 'Running' }, { tool: 'fs.read' }),
    metadata: { ...aRun().metadata, name: 'c', uid: nodeId(78) },
  };

  it.each([
    ['complete', 'complete'],
    ['halted', 'halted'],
    ['cancelled', 'cancelled'],
    ['refused', 'halted'],
  ] as const)('EDGE-RES-27 EDGE-RES-28 has the fields of a run whose status is %s', async (outcome, shown) => {
    const policy = {
      mode: 'Sequential',
      max_concurrency: 2,
      failure_policy: 'FailFast',
      require_min_targets: 1,
    } as const;
    const ended = aRun({ outcome, ended_at: '2026-01-01T00:00:09Z' }, { policy, target: { Node: nodeId(1) } });
    const { items } = (await world(ended).call('listFleetRuns', { query: { limit: 50 } })) as {
      items: FleetRunSummary[];
    };
    expect(items).toEqual([
      {
        fleet_command_id: uid,
        tool: 'cmd.run',
        target: { Node: nodeId(1) },
        policy: { ...policy, per_target_deadline_secs: 60 },
        started_at: '2026-01-01T00:00:01Z',
        ended_at: '2026-01-01T00:00:09Z',
        outcome: shown,
        requested_by: 'ada',
        summary,
      },
    ]);
  });

  it('EDGE-REST-36 EDGE-RES-27 has the runs of a tenant, filtered by tool and outcome', async () => {
    const list = async (query: object) => {
      const asked = { query: { limit: 50, ...query } };
      const answer = await world(aRun(), refused, running).call('listFleetRuns', asked);
      const { items } = answer as { items: FleetRunSummary[] };
      for (const item of items) expect(Value.Check(FleetRunSummary, item)).toBe(true);
      return items.map(({ tool, outcome }) => `${tool} ${outcome}`).toSorted();
    };
    expect(await list({})).toEqual(['cmd.run complete', 'cmd.run halted', 'fs.read null']);
    expect(await list({ tool: 'fs.read' })).toEqual(['fs.read null']);
    expect(await list({ outcome: 'complete' })).toEqual(['cmd.run complete']);
    expect(await list({ outcome: 'cancelled' })).toEqual([]);
  });

  it.each([
    ['the newest first', [1, 2, 3, 4, 5], [5, 4, 3, 2, 1]],
    ['those of one second by their ids', [1, 1, 1, 1, 1], [1, 2, 3, 4, 5]],
    ['those of one second by their ids, the newest first', [1, 2, 2, 2, 3], [5, 2, 3, 4, 1]],
  ])('EDGE-REST-36 EDGE-TOOL-11 comes in pages, %s, each run once', async (_title, seconds, want) => {
    const runs = seconds.map((second, index) => ({
      ...aRun(),
      metadata: {
        ...aRun().metadata,
        name: `r${index}`,
        uid: nodeId(index + 1),
        creationTimestamp: `2026-01-01T00:00:0${second}Z`,
      },
    }));
    for (const stored of [runs, runs.toReversed(), [...runs.slice(2), ...runs.slice(0, 2)]]) {
      expect(await idsInPagesOf(2, stored)).toEqual(want.map(nodeId));
    }
  });

  it('ends a page of runs with large targets early, and has each of them once', async () => {
    const matcher = { AllOf: Array.from({ length: 20 }, (_, at) => `${at}`.padEnd(250, 'x')) };
    const target = { Selector: { tags: Array.from({ length: 20 }, () => matcher) } };
    const runs = Array.from({ length: 150 }, (_, at) => ({
      ...aRun({}, { target }),
      metadata: { ...aRun().metadata, name: `r${at}`, uid: nodeId(at + 1) },
    }));
    const page = (await world(...runs).call('listFleetRuns', { query: { limit: 200 } })) as {
      items: FleetRunSummary[];
    };
    expect(page.items.length).toBeLessThan(100);
    expect(await idsInPagesOf(200, runs)).toEqual(runs.map(({ metadata }) => metadata.uid));
  });

  /** Ids of all runs, page by page. */
  async function idsInPagesOf(limit: number, runs: readonly FleetRun[]): Promise<string[]> {
    const one = world(...runs);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const asked = { query: { limit, ...(cursor === undefined ? {} : { cursor }) } };
      const page = (await one.call('listFleetRuns', asked)) as { items: FleetRunSummary[]; next_cursor: string | null };
      expect(page.items.length).toBeLessThanOrEqual(limit);
      seen.push(...page.items.map(({ fleet_command_id: id }) => id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return seen;
  }

  it('shows a target that the cache has left out, of a list and of one run', async () => {
    const tags = Array.from({ length: 50 }, (_, at) => `tag-${at}`);
    const target = { Selector: { tags: [{ AllOf: tags }] } };
    const run = aRun({}, { target });
    const slim = slimFleetRun(run);
    const reserved: number[] = [];
    const fleetRuns = { list: () => [slim], locate: async () => slim, whole: async () => run };
    const { call } = edgeWorld([], { records, cluster: { fleetRuns } as never });
    const reserve = async (bytes: number) => void reserved.push(bytes);
    expect(slim.spec.target).toEqual({});
    expect(await call('listFleetRuns', { reserve })).toMatchObject({ items: [{ target }] });
    expect(reserved).toEqual([pageBytes]);
    expect(await call('readFleetRun', { params: { fleet_command_id: uid } })).toMatchObject({ target });
  });

  it.each([
    { record: undefined, want: { per_node: [], records_lost: true } },
    { record: [], want: { per_node: [] } },
  ])('EDGE-REST-37 says whether the record of a run is lost: $want', async ({ record: found, want }) => {
    const one = edgeWorld([aRun()], { records: { ...records, perNode: async () => found } });
    const { per_node, records_lost } = (await one.call('readFleetRun', {
      params: { fleet_command_id: uid },
    })) as FleetRunView;
    expect({ per_node, ...(records_lost !== undefined && { records_lost }) }).toEqual(want);
  });

  it('EDGE-REST-37 EDGE-RES-29 EDGE-REST-38 has each host in the view of one run, and why it has no result of its own', async () => {
    const all = [...perNode, record(4, 'err', lost)];
    const one = edgeWorld([aRun()], { records: { ...records, perNode: async () => all } });
    const answer = await one.call('readFleetRun', { params: { fleet_command_id: uid } });
    expect(answer).toMatchObject({ target: { All: null }, policy: { max_concurrency: 10 }, summary });
    const of = (number: number) => ({ node_id: nodeId(number), command_id: commandIdOf(uid, nodeId(number)) });
    const rest = { duration_ms: 5, stdout_tail: 'out', stderr_tail: '' };
    expect((answer as FleetRunView).per_node).toEqual([
      { ...of(1), outcome: 'ok', exit_code: 0, ...rest },
      { ...of(2), outcome: 'timed_out', exit_code: null, ...rest, ...late },
      { ...of(3), outcome: 'not_started', exit_code: null, ...rest },
      { ...of(4), outcome: 'err', exit_code: null, ...rest, ...lost },
    ]);
    expect(Value.Check(FleetRunView, answer)).toBe(true);
  });

  it('EDGE-REST-37 asks for outcomes that are not stored yet, and reads the run after them', async () => {
    const run = aRun({ phase: 'Running', per_node_ref: [{ ref: 'a', bytes: 1_000, nodes: 1 }] });
    const steps: string[] = [];
    const open = [record(1, 'ok')];
    const reserved: number[] = [];
    const one = edgeWorld([run], {
      records: {
        ...records,
        open: async (id) => (steps.push(`open ${id}`), open),
        perNode: async (read, asked) => (steps.push(`record ${read.metadata.uid}`), [...(asked ?? [])]),
      },
    });
    const reserve = async (bytes: number) => void reserved.push(bytes);
    const answer = await one.call('readFleetRun', { params: { fleet_command_id: uid }, reserve });
    expect((answer as FleetRunView).per_node.map(({ node_id }) => node_id)).toEqual([nodeId(1)]);
    expect(steps).toEqual([`open ${uid}`, `record ${uid}`]);
    expect(reserved).toEqual([1_000 + Buffer.byteLength(JSON.stringify(open))]);
  });

  it('EDGE-REST-37 asks nothing of a run that has ended', async () => {
    const open = () => Promise.reject(new Error('the run has ended'));
    const one = edgeWorld([aRun()], { records: { ...records, open } });
    expect(await one.call('readFleetRun', { params: { fleet_command_id: uid } })).toMatchObject({
      outcome: 'complete',
    });
  });

  it.each(['readFleetRun', 'cancelFleet'])(
    'EDGE-AUTH-12 %s does not find a run of another tenant',
    async (operation) => {
      const ask = (id: string, caller = {}) =>
        world(aRun()).call(operation, { params: { fleet_command_id: id } }, caller);
      for (const answer of [await ask(uid, { tenant: 'other' }), await ask(nodeId(99)), await ask('fleet-1')]) {
        expect(answer).toEqual({ error: 'Fleet run not found', code: 'not_found' });
      }
    },
  );
});

describe('EDGE-REST-35 cancelling', () => {
  const cancel = (...runs: FleetRun[]) => world(...runs).call('cancelFleet', { params: { fleet_command_id: uid } });

  it('AMB-109 answers how many commands were in flight when it was taken up', async () => {
    const run = aRun({ phase: 'Running', cancellation: { cancelled: 2, already_terminal: 1 } });
    expect(await cancel(run)).toEqual({ fleet_command_id: uid, cancelled: 2, already_terminal: 1 });
  });

  it.each([
    ['by itself', aRun(), 2],
    [
      'by a cancellation',
      aRun({
        outcome: 'cancelled',
        cancellation: { cancelled: 3, already_terminal: 1 },
        summary: { ok: 1, err: 0, timed_out: 0, cancelled: 3, not_started: 2 },
      }),
      4,
    ],
  ])('AMB-109 cancels nothing of a run that has ended %s', async (_how, run, terminal) => {
    expect(await cancel(run)).toEqual({ fleet_command_id: uid, cancelled: 0, already_terminal: terminal });
  });

  it.each(['', '{}'])('EDGE-REST-35 takes the body %j', async (text) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(text.length) };
    const message = Object.assign(Readable.from([Buffer.from(text)]), { headers }) as unknown as IncomingMessage;
    const source = { message, onRead: () => undefined, ...endlessRoom, reserve: async () => undefined };
    expect((await readBody(source, cancelFleet.body)) ?? {}).toEqual({});
  });

  it('AMB-109 answers what a cancellation met that ends the run at once', async () => {
    const one = edgeWorld([aRun({ phase: 'Running' })], {
      clock: {
        ...systemClock,
        async sleep() {
          const run = one.all()[0] as FleetRun;
          const cancellation = { cancelled: 2, already_terminal: 1 };
          Object.assign(run, { status: { ...run.status, phase: 'Ended', outcome: 'cancelled', cancellation } });
        },
      },
    });
    const answer = await one.call('cancelFleet', { params: { fleet_command_id: uid } });
    expect(answer).toEqual({ fleet_command_id: uid, cancelled: 2, already_terminal: 1 });
  });

  it('AMB-109 answers at the change by which the controllers take it up, and asks the Kubernetes API no second time', async () => {
    const run = aRun({ phase: 'Running' });
    const changed = Promise.withResolvers<void>();
    const isWaiting = Promise.withResolvers<void>();
    let seen = run;
    const one = edgeWorld([run], {
      clock: createManualClock(),
      runNews: { current: () => seen, changed: () => (isWaiting.resolve(), changed.promise) },
    });
    const answer = one.call('cancelFleet', { params: { fleet_command_id: uid } });
    await isWaiting.promise;
    seen = aRun({ phase: 'Running', cancellation: { cancelled: 2, already_terminal: 1 } });
    changed.resolve();
    expect(await answer).toEqual({ fleet_command_id: uid, cancelled: 2, already_terminal: 1 });
  });

  it('AMB-109 answers 404 for a run that was deleted before the controllers took it up', async () => {
    const one = world(aRun({ phase: 'Running' }));
    const { kube } = one;
    const patched = kube.jsonPatch;
    Object.assign(kube, {
      jsonPatch: async (...args: Parameters<typeof patched>) => {
        const answer = await patched(...args);
        await kube.delete({ kind: 'FleetRun' }, { namespace: 'tenant-acme', name: 'fleet-1' });
        return answer;
      },
    });
    expect(await one.call('cancelFleet', { params: { fleet_command_id: uid } })).toMatchObject({ code: 'not_found' });
  });

  it('writes who cancels, once, and says when the controllers do not take it up', async () => {
    const one = world(aRun({ phase: 'Running' }));
    const ask = () => one.call('cancelFleet', { params: { fleet_command_id: uid } });
    expect(await ask()).toMatchObject({ code: 'unavailable' });
    const first = (one.all().at(-1) as FleetRun).spec.cancel;
    expect(first).toMatchObject({ by: 'ada', via: 'api' });
    await ask();
    expect((one.all().at(-1) as FleetRun).spec.cancel).toEqual(first);
  });
});

describe('scopes of runs', () => {
  it.each([
    ['EDGE-AUTH-06', 'previewFleet', 'svc.edge.fleet.read'],
    ['EDGE-AUTH-06', 'listFleetRuns', 'svc.edge.fleet.read'],
    ['EDGE-AUTH-06', 'readFleetRun', 'svc.edge.fleet.read'],
    ['EDGE-AUTH-07', 'invokeFleet', 'svc.edge.fleet.manage'],
    ['EDGE-AUTH-07', 'cancelFleet', 'svc.edge.fleet.manage'],
  ])('%s EDGE-AUTH-08 %s needs %s', async (_id, operation, scope) => {
    const request = {
      params: { fleet_command_id: uid },
      query: { limit: 1 },
      body: { target: { All: null }, tool: 'cmd.run' },
    };
    const ask = (scopes: readonly string[]) => world(aRun()).call(operation, request, { scopes });
    expect(await ask([scope])).not.toHaveProperty('error');
    const others = everyEdgeScope.filter((one) => one !== scope);
    expect(await ask(others)).toMatchObject({ error: 'forbidden', message: `this needs the scope ${scope}` });
  });
});
