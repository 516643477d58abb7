import { describe, expect, it, vi } from 'vitest';
import type { EdgeGroup } from '../../crds/schema/edge-group.ts';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import type { FleetRunSpec } from '../../crds/schema/fleet-run.ts';
import { systemClock } from '../../lib/clock.ts';
import { argsHash, createEdgeResults, type EdgeOutcome, readCommandToken } from '../../lib/edge/index.ts';
import { perNodeOf as records, recordsOf, FleetServer as Server } from '../../test/support/fleet-controller.ts';
import { useFleetControllers } from '../../test/support/fleet-controllers.ts';
import { echoTool, serveTools } from '../../test/support/gateway.ts';
import { hurriedClock } from '../../test/support/faster-clock.ts';
import { type Answer, hostsNamed, type Invoke, type RelayPeer, startRelayPeer } from '../../test/support/relay-peer.ts';
import { fleetRunLimits } from './limits.ts';

const nats = useFleetControllers();
const { publicKey, start } = nats;

const ended = (server: Server, timeout = 15_000) =>
  vi.waitFor(() => expect(server.status.phase).toBe('Ended'), { timeout, interval: 10 });

const ok: EdgeOutcome = { outcome: 'ok', exit_code: 0, duration_ms: 5 };
const err: EdgeOutcome = { outcome: 'err', code: 'CommandFailed', message: 'no', exit_code: 2 };

const relay = (hosts: readonly EdgeHost[], answer: Answer): Promise<RelayPeer> =>
  startRelayPeer(nats.connect(), hosts, answer);

describe('a fleet run on a real NATS server', () => {
  it('EDGE-RES-25 EDGE-RES-27 EDGE-RES-29 sends the tool to each host of its target and records how each ended', async () => {
    const hosts = hostsNamed(3);
    const peer = await relay(hosts, async (_request, node) => (node.endsWith('1') ? err : ok));
    const server = new Server({});
    const { facts } = start(server, hosts);
    await ended(server);
    expect(server.status).toMatchObject({
      outcome: 'complete',
      targets_resolved: 3,
      targets_skipped: 0,
      summary: { ok: 2, err: 1, timed_out: 0, cancelled: 0, not_started: 0 },
      conditions: [{ type: 'Succeeded', status: 'True', reason: 'Completed' }],
    });
    const perNode = (await records(server)).toSorted((a, b) => a.node_id.localeCompare(b.node_id));
    expect(perNode.map(({ node_id: id, outcome, exit_code: code }) => [id, outcome, code])).toEqual([
      ['n00000', 'ok', 0],
      ['n00001', 'err', 2],
      ['n00002', 'ok', 0],
    ]);
    expect(perNode[0]).toMatchObject({ stdout_tail: 'out of n00000', stderr_tail: '', duration_ms: 5 });
    expect(facts.map(({ type }) => type)).toEqual(['FleetRunStarted', 'FleetRunEnded']);
    const [first] = peer.got as Invoke[];
    const claims = await readCommandToken(publicKey, first?.command.token ?? '', Date.now());
    expect(claims).toMatchObject({
      author: 'ada',
      tid: 'acme',
      node: first?.host.nodeId,
      commandId: first?.command.commandId,
      ah: argsHash('cmd.run', { command: 'id' }),
      deadlineSeconds: 60,
    });
    expect(first?.command).toMatchObject({ deadlineMs: 60_000, tool: 'cmd.run' });
  });

  it('EDGE-RES-29 EDGE-REST-37 tells of a run under way which hosts have an outcome, in the order in which they got it', async () => {
    const hosts = hostsNamed(4);
    const last = Promise.withResolvers<void>();
    await relay(hosts, async (_request, node) => {
      if (node === 'n00000') await last.promise;
      if (node === 'n00001') return undefined;
      return node === 'n00003' ? systemClock.sleep(300).then(() => err) : ok;
    });
    const server = new Server({ policy: { per_target_deadline_secs: 600 } });
    const process = start(server, hosts);
    const api = recordsOf(server, nats.connect());
    const seen = async () => {
      const open = await api.open(server.run.metadata.uid ?? '');
      return (await api.perNode(server.run, open))?.map(({ node_id: id, outcome }) => `${id} ${outcome}`);
    };
    const seenBecomes = (want: readonly string[]) =>
      vi.waitFor(async () => expect(await seen()).toEqual(want), { timeout: 10_000, interval: 20 });
    await seenBecomes(['n00002 ok', 'n00003 err']);
    last.resolve();
    await seenBecomes(['n00002 ok', 'n00003 err', 'n00000 ok']);
    expect(server.status.per_node_ref).toBeUndefined();
    await process.kill();
    // Its process is gone, and no other one has taken over: what is stored is all that is known.
    expect(await seen()).toEqual([]);
    start(server, hosts);
    await seenBecomes(['n00002 ok', 'n00003 err', 'n00000 ok']);
    expect(server.status.phase).toBe('Running');
  });

  it('EDGE-RES-29 EDGE-REST-37 tells of each host once where a part of the record is stored already', async () => {
    const hosts = hostsNamed(530);
    await relay(hosts, async (_request, node) => (node < 'n00520' ? ok : undefined));
    const server = new Server({ policy: { max_concurrency: 100, per_target_deadline_secs: 600 } });
    start(server, hosts);
    const api = recordsOf(server, nats.connect());
    await vi.waitFor(
      async () => {
        const open = await api.open(server.run.metadata.uid ?? '');
        const known = (await api.perNode(server.run, open)) ?? [];
        expect(new Set(known.map(({ node_id: id }) => id)).size).toBe(known.length);
        expect(known).toHaveLength(520);
        expect(server.status.per_node_ref).toHaveLength(1);
        expect(open.length).toBeLessThan(520);
      },
      { timeout: 30_000, interval: 100 },
    );
  });

  it('EDGE-RES-23 sends nothing where fewer hosts resolve than the policy asks for', async () => {
    const hosts = hostsNamed(2);
    const peer = await relay(hosts, async () => ok);
    const server = new Server({ policy: { require_min_targets: 3 } });
    start(server, hosts);
    await ended(server);
    expect(server.status).toMatchObject({
      outcome: 'refused',
      reason: 'RequireMinNotSatisfied',
      summary: { not_started: 2 },
    });
    expect(peer.got).toEqual([]);
  });

  it('AMB-110 is complete over no host, and its reason and message say that nothing ran', async () => {
    const server = new Server({ target: { All: {} } });
    start(server, []);
    await ended(server);
    expect(server.status).toMatchObject({
      outcome: 'complete',
      reason: 'NoTargets',
      message: expect.stringContaining('nothing ran'),
      conditions: [{ type: 'Succeeded', status: 'True', reason: 'NoTargets' }],
    });
  });

  it.each([
    ['EDGE-REST-33 refuses a Node target that is unknown', { target: { Node: 'nobody' } }, 'EdgeUnavailable'],
    ['EDGE-RES-19 refuses a group that is not there', { target: { Group: 'nothing' } }, 'GroupNotFound'],
    ['AMB-108 refuses a tool for one host alone', { tool: 'svc.agent.list' }, 'NotFleetCapable'],
    ['EDGE-RES-20 refuses a mode that got past admission', { policy: { mode: 'Odd' } }, 'InvalidPolicy'],
    ['EDGE-REST-28 refuses arguments that are too large', { args: { x: 'y'.repeat(70_000) } }, 'ArgumentsTooLarge'],
  ])('%s', async (_title, spec, reason) => {
    const server = new Server(spec as Partial<FleetRunSpec>);
    start(server, hostsNamed(1));
    await ended(server);
    expect(server.status).toMatchObject({ outcome: 'refused', reason });
  });

  it('EDGE-RES-19 waits for a namespace that was made a tenant just before the run, and refuses it when its time is over', async () => {
    const [server, late] = [new Server({}), new Server({})];
    const created = Date.now();
    let [nowMs, tenant] = [created + fleetRunLimits.unknownMs - 1, undefined as string | undefined];
    for (const run of [server, late]) run.change({ metadata: { creationTimestamp: new Date(created).toISOString() } });
    const clock = { ...systemClock, now: () => nowMs };
    const again = { requeueAfterMs: fleetRunLimits.retryMs, reason: 'NotATenant' };
    const [first, second] = [
      start(server, [], { clock, tenantOf: () => tenant }),
      start(late, [], { clock, tenantOf: () => undefined }),
    ];
    expect([await first.look(), await second.look()]).toEqual([again, again]);
    tenant = 'acme';
    await ended(server);
    expect(server.status).toMatchObject({ outcome: 'complete', reason: 'NoTargets' });
    nowMs += 1;
    await ended(late);
    expect(late.status).toMatchObject({ phase: 'Ended', outcome: 'refused', reason: 'NotATenant' });
  });

  it('D8 EDGE-RES-19 waits for a tenant that the API server has and the cache does not, however old the run is', async () => {
    const server = new Server({ target: { All: {} } });
    let tenant: string | undefined;
    const process = start(server, [], { tenantOf: () => tenant, readTenant: async () => 'acme' });
    const again = { requeueAfterMs: fleetRunLimits.tenantAgainMs, reason: 'NotATenant' };
    expect(await process.look()).toEqual(again);
    tenant = 'acme';
    process.wake();
    await ended(server);
    expect(server.status).toMatchObject({ outcome: 'complete' });
  });

  it.each([
    ['names as Node', { target: { Node: 'n00001' } }, ['edgehost']],
    ['means by All, and its policy needs', { policy: { require_min_targets: 1 } }, ['edgehosts']],
    ['means by All', {}, ['edgehosts']],
    ['pins by its group', { target: { Group: 'g-1' } }, ['edgegroup', 'edgehosts']],
  ])('D8 EDGE-RES-19 sends to a host that it %s, and that the cache lacks', async (_title, spec, asked) => {
    const [other, host] = hostsNamed(2) as [EdgeHost, EdgeHost];
    const peer = await relay([other, host], async () => ok);
    const group: EdgeGroup = {
      apiVersion: 'windlass.dev/v1',
      kind: 'EdgeGroup',
      metadata: { name: 'g', namespace: 'tenant-acme', uid: 'g-1' },
      spec: { name: 'g', pinned_members: ['n00001'] },
    };
    const server = new Server(spec as Partial<FleetRunSpec>);
    server.listed = [host];
    server.groups.push(group);
    start(server, [], { groups: [group] });
    await ended(server);
    expect(server.status).toMatchObject({ outcome: 'complete', summary: { ok: 1 } });
    expect([peer.invoked, server.asked]).toEqual([['n00001'], asked]);
  });

  it('D8 EDGE-RES-19 sends to all members of a group of which the cache lacks one, and to a group that it lacks', async () => {
    const hosts = hostsNamed(2);
    const peer = await relay(hosts, async () => ok);
    const group: EdgeGroup = {
      apiVersion: 'windlass.dev/v1',
      kind: 'EdgeGroup',
      metadata: { name: 'g', namespace: 'tenant-acme', uid: 'g-1' },
      spec: { name: 'g', pinned_members: ['n00000', 'n00001'] },
    };
    for (const groups of [[group], []]) {
      const server = new Server({ target: { Group: 'g-1' } });
      server.listed = hosts;
      server.groups.push(group);
      start(server, hosts.slice(0, 1), { groups });
      await ended(server);
      expect(server.status).toMatchObject({ targets_resolved: 2, targets_skipped: 0, summary: { ok: 2 } });
    }
    expect(peer.invoked).toHaveLength(4);
  });

  it('D8 asks the API server for no host and no group where the caches have those that are meant', async () => {
    const hosts = hostsNamed(2);
    await relay(hosts, async () => ok);
    for (const spec of [{}, { target: { Node: 'n00001' } }, { policy: { require_min_targets: 2 } }]) {
      const server = new Server(spec);
      start(server, hosts);
      await ended(server);
      expect([server.status.outcome, server.asked]).toEqual(['complete', []]);
    }
  });

  it('AMB-108 EDGE-TOOL-06 asks the gateway whether a fleet can run a registered tool', async () => {
    const hosts = hostsNamed(2);
    const peer = await relay(hosts, async () => ok);
    const stop = new AbortController();
    const registered = { ...echoTool('github.create_issue'), source: 'mcp' } as const;
    const gateway = serveTools(nats.connect(), [registered], stop.signal);
    const run = async (spec: Partial<FleetRunSpec>) => {
      const server = new Server(spec);
      start(server, hosts);
      await ended(server);
      return server.status;
    };
    const many = { target: { All: {} }, tool: 'github.create_issue' };
    // The responder may begin to answer a moment later.
    await vi.waitFor(async () => expect(await run(many)).toMatchObject({ outcome: 'refused' }), { timeout: 10_000 });
    expect(await run(many)).toMatchObject({ outcome: 'refused', reason: 'NotFleetCapable' });
    const before = peer.got.length;
    expect(await run({ ...many, target: { Node: 'n00000' } })).toMatchObject({ outcome: 'complete' });
    expect(await run({ ...many, tool: 'own.tool' })).toMatchObject({ outcome: 'complete', summary: { ok: 2 } });
    expect(peer.got.length - before).toBe(3);
    stop.abort();
    await gateway;
  });

  it('EDGE-RES-19 sends to the members of a group', async () => {
    const hosts = hostsNamed(4);
    const peer = await relay(hosts, async () => ok);
    const group: EdgeGroup = {
      apiVersion: 'windlass.dev/v1',
      kind: 'EdgeGroup',
      metadata: { name: 'g', namespace: 'tenant-acme', uid: 'g-1' },
      spec: { name: 'g', selector: { tags: [{ Has: 'even' }] }, pinned_members: ['n00001'] },
    };
    const server = new Server({ target: { Group: 'g-1' } });
    start(server, hosts, { groups: [group] });
    await ended(server);
    expect(peer.invoked.sort()).toEqual(['n00000', 'n00001', 'n00002']);
  });

  it('sends to the members of a group that its cache keeps the name of alone', async () => {
    const hosts = hostsNamed(2);
    const peer = await relay(hosts, async () => ok);
    const others = Array.from({ length: 500 }, (_, at) => `m${String(at).padStart(5, '0')}`);
    const group: EdgeGroup = {
      apiVersion: 'windlass.dev/v1',
      kind: 'EdgeGroup',
      metadata: { name: 'g', namespace: 'tenant-acme', uid: 'g-1' },
      spec: { name: 'g', pinned_members: [...others, 'n00001'] },
    };
    const server = new Server({ target: { Group: 'g-1' } });
    start(server, hosts, { groups: [group] });
    await ended(server);
    expect(peer.invoked).toEqual(['n00001']);
  });

  it('EDGE-REST-39 AMB-104 halts by FailFast, cancels what is in flight, and starts no more', async () => {
    const hosts = hostsNamed(6);
    const results = createEdgeResults({ bus: nats.connect(), clock: systemClock });
    const peer = await relay(hosts, async (_request, node) => (node === 'n00001' ? err : undefined));
    const server = new Server({ policy: { failure_policy: 'FailFast', max_concurrency: 3 } });
    start(server, hosts);
    await vi.waitFor(() => expect(peer.got.filter(({ kind }) => kind === 'cancel')).toHaveLength(2), 5_000);
    for (const request of peer.got) {
      if (request.kind !== 'invoke' || request.host.nodeId === 'n00001') continue;
      const { run, commandId } = request.command;
      const ids = { tenant: 'acme', run, node_id: request.host.nodeId, command_id: commandId };
      const result = { outcome: 'cancelled', reason: 'halted' } as const;
      await results.publish({ ...ids, kind: 'result', at: new Date().toISOString(), result });
    }
    await ended(server);
    expect(server.status).toMatchObject({
      outcome: 'halted',
      reason: 'Halted',
      summary: { ok: 0, err: 1, cancelled: 2, not_started: 3 },
    });
    expect(peer.invoked).toHaveLength(3);
  });

  it('EDGE-REST-39 EDGE-REST-40 a run that was halted and is then cancelled ends halted, also by another process', async () => {
    const hosts = hostsNamed(4);
    const results = createEdgeResults({ bus: nats.connect(), clock: systemClock });
    const peer = await relay(hosts, async (_request, node) => (node === 'n00000' ? err : undefined));
    const server = new Server({ policy: { failure_policy: { StopAfter: 1 }, max_concurrency: 2 } });
    const process = start(server, hosts);
    await vi.waitFor(() => expect(server.status.summary?.err).toBe(1), { timeout: 5_000 });
    server.run = { ...server.run, spec: { ...server.run.spec, cancel: { by: 'ada' } } };
    process.wake();
    await vi.waitFor(() => expect(server.status.cancellation).toEqual({ cancelled: 1, already_terminal: 1 }), 5_000);
    await process.kill();
    start(server, hosts);
    for (const request of peer.got) {
      if (request.kind !== 'invoke' || request.host.nodeId === 'n00000') continue;
      const { run, commandId } = request.command;
      const ids = { tenant: 'acme', run, node_id: request.host.nodeId, command_id: commandId };
      const result = { outcome: 'cancelled', reason: 'asked' } as const;
      await results.publish({ ...ids, kind: 'result', at: new Date().toISOString(), result });
    }
    await ended(server);
    expect(server.status).toMatchObject({
      outcome: 'halted',
      reason: 'Halted',
      summary: { ok: 0, err: 1, cancelled: 1, not_started: 2 },
    });
  });

  it('EDGE-FLOW-16 EDGE-REST-40 AMB-109 cancels those in flight, and completed hosts stay as they are', async () => {
    const hosts = hostsNamed(5);
    const results = createEdgeResults({ bus: nats.connect(), clock: systemClock });
    const peer = await relay(hosts, async (_request, node) => (node === 'n00000' ? ok : undefined));
    const server = new Server({ policy: { max_concurrency: 2 } });
    const process = start(server, hosts);
    await vi.waitFor(() => expect(server.status.summary?.ok).toBe(1), { timeout: 5_000 });
    server.run = { ...server.run, spec: { ...server.run.spec, cancel: { by: 'ada' } } };
    process.wake();
    await vi.waitFor(() => expect(peer.got.filter(({ kind }) => kind === 'cancel')).toHaveLength(2), 5_000);
    expect(server.status.cancellation).toEqual({ cancelled: 2, already_terminal: 1 });
    for (const request of peer.got) {
      if (request.kind !== 'invoke' || request.host.nodeId === 'n00000') continue;
      const { run, commandId } = request.command;
      const ids = { tenant: 'acme', run, node_id: request.host.nodeId, command_id: commandId };
      const result = { outcome: 'cancelled', reason: 'asked' } as const;
      await results.publish({ ...ids, kind: 'result', at: new Date().toISOString(), result });
    }
    await ended(server);
    expect(server.status).toMatchObject({
      outcome: 'cancelled',
      summary: { ok: 1, cancelled: 2, not_started: 2 },
      message: expect.stringContaining('by ada'),
    });
    expect((await records(server)).map(({ outcome }) => outcome).sort()).toEqual([
      'cancelled',
      'cancelled',
      'not_started',
      'not_started',
      'ok',
    ]);
  });

  it('EDGE-FLOW-11 the first result of a command counts, and those of other commands do not', async () => {
    const hosts = hostsNamed(2);
    const results = createEdgeResults({ bus: nats.connect(), clock: systemClock });
    await relay(hosts, async ({ command, host }, node) => {
      const at = new Date().toISOString();
      const ids = { tenant: host.tenant, run: command.run, at, kind: 'result' } as const;
      await results.publish({ ...ids, node_id: node, command_id: 'of-another-run', result: err });
      await results.publish({ ...ids, node_id: 'stranger', command_id: `of-a-stranger-${node}`, result: err });
      return ok;
    });
    const server = new Server({});
    start(server, hosts);
    await ended(server);
    expect(server.status.summary).toMatchObject({ ok: 2, err: 0 });
  });

  it('EDGE-REST-38 continues after its process died in mid-run, and runs each command once', async () => {
    const hosts = hostsNamed(60);
    const peer = await relay(hosts, async () => {
      await systemClock.sleep(40);
      return ok;
    });
    const server = new Server({ policy: { max_concurrency: 5 } });
    for (const upTo of [10, 30]) {
      const first = start(server, hosts);
      await vi.waitFor(() => expect(peer.got.length).toBeGreaterThan(upTo), { timeout: 10_000, interval: 5 });
      await first.kill();
    }
    start(server, hosts);
    await ended(server);
    expect(server.status).toMatchObject({ outcome: 'complete', summary: { ok: 60 } });
    const commands = (peer.got as Invoke[]).map(({ command }) => command.commandId);
    // A command in flight when a process died may be sent again under the same id, which a host runs once.
    expect(new Set(commands).size).toBe(60);
    expect(commands.length).toBeLessThanOrEqual(60 + 2 * 5);
    expect(peer.most).toBeLessThanOrEqual(5 + 5);
  });

  it('EDGE-RES-21 EDGE-RES-26 runs over 5,000 hosts with a process that dies in mid-run', {
    timeout: 90_000,
  }, async () => {
    const hosts = hostsNamed(5_000);
    const peer = await relay(hosts, async () => ok);
    const server = new Server({ policy: { max_concurrency: 200 } });
    const first = start(server, hosts);
    await vi.waitFor(() => expect(peer.got.length).toBeGreaterThan(1_500), { timeout: 30_000, interval: 10 });
    await first.kill();
    const begun = Date.now();
    start(server, hosts);
    await ended(server, 60_000);
    expect(server.status.summary).toEqual({ ok: 5_000, err: 0, timed_out: 0, cancelled: 0, not_started: 0 });
    const commands = (peer.got as Invoke[]).map(({ command }) => command.commandId);
    expect(new Set(commands).size).toBe(5_000);
    expect(commands.length).toBeLessThanOrEqual(5_200);
    expect(server.writes).toBeLessThanOrEqual(20 + (Date.now() - begun) / 500);
    expect(await records(server)).toHaveLength(5_000);
  });

  it('EDGE-RES-21 gives a host its whole deadline where the time of day is set forward', async () => {
    const hosts = hostsNamed(1);
    const answer = Promise.withResolvers<EdgeOutcome>();
    const peer = await relay(hosts, () => answer.promise);
    const server = new Server({ policy: { per_target_deadline_secs: 60 } });
    let aheadMs = 0;
    const process = start(server, hosts, { clock: { ...systemClock, now: () => Date.now() + aheadMs } });
    await vi.waitFor(() => expect(peer.got).toHaveLength(1), { timeout: 10_000 });
    aheadMs = 3_600_000;
    for (let look = 0; look < 4; look += 1) {
      await systemClock.sleep(400);
      process.wake();
    }
    answer.resolve(ok);
    await ended(server);
    expect(server.status.summary).toMatchObject({ ok: 1, timed_out: 0 });
  });

  it('EDGE-RES-21 ends a host at its deadline where the time of day is set back', async () => {
    const hosts = hostsNamed(1);
    const peer = await relay(hosts, async () => undefined);
    const server = new Server({ policy: { per_target_deadline_secs: 1 } });
    let aheadMs = 0;
    start(server, hosts, { clock: { ...hurriedClock, now: () => Date.now() + aheadMs } });
    await vi.waitFor(() => expect(peer.got).toHaveLength(1), { timeout: 10_000 });
    aheadMs = -3_600_000;
    await ended(server, 20_000);
    expect(server.status.summary).toMatchObject({ ok: 0, timed_out: 1 });
  }, 40_000);
});
