import type { EventBus } from '../../lib/bus/index.ts';
import { type CommandRecord, edgeBuckets } from '../../lib/edge/index.ts';

/** A tenant claims so many commands of hosts, by a process of its own. */
export async function claimCommands(bus: EventBus, tenant: string, count: number): Promise<void> {
  const commands = bus.bucket<CommandRecord>(edgeBuckets.commands);
  const record = { run: 'r', node_id: 'n', tenant, tool: 't', deadline: new Date().toISOString() };
  const keys = Array.from({ length: count }, (_, index) => `${tenant}-${index}`).values();
  const lanes = Array.from({ length: 32 }, async () => {
    for (const key of keys) await commands.create(key, record, tenant);
  });
  await Promise.all(lanes);
}
