import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type EdgeHost, edgeHostName } from '../../../crds/schema/edge-host.ts';
import type { BusConfig } from '../../../lib/bus/bus-config.ts';
import { systemClock } from '../../../lib/clock.ts';
import { type CommandRecord, createEdgeResults, type EdgeOutcome, edgeBuckets } from '../../../lib/edge/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import {
  type FleetProcess,
  FleetServer,
  perNodeOf,
  poolOf,
  startFleetController,
} from '../../../test/support/fleet-controller.ts';
import { hurriedClock } from '../../../test/support/faster-clock.ts';
import { type Answer, hostsNamed, type RelayPeer, startRelayPeer } from '../../../test/support/relay-peer.ts';
import type { CommandSender } from '../commands/command.ts';
import { fleetRunLimits } from '../limits.ts';

const { privateKey: edgeKey } = generateKeyPairSync('ed25519');
let nats: TestBus;
let small: TestBus;
beforeAll(async () => void ([nats, small] = await Promise.all([startTestBus(), startTestBus()])), 60_000);
const open: FleetProcess[] = [];
afterAll(async () => {
  await Promise.all(open.map((process) => process.kill()));
  await Promise.all([nats.stop(), small.stop()]);
});

type More = Partial<Parameters<typeof startFleetController>[0]>;

function start(server: FleetServer, hosts: readonly EdgeHost[], more: More = {}): FleetProcess {
  const process = startFleetController({ bus: nats.connect(), edgeKey, server, hosts, ...more });
  open.push(process);
  return process;
}

const relay = (hosts: readonly EdgeHost[], answer: Answer): Promise<RelayPeer> =>
  startRelayPeer(nats.connect(), hosts, answer);

const soon = (check: () => void, timeout = 8_000) => vi.waitFor(check, { timeout, interval: 10 });
const ended = (server: FleetServer, timeout = 30_000) => soon(() => expect(server.status.phase).toBe('Ended'), timeout);
const outcomes = async (server: FleetServer) =>
  (await perNodeOf(server)).map(({ outcome, code }) => (code === undefined ? outcome : `${outcome} ${code}`));

const ok: EdgeOutcome = { outcome: 'ok', exit_code: 0, duration_ms: 5 };
const stopped: EdgeOutcome = { outcome: 'cancelled', reason: 'asked' };
const silent = async () => undefined;
const away = () => new AppError('unavailable', 'the host is offline', { reason: 'EdgeUnavailable' });
const long = { per_target_deadline_secs: 600 };

const cancelBy = (server: FleetServer, process: FleetProcess): void => {
  server.change({ spec: { cancel: { by: 'ada' } } });
  process.wake();
};

/** A host that is away for one kind of message, until `isBack` says otherwise. */
const absent =
  (which: 'send' | 'cancel', isBack: (tries: number) => boolean) =>
  (sender: CommandSender): CommandSender => {
    let tries = 0;
    const met = async (kind: typeof which): Promise<void> => {
      if (kind === which && !isBack((tries += 1))) throw away();
    };
    return {
      ...sender,
      send: (...sent) => met('send').then(() => sender.send(...sent)),
      cancel: (command, reason) => met('cancel').then(() => sender.cancel(command, reason)),
    };
  };

describe.concurrent('a command of a fleet run', { timeout: 60_000 }, () => {
  it('EDGE-RES-24 EDGE-REST-33 never waits for a host that is away, and has its whole deadline once it left', async () => {
    const hosts = hostsNamed(9);
    const ranAt: number[] = [];
    await relay(hosts.slice(3), async () => {
      ranAt.push(Date.now());
      return ok;
    });
    const server = new FleetServer({ policy: { max_concurrency: 9, per_target_deadline_secs: 1 } });
    const begun = Date.now();
    // One tenant has two places of these four; three hosts are away.
    start(server, hosts, { launches: poolOf(4) });
    await ended(server);
    expect(await outcomes(server)).toEqual([...Array(6).fill('ok'), ...Array(3).fill('err EdgeUnavailable')]);
    expect(ranAt).toHaveLength(6);
    expect(Math.max(...ranAt) - begun).toBeLessThan(8_000);
  });

  it('EDGE-RES-24 the deadline of a host begins when its command leaves, however long the host was away', async () => {
    const hosts = hostsNamed(1);
    await relay(hosts, async () => ok);
    const server = new FleetServer({ policy: { per_target_deadline_secs: 1 } });
    const begun = Date.now();
    start(server, hosts, { wrapSender: absent('send', () => Date.now() - begun > 12_500) });
    await ended(server);
    expect(await outcomes(server)).toEqual(['ok']);
    const [record] = await perNodeOf(server);
    expect(Date.parse(record?.dispatched_at ?? '') - begun).toBeGreaterThan(12_000);
  });

  it('EDGE-RES-24 AMB-200 is timed out where its host is silent, and of unknown outcome where the result was lost', async () => {
    const hosts = hostsNamed(2);
    const peer = await relay(hosts, silent);
    const server = new FleetServer({ policy: { per_target_deadline_secs: 10 } });
    start(server, hosts, { clock: hurriedClock });
    await soon(() => expect(peer.invoked).toHaveLength(2));
    const [one] = peer.invokes.filter(({ host }) => host.nodeId === 'n00000');
    const { record, revision = 0 } = one?.claim ?? {};
    const commands = nats.connect().bucket<object>(edgeBuckets.commands);
    await commands.update(one?.command.commandId ?? '', { ...record, ended: true }, revision);
    await ended(server);
    expect((await outcomes(server)).sort()).toEqual(['err OutcomeUnknown', 'timed_out']);
    expect(server.status.summary).toMatchObject({ err: 1, timed_out: 1 });
  });

  it.each([
    ['FailFast' as const, { err: 1, cancelled: 3, not_started: 0 }],
    [{ StopAfter: 1 }, { err: 1, cancelled: 0, not_started: 3 }],
  ])(
    'EDGE-RES-22 AMB-104 never leaves after %j has halted the run, although it was claimed before',
    async (policy, want) => {
      const hosts = hostsNamed(4);
      const peer = await relay(hosts, async () => ({ outcome: 'err', code: 'Broken', message: 'no', exit_code: 0 }));
      const server = new FleetServer({ policy: { ...long, max_concurrency: 4, failure_policy: policy } });
      let claims = 0;
      const slow = (sender: CommandSender): CommandSender => ({
        ...sender,
        claim: (command) => sender.claim(command).finally(() => (claims += 1)),
        // The others wait for the one turn until the run knows of the failure.
        async send(...sent) {
          await sender.send(...sent);
          await soon(() => expect(server.status.summary?.err).toBeGreaterThan(0));
        },
      });
      start(server, hosts, { launches: poolOf(1), wrapSender: slow });
      await ended(server);
      expect([claims, peer.invoked]).toEqual([4, ['n00000']]);
      expect(server.status).toMatchObject({ outcome: 'halted', summary: want });
    },
  );

  it('EDGE-REST-38 what was said for a host and is not there is said again', async () => {
    const hosts = hostsNamed(1);
    await relay(hosts, silent);
    const server = new FleetServer({ policy: { per_target_deadline_secs: 1 } });
    let said = 0;
    start(server, hosts, {
      clock: hurriedClock,
      wrapNews: (news) => ({ report: async (one) => ((said += 1) === 1 ? undefined : news.report(one)) }),
    });
    await ended(server);
    expect([said, await outcomes(server)]).toEqual([2, ['timed_out']]);
  });
});

describe.concurrent('a host that is revoked while it has a command', { timeout: 60_000 }, () => {
  it.each(['is revoked', 'is deleted'])('EDGE-FLOW-18 EDGE-RES-10 ends it at once where it %s', async (how) => {
    const hosts = hostsNamed(2);
    const peer = await relay(hosts, silent);
    const server = new FleetServer({ policy: long });
    const bus = nats.connect();
    const process = start(server, hosts, { bus });
    await soon(() => expect(peer.invoked).toHaveLength(2));
    const [first, ...others] = hosts;
    if (first === undefined) throw new Error('there are two hosts');
    const metadata = { ...first.metadata, resourceVersion: '2' };
    const revoked = { ...first, metadata, spec: { ...first.spec, revoked: true } };
    process.see(how === 'is deleted' ? others : [revoked, ...others]);
    await soon(() => expect(server.status.summary).toMatchObject({ err: 1 }), 8_000);
    expect(server.status).toMatchObject({ phase: 'Running', in_flight: 1 });
    const [invoke] = peer.invokes.filter(({ host }) => host.nodeId === 'n00001');
    if (invoke !== undefined) await peer.say(invoke, ok);
    await ended(server);
    expect(await outcomes(server)).toEqual(['err HostRevoked', 'ok']);
  });

  it('EDGE-FLOW-18 keeps its command where the cache has lost it and the server has it', async () => {
    const hosts = hostsNamed(1);
    const peer = await relay(hosts, silent);
    const server = new FleetServer({ policy: long });
    for (const host of hosts) server.hosts.set(edgeHostName(host.status?.node_id ?? ''), host);
    const process = start(server, hosts);
    await soon(() => expect(peer.invoked).toHaveLength(1));
    process.see([]);
    await systemClock.sleep(2_500);
    expect(server.status).toMatchObject({ phase: 'Running', in_flight: 1 });
    const [invoke] = peer.invokes;
    if (invoke !== undefined) await peer.say(invoke, ok);
    await ended(server);
    expect(await outcomes(server)).toEqual(['ok']);
  });

  it('is looked for once a second, however many turns the run has', async () => {
    const hosts = hostsNamed(20);
    const peer = await relay(hosts, silent);
    const server = new FleetServer({ policy: { ...long, max_concurrency: 20 } });
    const clock = { ...systemClock, steadyMs: () => nowMs };
    let [nowMs, reads] = [systemClock.steadyMs(), 0];
    const process = start(server, hosts, { clock, onHostRead: () => void (reads += 1) });
    await soon(() => expect(peer.invoked).toHaveLength(20));
    const readsOf = async (looks: number): Promise<number> => {
      reads = 0;
      for (let turn = 0; turn < looks; turn += 1) await process.look();
      return reads;
    };
    expect(await readsOf(50)).toBe(0);
    nowMs += fleetRunLimits.statusMs - 1;
    expect(await readsOf(50)).toBe(0);
    nowMs += 1;
    // A turn of the queue may come at the same time.
    expect([20, 40]).toContain(await readsOf(50));
  });
});

describe.concurrent('a cancellation of a fleet run', { timeout: 60_000 }, () => {
  const begin = async (answer: Answer, more: More = {}) => {
    const hosts = hostsNamed(1);
    const peer = await relay(hosts, answer);
    const server = new FleetServer({ policy: long });
    const process = start(server, hosts, more);
    await soon(() => expect(peer.invoked).toHaveLength(1));
    return { peer, server, process };
  };

  it('EDGE-TOOL-03 waits behind no command of another run', async () => {
    const launches = poolOf(64);
    const { peer, server, process } = await begin(silent, { launches });
    const over = new AbortController();
    const sleep = (): Promise<void> => systemClock.sleep(60_000, over.signal);
    const full = Array.from({ length: 80 }, () => launches.run({ tenant: 'acme' }, sleep));
    cancelBy(server, process);
    await soon(() => expect(peer.cancels).toBe(1), 4_000);
    over.abort();
    await Promise.all(full);
  });

  it('EDGE-FLOW-16 never overtakes the command that it cancels', async () => {
    const hosts = hostsNamed(1);
    const peer = await relay(hosts, silent);
    const server = new FleetServer({ policy: long });
    let isSending = false;
    const slow = (sender: CommandSender): CommandSender => ({
      ...sender,
      async send(...sent) {
        isSending = true;
        await systemClock.sleep(1_000);
        await sender.send(...sent);
      },
    });
    const process = start(server, hosts, { wrapSender: slow });
    await soon(() => expect(isSending).toBe(true));
    cancelBy(server, process);
    await soon(() => expect(peer.cancels).toBe(1));
    expect(peer.got.map(({ kind }) => kind)).toEqual(['invoke', 'cancel']);
  });

  it('EDGE-FLOW-16 is tried again while its host is away, and counts from when it was handed over', async () => {
    let back = Number.POSITIVE_INFINITY;
    const { peer, server, process } = await begin(silent, { wrapSender: absent('cancel', () => Date.now() > back) });
    cancelBy(server, process);
    back = Date.now() + 2_000;
    await soon(() => expect(peer.cancels).toBe(1));
    const [invoke] = peer.invokes;
    if (invoke !== undefined) await peer.say(invoke, stopped);
    await ended(server);
    expect(server.status).toMatchObject({ outcome: 'cancelled', summary: { cancelled: 1 } });
  });

  it('EDGE-FLOW-16 is sent again to a host that does not answer: its stream may have broken off', async () => {
    const { peer, server, process } = await begin(silent, { clock: hurriedClock });
    cancelBy(server, process);
    await soon(() => expect(peer.cancels).toBe(2), 9_000);
    await ended(server);
    expect(await outcomes(server)).toEqual(['cancelled']);
  });

  it.each([
    ['never reached its host', () => false],
    ['may not have reached its host, which then went away', (tries: number) => tries === 1],
  ])(
    'EDGE-REST-40 AMB-109 ends its host cancelled as its answer says, and says what is not known, where it %s',
    async (_title, isBack) => {
      const { server, process } = await begin(silent, { clock: hurriedClock, wrapSender: absent('cancel', isBack) });
      cancelBy(server, process);
      await ended(server);
      const [record] = await perNodeOf(server);
      expect(record).toMatchObject({ outcome: 'cancelled', message: expect.stringMatching(/reached/) as string });
      const { cancellation, summary } = server.status;
      expect(server.status.outcome).toBe('cancelled');
      expect([cancellation?.cancelled, summary?.cancelled, summary?.err]).toEqual([1, 1, 0]);
    },
  );

  it.each(['is gone', 'is being deleted'])('EDGE-FLOW-16 reaches the hosts of a run that %s', async (how) => {
    const { peer, server, process } = await begin(silent);
    server.change({ metadata: { deletionTimestamp: new Date().toISOString() } });
    if (how === 'is gone') process.gone();
    else process.wake();
    await soon(() => expect(peer.cancels).toBe(1));
    expect(peer.got.at(-1)).toMatchObject({ kind: 'cancel', reason: 'the run was deleted' });
  });
});

describe.concurrent('a process that takes over a fleet run', { timeout: 60_000 }, () => {
  it('EDGE-REST-38 continues it, where its cache does not know yet that the run has begun', async () => {
    const hosts = hostsNamed(4);
    const peer = await relay(hosts, silent);
    const server = new FleetServer({ policy: long });
    const old = server.run;
    const first = start(server, hosts);
    await soon(() => expect(peer.invoked).toHaveLength(4));
    const before = { ...server.status };
    await first.kill();
    const now = hosts.map((host, index) =>
      index === 3 && host.status !== undefined
        ? { ...host, status: { ...host.status, status: 'Disconnected' as const } }
        : host,
    );
    let isBehind = true;
    const second = start(server, now, { seen: () => (isBehind ? old : server.run) });
    await soon(() => expect(peer.invoked.length).toBeGreaterThan(4));
    isBehind = false;
    second.wake();
    for (const invoke of peer.invokes.slice(0, 4)) await peer.say(invoke, ok);
    await ended(server);
    expect(server.status).toMatchObject({ started_at: before.started_at, targets_resolved: 4, summary: { ok: 4 } });
    expect(second.facts.map(({ type }) => type)).toEqual(['FleetRunEnded']);
  });

  it.each(['has not begun', 'is under way'])(
    'EDGE-REST-40 sends nothing for a run that was cancelled and has ended, where its cache says that it %s',
    async (phase) => {
      const hosts = hostsNamed(3);
      const peer = await relay(hosts, silent);
      const server = new FleetServer({ policy: { ...long, mode: 'Sequential' } });
      let old = server.run;
      const first = start(server, hosts);
      await soon(() => expect([server.status.in_flight, peer.invoked.length]).toEqual([1, 1]));
      if (phase === 'is under way') old = server.run;
      cancelBy(server, first);
      await soon(() => expect(peer.cancels).toBe(1));
      const [invoke] = peer.invokes;
      if (invoke !== undefined) await peer.say(invoke, stopped);
      await ended(server);
      await first.kill();
      start(server, hosts, { seen: () => old });
      await systemClock.sleep(2_000);
      expect(peer.invoked).toHaveLength(1);
      expect(server.status).toMatchObject({ outcome: 'cancelled', summary: { cancelled: 1, not_started: 2 } });
    },
  );

  it('EDGE-REST-40 sends nothing for a run whose cancellation its cache has not seen', async () => {
    const hosts = hostsNamed(3);
    const peer = await relay(hosts, silent);
    const server = new FleetServer({ policy: { ...long, mode: 'Sequential' } });
    const first = start(server, hosts);
    await soon(() => expect([server.status.in_flight, peer.invoked.length]).toEqual([1, 1]));
    await first.kill();
    const old = server.run;
    server.change({ spec: { cancel: { by: 'ada' } } });
    start(server, hosts, { seen: () => old });
    await soon(() => expect(peer.cancels).toBe(1));
    expect(peer.invoked).toHaveLength(1);
  });

  it('EDGE-REST-38 AMB-200 gives a host no more time for a command that it sends again than the first token has', async () => {
    const hosts = hostsNamed(1);
    const peer = await relay(hosts, silent);
    const server = new FleetServer({ policy: long });
    const first = start(server, hosts);
    await soon(() => expect(peer.invoked).toHaveLength(1));
    await first.kill();
    start(server, hosts, { clock: { ...systemClock, now: () => Date.now() + 30_000 } });
    await soon(() => expect(peer.invoked).toHaveLength(2));
    const [one = 0, again = 0] = peer.invokes.map(({ command }) => decodeJwt(command.token).exp);
    expect(again).toBeLessThanOrEqual(one);
    expect(again).toBeGreaterThan(one - 5);
  });

  it('EDGE-REST-39 ends a run whose record is gone, and says so', async () => {
    const hosts = hostsNamed(3);
    await relay(hosts, silent);
    const server = new FleetServer({ policy: { ...long, max_concurrency: 2 } });
    const first = start(server, hosts);
    await soon(() => expect(server.status.in_flight).toBe(2));
    await first.kill();
    server.maps.clear();
    start(server, hosts);
    await ended(server);
    expect(server.status).toMatchObject({
      outcome: 'halted',
      reason: 'RecordLost',
      summary: { ok: 0, err: 2, not_started: 1 },
      in_flight: 0,
    });
    expect(await perNodeOf(server)).toEqual([]);
  });
});

describe('results in the log of a tenant', { timeout: 90_000 }, () => {
  const config: Partial<BusConfig> = { WINDLASS_EDGE_RESULTS_MAX_MB: 1 };
  const flood = async (tenant: string, megabytes: number): Promise<void> => {
    const results = createEdgeResults({ bus: small.connect(config), clock: systemClock });
    for (let index = 0; index < megabytes * 4; index += 1) {
      const ids = {
        tenant,
        run: 'other',
        node_id: 'n',
        command_id: `c-${tenant}-${index}`,
        at: new Date().toISOString(),
      };
      const payload = {
        stdout: Buffer.from(Array.from({ length: 180_000 }, () => Math.random() * 256)).toString('base64'),
      };
      await results.publish({ ...ids, kind: 'result', result: { ...ok, payload } });
    }
  };
  const begin = async () => {
    const hosts = hostsNamed(1);
    const peer = await startRelayPeer(small.connect(config), hosts, silent);
    const server = new FleetServer({ policy: { per_target_deadline_secs: 1 } });
    const first = start(server, hosts, { bus: small.connect(config) });
    await soon(() => expect(peer.invoked).toHaveLength(1));
    await first.kill();
    const [invoke] = peer.invokes;
    if (invoke !== undefined) await peer.say(invoke, ok);
    return () => {
      start(server, hosts, { bus: small.connect(config) });
      return { server, peer };
    };
  };

  it('EDGE-FLOW-11 are not displaced by those of another tenant', async () => {
    const again = await begin();
    await flood('mallory', 4);
    const { server } = again();
    await ended(server);
    expect(await outcomes(server)).toEqual(['ok']);
  });

  it('EDGE-REST-38 AMB-200 a command runs once although its tenant displaced its result, and its run says so', async () => {
    const again = await begin();
    await flood('acme', 4);
    const { server, peer } = again();
    await ended(server);
    expect(await outcomes(server)).toEqual(['err OutcomeUnknown']);
    expect(peer.invoked).toHaveLength(1);
  });
});

describe('a run of a tenant that may claim no more commands', { timeout: 60_000 }, () => {
  const config: Partial<BusConfig> = { WINDLASS_KEYS_MAX_MB: 1 };
  const fill = async (): Promise<void> => {
    const commands = small.connect(config).bucket<CommandRecord>(edgeBuckets.commands);
    const record = { run: 'r', node_id: 'n', tenant: 'acme', tool: 't', deadline: new Date().toISOString() };
    const isFull = async (key: string): Promise<boolean> =>
      commands.create(key, record, 'acme').then(
        () => false,
        (error: unknown) => error instanceof AppError && error.reason === 'KeyShareUsed',
      );
    for (let batch = 0; batch < 200; batch += 1) {
      const met = await Promise.all(Array.from({ length: 64 }, (_, index) => isFull(`fill-${batch}-${index}`)));
      if (met.every(Boolean)) return;
    }
    throw new Error('the share has no end');
  };
  const begin = async (answer: Answer, more: More = {}) => {
    const hosts = hostsNamed(3);
    const peer = await startRelayPeer(small.connect(), hosts, answer);
    const server = new FleetServer({ policy: { ...long, mode: 'Sequential' } });
    const first = start(server, hosts, { bus: small.connect(), ...more });
    await soon(() => expect(server.status.in_flight).toBe(1));
    if (more.wrapSender === undefined) await soon(() => expect(peer.invoked).toHaveLength(1));
    await first.kill();
    return { hosts, peer, server };
  };
  const resume = (server: FleetServer, hosts: readonly EdgeHost[]) =>
    start(server, hosts, { bus: small.connect(config) });

  it('EDGE-REST-40 ends after its cancellation, and knows which commands were sent', async () => {
    const { hosts, peer, server } = await begin(silent);
    const never = await begin(silent, {
      wrapSender: (sender) => ({ ...sender, claim: () => new Promise(() => undefined) }),
    });
    await fill();
    for (const run of [server, never.server]) run.change({ spec: { cancel: { by: 'ada' } } });
    resume(server, hosts);
    resume(never.server, never.hosts);
    await ended(never.server);
    expect(never.server.status.summary).toMatchObject({ not_started: 3 });
    await soon(() => expect(peer.cancels).toBe(1));
    const [invoke] = peer.invokes;
    if (invoke !== undefined) await peer.say(invoke, stopped);
    await ended(server);
    expect(server.status.summary).toMatchObject({ cancelled: 1, not_started: 2 });
  });

  it('EDGE-REST-38 does not say of a command that it failed, which an earlier process has claimed and sent', async () => {
    const { hosts, peer, server } = await begin(silent);
    await fill();
    resume(server, hosts);
    await soon(() => expect(peer.invoked).toHaveLength(2));
    const [invoke] = peer.invokes;
    if (invoke !== undefined) await peer.say(invoke, ok);
    await ended(server);
    // The rest cannot be claimed.
    expect(await outcomes(server)).toEqual(['ok', 'err CommandShareUsed', 'err CommandShareUsed']);
  });
});
