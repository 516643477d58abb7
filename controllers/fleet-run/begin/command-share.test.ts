import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import type { BusConfig } from '../../../lib/bus/bus-config.ts';
import { buckets, type EventBus } from '../../../lib/bus/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import { claimCommands } from '../../../test/support/claimed-commands.ts';
import { FleetServer } from '../../../test/support/fleet-controller.ts';
import { useFleetControllers } from '../../../test/support/fleet-controllers.ts';
import { hostsNamed, startRelayPeer } from '../../../test/support/relay-peer.ts';
import { createCommandSender } from '../commands/command-sender.ts';
import type { OpenViews } from '../view/open-views.ts';
import { RunView } from '../view/run-view.ts';
import { lackOfShare } from './command-share.ts';

const config: Partial<BusConfig> = { WINDLASS_KEYS_MAX_MB: 1 };
/** 1 MiB has room for 54 blocks of 64 commands; a tenant alone has 43 of them. */
const share = 43 * 64;
const hour = 3_600_000;

const nats = useFleetControllers();

/** Claims of commands of a tenant, by a process of their own. */
async function claim(bus: EventBus, tenant: string, count: number): Promise<void> {
  while (bus.problem() !== undefined) await systemClock.sleep(10);
  await claimCommands(bus, tenant, count);
}

async function runOver(count: number) {
  const hosts = hostsNamed(count);
  const peer = await startRelayPeer(nats.connect(), hosts, async () => ({
    outcome: 'ok',
    exit_code: 0,
    duration_ms: 5,
  }));
  const server = new FleetServer({ policy: { max_concurrency: 200 } });
  const process = nats.start(server, hosts, { bus: nats.connect(config) });
  await vi.waitFor(() => expect(server.status.phase).toBe('Ended'), { timeout: 60_000, interval: 50 });
  await process.kill();
  return { peer, status: server.status };
}

describe('a fleet run of a tenant that has sent nearly as many commands as its share allows', {
  timeout: 120_000,
}, () => {
  beforeAll(() => claim(nats.connect(config), 'acme', share - 128), 60_000);

  it('EDGE-RES-28 EDGE-REST-38 is refused with the numbers where it does not fit, and sends no command', async () => {
    const { peer, status } = await runOver(129);
    expect(status).toMatchObject({ outcome: 'refused', reason: 'CommandShareUsed', summary: { not_started: 129 } });
    expect(peer.got).toEqual([]);
    const { message = '' } = status;
    expect(message).toMatch(/^129 commands do not fit: .*2624 commands of hosts.*room for 128 more.*nats\.keys\.maxMb/);
    const back = Date.parse(/(\S+Z)/.exec(message)?.[1] ?? '') - Date.now();
    expect(back).toBeGreaterThan(47 * hour);
    expect(back).toBeLessThan(49 * hour);
  });

  it('EDGE-RES-28 runs whole where it fits to the last command', async () => {
    const { peer, status } = await runOver(128);
    expect(status).toMatchObject({ outcome: 'complete', summary: { ok: 128, err: 0 } });
    expect(peer.invokes).toHaveLength(128);
  });

  it('STIM-36 leaves its tenant the idempotency keys, which have an account of their own', async () => {
    const bus = nats.connect(config);
    await expect.poll(() => bus.problem()).toBeUndefined();
    const keys = bus.bucket<string>(buckets.idempotency);
    expect(await keys.create('acme/one', 's', 'acme')).toBeGreaterThan(0);
  });

  it('EDGE-RES-28 counts what other runs of the tenant have yet to send, and nothing of those that have stopped', async () => {
    const bus = nats.connect(config);
    await expect.poll(() => bus.problem()).toBeUndefined();
    const { privateKey: edgeKey } = generateKeyPairSync('ed25519');
    const sender = createCommandSender({ bus, clock: systemClock, edgeKey, guard: () => undefined });
    const refused = (hosts: number, unsent: number, tenant = 'globex') =>
      lackOfShare({ sender, clock: systemClock }, tenant, { hosts, unsent });
    const free = await sender.roomFor('globex', 10_000);
    expect(free.room).toBeGreaterThan(128);
    expect(await refused(64, free.room - 64)).toBeUndefined();
    await expect(refused(65, free.room - 64)).rejects.toMatchObject({ why: { reason: 'BucketFull' } });
    expect((await refused(65, 5, 'acme'))?.message).toMatch(
      /^65 commands do not fit: .* room for 0 more beside 5 that its runs/,
    );
    expect((await refused(10_000, 0))?.message).toMatch(/so many have no room at any time: take fewer hosts$/);
    expect((await refused(share, 1))?.message).toMatch(/back two days after those runs$/);
  });
});

/** A run over four hosts. */
function viewOf(status?: FleetRun['status']) {
  const nodes = ['a', 'b', 'c', 'd'];
  return new RunView(
    {
      clock: systemClock,
      news: {
        read: async function* () {},
        has: async () => true,
        listen: () => ({ [Symbol.asyncDispose]: async () => undefined }),
      },
      outputs: createFairPool({ size: 1_048_576, clock: systemClock }),
      keepArgs: () => async (make, task) => task(await make({})),
      wake: () => undefined,
    },
    {
      run: { ...new FleetServer({}).run, ...(status === undefined ? {} : { status }) },
      tenant: 'acme',
      targets: { resolved: nodes.map((node) => ({ node_id: node, host_uid: node, name: node })), skipped: [] },
      records: [],
      isNew: status === undefined,
    },
  );
}

it('EDGE-RES-28 a run has yet to send what no account has, and nothing once it has stopped', () => {
  const view = viewOf();
  expect(view.unsent).toBe(4);
  for (const node of ['a', 'b', 'c']) view.noteLaunching(node);
  expect(view.unsent).toBe(4);
  // The account of the tenant has them from now on, although they have not left.
  for (const node of ['a', 'b']) view.commands.noteClaimed(node);
  expect(view.unsent).toBe(2);
  for (const node of ['a', 'b']) view.commands.noteSending(node, 0);
  expect(view.unsent).toBe(2);
  view.noteNotStarted('c');
  expect(view.unsent).toBe(1);
  view.cancelAsDeleted();
  expect(view.unsent).toBe(0);
});

it('EDGE-RES-28 a run that another process has begun does not count again what that one had in flight', () => {
  const view = viewOf({ phase: 'Running', in_flight: 2, open_outcomes: '0o' });
  expect(view.unsent).toBe(1);
  view.commands.noteClaimed('b');
  expect(view.unsent).toBe(1);
  view.commands.noteClaimed('d');
  expect(view.unsent).toBe(0);
});

it('EDGE-RES-28 runs of one tenant that ask at one time begin where they fit together', {
  timeout: 120_000,
}, async () => {
  await claim(nats.connect(config), 'initech', 7 * 64);
  const [runs, each] = [4, 24];
  const asked: (() => void)[] = [];
  let views: OpenViews | undefined;
  const servers = Array.from({ length: runs }, () => new FleetServer({ policy: { per_target_deadline_secs: 600 } }));
  for (const server of servers) {
    const hosts = hostsNamed(each);
    await startRelayPeer(nats.connect(), hosts, async () => undefined);
    const process = nats.start(server, hosts, {
      bus: nats.connect(config),
      views,
      tenantOf: () => 'initech',
      wrapSender: (sender) => ({
        ...sender,
        claim: () => new Promise(() => undefined),
        async roomFor(...of) {
          await new Promise<void>((resolve) => void asked.push(resolve));
          return sender.roomFor(...of);
        },
      }),
    });
    views = process.views;
  }
  await vi.waitFor(() => expect(asked).toHaveLength(runs), { timeout: 60_000, interval: 20 });
  for (const go of asked) go();
  const phases = () => servers.map(({ status: { phase, reason } }) => (phase === 'Running' ? phase : (reason ?? '')));
  // One block more has 64 commands.
  const want = ['CommandShareUsed', 'CommandShareUsed', 'Running', 'Running'];
  await vi.waitFor(() => expect(phases().toSorted((a, b) => a.localeCompare(b))).toEqual(want), {
    timeout: 60_000,
    interval: 20,
  });
});
