import { randomUUID } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import { launch } from '../../../controllers/fleet-run/drive/launch.ts';
import { fleetRunLimits } from '../../../controllers/fleet-run/limits.ts';
import type { CommandSender, FleetCommand } from '../../../controllers/fleet-run/commands/command.ts';
import { systemClock } from '../../../lib/clock.ts';
import {
  createHostCommands,
  edgeResultLogs,
  type EdgeNews,
  mintCommandToken,
  sealCommand,
} from '../../../lib/edge/index.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import { ownSubject } from '../../../lib/bus/publish/stream-subjects.ts';
import { pause } from '../../../test/cluster/harness/wait.ts';
import { benchBus } from '../lane-setup.ts';
import type { EdgeWorld } from './edge-world.ts';
import type { BenchHost } from './bench-hosts.ts';

export interface RateLoad {
  readonly perSecond: number;
  readonly seconds: number;
}

export interface RateFound {
  /** Milliseconds from the moment at which each command was due until its result was stored. */
  readonly times: readonly number[];
  /** Commands without a result. */
  readonly failed: number;
}

const tickMs = 5;
const lastResultMs = 30_000;
/** No command leaves later: by then the relay is slower by far than the rate. */
const mostMs = 180_000;

/**
 * Commands at that rate, whether or not those before have ended, each to another host in turn. Each is handed over as a fleet run does
 * it: in its turn, and again where the bus or the relay is too slow, so that more than they can take waits.
 */
export async function commandRate(
  { nats, tenant, edgeKey }: Pick<EdgeWorld, 'nats' | 'tenant' | 'edgeKey'>,
  hosts: readonly BenchHost[],
  { perSecond, seconds }: RateLoad,
): Promise<RateFound> {
  const bus = benchBus(nats.url, 'bench');
  const connection = await connect({ servers: nats.url });
  const run = randomUUID();
  const dueAt = new Map<string, number>();
  const times: number[] = [];
  connection.subscribe(resultSubject(tenant, run), {
    callback(_, { data }) {
      const news = JSON.parse(Buffer.from(data).toString()) as EdgeNews;
      const due = dueAt.get(news.command_id);
      if (due !== undefined) times.push(performance.now() - due);
      dueAt.delete(news.command_id);
    },
  });
  // Signed once: the daemons of the bench look at no token, and the relay at none.
  const token = await mintCommandToken(edgeKey, { ...commandFacts(tenant), commandId: randomUUID(), now: Date.now() });
  const handOver = handingOver(senderOf(bus, token));
  const all = perSecond * seconds;
  const began = performance.now();
  const handed: Promise<unknown>[] = [];
  for (; handed.length < all; await pause(tickMs)) {
    const wanted = Math.min(all, Math.floor(((performance.now() - began) * perSecond) / 1_000));
    while (handed.length < wanted) {
      const command = commandFor(hosts[handed.length % hosts.length], { tenant, run });
      dueAt.set(command.commandId, began + (handed.length * 1_000) / perSecond);
      handed.push(handOver(command));
    }
  }
  await Promise.all(handed);
  for (const end = performance.now() + lastResultMs; dueAt.size > 0 && performance.now() < end; ) await pause(50);
  await connection.close();
  await bus.close(0);
  return { times, failed: dueAt.size };
}

type Sender = Pick<CommandSender, 'claim' | 'recordOf' | 'seal' | 'send'>;

function senderOf(bus: ReturnType<typeof benchBus>, token: string): Sender {
  const commands = createHostCommands({ bus });
  return {
    claim: ({ commandId, run, tenant, target }) =>
      commands.claim({
        commandId,
        run,
        tenant,
        tool,
        node_id: target.node_id,
        deadline: new Date(Date.now() + deadlineSecs * 1_000).toISOString(),
      }),
    recordOf: ({ commandId }) => commands.recordOf(commandId),
    seal: async ({ commandId, run }) =>
      sealCommand({ commandId, run, tool, args, context: 'default', token, deadlineMs: deadlineSecs * 1_000 }),
    send: ({ tenant, target }, sealed) =>
      commands.sendSealed({ tenant, hostUid: target.host_uid, nodeId: target.node_id }, sealed),
  };
}

function handingOver(sender: Sender): (command: FleetCommand) => Promise<unknown> {
  const clock = systemClock;
  const { launches: size, longestWaitMs: waitMs } = fleetRunLimits;
  const turns = createFairPool({ size, waitMs, clock });
  const stop = AbortSignal.timeout(mostMs);
  return (command) =>
    launch(
      { sender, clock },
      {
        command,
        stop,
        mayBeSent: false,
        turn: () => turns.enter({ tenant: command.tenant, signal: stop }),
        isStopped: () => false,
        isOver: () => false,
        onSend: () => undefined,
        onFull: () => false,
        onClaim: () => undefined,
      },
    );
}

function commandFor(
  host: BenchHost | undefined,
  { tenant, run }: { readonly tenant: string; readonly run: string },
): FleetCommand {
  const { hostUid = '', nodeId = '' } = host ?? {};
  const target = { host_uid: hostUid, node_id: nodeId, name: nodeId };
  return {
    commandId: randomUUID(),
    run,
    tenant,
    target,
    tool,
    useArgs: async (make, task) => task(await make(args)),
    deadlineSecs,
    securityContext: 'default',
    author: 'bench',
  };
}

const deadlineSecs = 60;
const tool = 'cmd.run';
const args = { command: 'true' };
const commandFacts = (tenant: string) => ({
  author: 'bench',
  tid: tenant,
  node: randomUUID(),
  tool,
  args,
  context: 'default',
  deadlineSeconds: deadlineSecs,
  lifeMs: 2 * mostMs,
});

const resultSubject = (tenant: string, run: string): string =>
  ownSubject(
    {
      name: edgeResultLogs.name,
      retention: { maxAgeMs: 1, maxBytes: 'unbounded' },
      share: { of: edgeResultLogs.name, tenant, maxBytes: 1 },
    },
    tenant,
    run,
  );
