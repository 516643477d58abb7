import { describe, expect, it } from 'vitest';
import { exitCodes } from '../exit-codes.ts';
import { createLaunch } from '../launch.ts';
import type { CommandWorld } from '../command-context.ts';
import { edgeCommand } from './edge.ts';

const [idA, idB, runId] = [1, 2, 9].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`) as [
  string,
  string,
  string,
];
const host = (node_id: string, name: string) => ({
  node_id,
  name,
  tenant_id: 'acme',
  status: 'Connected',
  since: '2026-01-02T03:04:05Z',
  last_heartbeat_at: null,
  tags: ['web'],
  capabilities: { os: 'linux', arch: 'amd64', local_tools: ['cmd.run'], labels: { zone: 'a' } },
});

const result = { exit_code: null, duration_ms: null, stdout_tail: '', stderr_tail: '' };
const fleetRun = {
  fleet_command_id: runId,
  tool: 'cmd.run',
  outcome: 'halted',
  message: 'the failure policy has stopped the run',
  per_node: [
    { ...result, node_id: idA, outcome: 'ok', exit_code: 0, duration_ms: 1_500, stdout_tail: 'one\ntwo\n' },
    { ...result, node_id: idB, outcome: 'err', code: 'ToolMissing', message: 'the host has no cmd.run' },
    { ...result, node_id: runId, outcome: 'cancelled', message: 'the run was \u001b[2Kcancelled' },
  ],
};

interface Scenario {
  readonly events?: readonly object[];
  readonly hosts?: readonly object[];
  readonly columns?: number;
  /** The API refuses the list of hosts. */
  readonly isHidden?: boolean;
  /** A terminal shows the output. */
  readonly live?: boolean;
}

/** Output, requests and exit code of a command, against an API that streams these events. */
async function ran(argv: readonly string[], scenario: Scenario = {}) {
  const {
    events = [],
    hosts = [host(idA, 'a'), host(idB, 'b')],
    columns = 200,
    isHidden = false,
    live = false,
  } = scenario;
  const [out, notes, asked]: [string[], string[], unknown[]] = [[], [], []];
  const heard =
    <T>(answer: T) =>
    async (request: unknown) => {
      asked.push(request);
      return answer;
    };
  const edge = {
    issueEnrollmentToken: heard({
      token: 'e.y.j',
      expires_at: '2026-01-02T03:19:05Z',
      controller_endpoint: 'edge.example.com:443',
      qr_payload: 'svc-edge-enroll://e.y.j',
    }),
    listEdgeHosts: async () => {
      if (isHidden) throw new Error('forbidden');
      return { items: hosts, next_cursor: null };
    },
    tagEdgeHost: heard(host(idA, 'a')),
    changeEdgeHost: heard(host(idA, 'c')),
    revokeEdgeHost: heard(undefined),
    drainEdgeHost: heard(host(idA, 'a')),
    resumeEdgeHost: heard(host(idA, 'a')),
    pushEdgeConfig: heard({ version: '7' }),
    shutDownEdgeHost: heard(undefined),
    listEdgeGroups: async () => ({
      items: [
        {
          id: runId,
          name: 'web',
          selector: null,
          pinned_members: [],
          created_at: '2026-01-02T03:04:05Z',
          resolved_member_count: 2,
        },
      ],
      next_cursor: null,
    }),
    createEdgeGroup: heard({ id: runId, name: 'web', resolved_members: hosts }),
    previewFleet: async () => ({ resolved: hosts, skipped: [{ node_id: 'gone', reason: 'Disconnected' }] }),
    readFleetRun: heard(fleetRun),
    cancelFleet: heard({ fleet_command_id: runId, cancelled: 1, already_terminal: 2 }),
    async *invokeFleet(request: { body: unknown }, options: { onHeaders: (headers: Headers) => void }) {
      asked.push(request.body);
      options.onHeaders(new Headers({ 'x-fleet-command-id': runId }));
      for (const data of events) yield { data };
    },
  };
  const terminal = {
    out: (line: string) => out.push(line),
    note: (line: string) => notes.push(line),
    live,
    columns: () => columns,
  };
  const backend = { kind: 'http', words: { place: 'in tenant acme', flags: '' }, edge: () => edge };
  const clock = { now: () => Date.parse('2026-01-02T03:05:05Z') };
  const files = { read: async () => 'labels: { ring: "1" }\n' };
  const world = {
    terminal,
    clock,
    files,
    interrupted: new AbortController().signal,
    open: { backend: async () => backend },
  };
  let code: number | undefined;
  const launch = createLaunch(world as unknown as CommandWorld, (exit) => (code = exit));
  await edgeCommand(launch).parseAsync(argv, { from: 'user' });
  return { out, notes, asked, code };
}

const output = (node_id: string, stdout: string) => ({ node_id, command_id: 'c', chunk: { stdout } });
const ended = (node_id: string, result: object) => ({ node_id, command_id: 'c', result });
const good = (exit_code = 0) => ({ ok: { exit_code, duration_ms: 5 } });
const end = (...targets: string[]) => ({
  fleet_command_id: runId,
  targets_resolved: targets,
  targets_skipped: [],
  summary: { ok: 0, err: 0, timed_out: 0, cancelled: 0, not_started: 0 },
});

describe('windlass edge token', () => {
  it('prints the token alone on standard output, and what to do with it beside', async () => {
    const { out, notes, asked } = await ran(['token', '--name', 'build-7', '--ttl', '5m']);
    expect(asked).toEqual([{ body: { name: 'build-7', ttl_seconds: 300, team_tenant_id: undefined } }]);
    expect(out).toEqual(['e.y.j']);
    expect(notes[1]).toBe('windlass-edge enroll --token-file FILE --endpoint edge.example.com:443');
  });

  it('draws qr_payload as a QR code, and prints the token where the terminal is too narrow', async () => {
    const { out } = await ran(['token', '--qr']);
    expect(out.length).toBeGreaterThan(10);
    expect(new Set(out.join(''))).toEqual(new Set(['█', '▀', '▄', ' ']));
    const { out: narrow, notes } = await ran(['token', '--qr'], { columns: out[0]?.length ? out[0].length - 1 : 1 });
    expect([narrow, notes[0]]).toEqual([['e.y.j'], expect.stringMatching(/columns wide/)]);
  });
});

describe('windlass edge hosts', () => {
  it('lists hosts without a further word, and more with -o wide', async () => {
    const { out } = await ran(['hosts']);
    expect(out).toEqual([
      'NAME   STATUS      SINCE   OS      TAGS   ID',
      `a      Connected   60s     linux   web    ${idA}`,
      `b      Connected   60s     linux   web    ${idB}`,
    ]);
  });

  it('finds a host by its name, which need not be unique', async () => {
    expect((await ran(['hosts', 'set', 'b', '--add-tag', 'x'])).asked).toEqual([
      { id: idB, body: { add: ['x'], remove: undefined } },
    ]);
    await expect(ran(['hosts', 'set', 'c', '--add-tag', 'x'])).rejects.toThrow("no host is named 'c'");
    const twins = { hosts: [host(idA, 'a'), host(idB, 'a')] };
    await expect(ran(['hosts', 'set', 'a', '--add-tag', 'x'], twins)).rejects.toThrow("2 hosts are named 'a'");
    await expect(ran(['hosts', 'set', 'a'])).rejects.toThrow('nothing is to be changed');
  });

  it('EDGE-FLOW-13 drains a host, and undoes it', async () => {
    const drained = await ran(['hosts', 'drain', 'a']);
    expect([drained.asked, drained.out]).toEqual([[{ id: idA }], ['host a drains']]);
    expect((await ran(['hosts', 'drain', 'a', '--undo'])).out).toEqual(['host a is a target again']);
  });

  it('EDGE-FLOW-12 pushes the labels and security contexts of a file', async () => {
    const { asked, out } = await ran(['hosts', 'push-config', 'a', '-f', 'change.yaml', '--version-name', '7']);
    expect(asked).toEqual([{ id: idA, body: { config: { labels: { ring: '1' } }, version: '7' } }]);
    expect(out).toEqual(['host a was sent configuration 7']);
  });

  it.each<[words: readonly string[], body: object]>([
    [[], {}],
    [['--grace', '0'], { grace_secs: 0 }],
    [['--grace', '3600'], { grace_secs: 3_600 }],
  ])('EDGE-FLOW-15 shuts a daemon down with %j', async (words, body) => {
    const { asked, out } = await ran(['hosts', 'shutdown', 'a', '--yes', ...words]);
    expect([asked, out]).toEqual([[{ id: idA, body }], ['host a shuts down']]);
  });

  it.each([
    [['--grace', '1']],
    [['--yes', '--grace', '3601']],
    [['--yes', '--grace', '-1']],
    [['--yes', '--grace', 'x']],
  ])('EDGE-FLOW-15 asks nothing with %j', async (words) => {
    await expect(ran(['hosts', 'shutdown', 'a', ...words])).rejects.toMatchObject({ name: 'CliError' });
  });

  it('revokes with --yes alone', async () => {
    await expect(ran(['hosts', 'revoke', 'a'])).rejects.toThrow('cannot be undone');
    expect((await ran(['hosts', 'revoke', 'a', '--yes'])).asked).toEqual([{ id: idA }]);
  });
});

describe('windlass edge groups', () => {
  it('makes a group of a selector and pinned hosts', async () => {
    const argv = ['groups', 'create', 'web', '--os', 'linux', '--tag', 'web', '--label', 'zone=1', '--pin', 'b'];
    const { asked, out } = await ran(argv);
    const selector = { os: 'linux', tags: [{ Has: 'web' }], labels: [{ Equals: { zone: '1' } }] };
    expect(asked).toEqual([{ body: { name: 'web', selector, pinned_members: [idB] } }]);
    expect(out).toEqual([`group web (${runId}) has 2 hosts`]);
  });

  it.each([
    [['groups', 'create', 'web'], /nothing says which hosts/],
    [['groups', 'create', 'web', '--all', '--os', 'linux'], /every host/],
    [['groups', 'create', 'web', '--label', 'zone'], /not KEY=VALUE/],
  ])('%j is refused', async (argv, sentence) => {
    await expect(ran(argv)).rejects.toThrow(sentence);
  });
});

describe('windlass edge run', () => {
  it('sends the command behind -- with target and policy', async () => {
    const flags = ['--group', 'web', '--batch', '2', '--stop-after', '1', '--deadline', '90s'];
    const { asked } = await ran(['run', ...flags, '--', 'systemctl', 'restart', '-q'], { events: [end()] });
    expect(asked).toEqual([
      {
        target: { Group: runId },
        tool: 'cmd.run',
        args: { command: 'systemctl', args: ['restart', '-q'] },
        policy: { mode: { Rolling: { batch: 2 } }, failure_policy: { StopAfter: 1 }, per_target_deadline_secs: 90 },
      },
    ]);
  });

  it.each([
    [['--host', 'a'], { Node: idA }],
    [['--all'], { All: null }],
    [['--tag', 'x', '--has-tool', 'cmd.run'], { Selector: { tools: ['cmd.run'], tags: [{ Has: 'x' }] } }],
  ])('%j is a target', async (flags, target) => {
    const { asked } = await ran(['run', ...flags, '--tool', 'host.info', '--arg', 'n=3'], { events: [end()] });
    expect(asked).toMatchObject([{ target, tool: 'host.info', args: { n: 3 } }]);
  });

  it.each([
    ['no host of its target can take a command', ['gone', 'lost'], 'none of 2 hosts of the target can take a command'],
    ['its target means no host', [], 'the target means no host'],
  ])('says of a run that %s', async (_title, skipped, want) => {
    const targets_skipped = skipped.map((node_id) => ({ node_id, reason: 'Disconnected' }));
    const { notes } = await ran(['run', '--all', '--', 'ls'], { hosts: [], events: [{ ...end(), targets_skipped }] });
    expect(notes.at(-1)).toBe(`run ${runId}: ${want}`);
  });

  it.each([
    ['by the names of those that are known', {}, ['b skipped: Disconnected', 'gone skipped: NotFound']],
    [
      'by their ids where no host may be read',
      { isHidden: true },
      [`${idB} skipped: Disconnected`, 'gone skipped: NotFound'],
    ],
  ])('names skipped hosts %s', async (_title, scenario, want) => {
    const targets_skipped = [
      { node_id: idB, reason: 'Disconnected' },
      { node_id: 'gone', reason: 'NotFound' },
    ];
    const events = [ended(idA, good()), { ...end(idA), targets_skipped }];
    const { notes, code } = await ran(['run', '--all', '--', 'ls'], { events, ...scenario });
    expect([notes, code]).toEqual([[...want, `run ${runId}: 1 ok`], exitCodes.ok]);
  });

  it('prints whole lines, each with its host, and a summary beside', async () => {
    const events = [
      output(idA, 'one\ntw'),
      output(idB, 'x'),
      output(idA, 'o\n'),
      ended(idB, good()),
      ended(idA, good()),
    ];
    const { out, notes, code } = await ran(['run', '--all', '--', 'ls'], { events: [...events, end(idA, idB)] });
    expect(out).toEqual(['a | one', 'a | two', 'b | x']);
    expect([notes, code]).toEqual([[`run ${runId}: 2 ok`], exitCodes.ok]);
  });

  it('prints the answer of another tool than cmd.run, in a terminal as well', async () => {
    const events = [output(idA, '{"os":"linux"}\n'), ended(idA, good()), end(idA)];
    const { out } = await ran(['run', '--host', 'a', '--tool', 'host.info'], { events, live: true });
    expect(out).toEqual(['a | {"os":"linux"}']);
  });

  it('lets no output move the cursor or pass for the line of another host', async () => {
    const events = [output(idA, '\u001b[2Jx\rb | y\n'), ended(idA, good()), end(idA)];
    expect((await ran(['run', '--all', '--', 'ls'], { events })).out).toEqual(['a | �[2Jx�b | y']);
  });

  it.each([
    ['each host with exit code 0', [ended(idA, good()), end(idA)], exitCodes.ok],
    ['another exit code', [ended(idA, good(3)), end(idA)], exitCodes.failed],
    ['an error', [ended(idA, { err: { code: 'X', message: 'y' } }), end(idA)], exitCodes.failed],
    ['a timeout', [ended(idA, { timed_out: { deadline_ms: 5 } }), end(idA)], exitCodes.failed],
    ['a cancellation', [ended(idA, { cancelled: { reason: '' } }), end(idA)], exitCodes.cancelled],
    ['a host that was not started', [end(idA)], exitCodes.failed],
    ['a refused run', [{ reason: 'EdgeUnavailable', message: 'm' }, end()], exitCodes.failed],
    ['no host at all', [end()], exitCodes.failed],
  ])('%s decides the exit code', async (_name, events, exit) => {
    expect((await ran(['run', '--all', '--', 'ls'], { events })).code).toBe(exit);
  });

  it.each([
    [['--', 'ls'], /nothing says which hosts/],
    [['--all', '--host', 'a', '--', 'ls'], /several targets/],
    [['--all'], /nothing is to be run/],
    [['--all', '--tool', 'x', '--', 'ls'], /a command is the tool cmd.run/],
    [['--all', '--sequential', '--batch', '2', '--', 'ls'], /exclude each other/],
    [['--all', '--fail-fast', '--stop-after', '2', '--', 'ls'], /exclude each other/],
    [['--all', '--batch', '0', '--', 'ls'], /not a number of hosts/],
  ])('%j is refused', async (argv, sentence) => {
    await expect(ran(['run', ...argv])).rejects.toThrow(sentence);
  });

  it('--preview shows who would run it, and --detach the id of the run', async () => {
    const { out, asked } = await ran(['run', '--all', '--preview']);
    expect([out.length, asked]).toEqual([4, []]);
    expect((await ran(['run', '--all', '--detach', '--', 'ls'], { events: [end()] })).out).toEqual([
      `run ${runId} started`,
    ]);
  });
});

it('windlass edge cancel says how many commands it reached', async () => {
  expect((await ran(['cancel', runId])).out).toEqual([`run ${runId}: 1 cancelled, 2 had ended`]);
});

it('windlass edge runs get says of each host how it ended, and why it has no result of its own', async () => {
  const { out, notes } = await ran(['runs', 'get', runId]);
  expect(notes).toEqual(['cmd.run halted: the failure policy has stopped the run']);
  const cells = out.map((line) => line.split(/ {2,}/).map((cell) => cell.trim()));
  expect(cells[0]).toEqual(['HOST', 'OUTCOME', 'EXIT', 'TOOK', 'OUTPUT', 'WHY']);
  expect(cells[1]).toEqual(expect.arrayContaining(['a', 'ok', '0', 'two']));
  expect(cells[2]).toEqual(expect.arrayContaining(['b', 'err', 'ToolMissing: the host has no cmd.run']));
  expect(cells[1]?.join(' ')).not.toContain('ToolMissing');
  expect(cells[3]?.join(' ')).toContain('the run was');
  expect(out.join('')).not.toContain('\u001b');
});
