import { randomUUID } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import { createHostCommands, edgeResultLogs, type EdgeNews, mintCommandToken } from '../../../lib/edge/index.ts';
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
  /** Commands that the bus or the relay did not take. */
  readonly failed: number;
}

const tickMs = 5;
const lastResultMs = 30_000;

/** Commands at that rate, whether or not those before have ended, each to another host in turn. */
export async function commandRate(
  { nats, tenant, edgeKey }: Pick<EdgeWorld, 'nats' | 'tenant' | 'edgeKey'>,
  hosts: readonly BenchHost[],
  { perSecond, seconds }: RateLoad,
): Promise<RateFound> {
  const bus = benchBus(nats.url, 'bench');
  const connection = await connect({ servers: nats.url });
  const commands = createHostCommands({ bus });
  const run = randomUUID();
  const dueAt = new Map<string, number>();
  const times: number[] = [];
  let failed = 0;
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
  const start = async (host: BenchHost, due: number): Promise<void> => {
    const commandId = randomUUID();
    dueAt.set(commandId, due);
    const deadline = new Date(Date.now() + 60_000).toISOString();
    try {
      await commands.claim({ commandId, run, node_id: host.nodeId, tenant, tool, deadline });
      await commands.send(
        { tenant, ...host },
        { commandId, run, tool, args, context: 'default', token, deadlineMs: 60_000 },
      );
    } catch {
      failed += 1;
      dueAt.delete(commandId);
    }
  };
  const all = perSecond * seconds;
  const began = performance.now();
  for (let sent = 0; sent < all; await pause(tickMs)) {
    const wanted = Math.min(all, Math.floor(((performance.now() - began) * perSecond) / 1_000));
    for (; sent < wanted; sent += 1) {
      const host = hosts[sent % hosts.length];
      if (host !== undefined) void start(host, began + (sent * 1_000) / perSecond);
    }
  }
  for (const end = performance.now() + lastResultMs; dueAt.size > 0 && performance.now() < end; ) await pause(50);
  failed += dueAt.size;
  await connection.close();
  await bus.close(0);
  return { times, failed };
}

const tool = 'cmd.run';
const args = { command: 'true' };
const commandFacts = (tenant: string) => ({
  author: 'bench',
  tid: tenant,
  node: randomUUID(),
  tool,
  args,
  context: 'default',
  deadlineSeconds: 60,
  lifeMs: 120_000,
});

const resultSubject = (tenant: string, run: string): string =>
  ownSubject(
    {
      name: edgeResultLogs.name,
      retention: { maxAgeMs: 1 },
      share: { of: edgeResultLogs.name, tenant, maxBytes: 1 },
    },
    tenant,
    run,
  );
