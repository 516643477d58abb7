import { type ArchivedAgentExecutions, createArchives } from '../../api/routes/archived.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { writeAgentRecord } from '../../lib/archive/agent-record.ts';
import type { ArchiveReader } from '../../lib/archive/archive-store.ts';
import { agentOwnerOf } from '../../lib/archive/create-archive.ts';
import { agentRowOf } from '../../lib/archive/row.ts';
import { systemClock } from '../../lib/clock.ts';
import type { ConversationRecord } from '../../lib/conversation/record.ts';
import { createMemoryFeed } from './memory-feed.ts';

const rest = async (): Promise<void> => undefined;

/** An archive that holds this execution of tenant acme with its conversation; without one it is empty. */
export function archiveOf(
  execution?: AgentExecution,
  conversation: readonly ConversationRecord[] = [],
): ArchivedAgentExecutions {
  const feed = createMemoryFeed(...conversation);
  const entries = async (after: number) =>
    (await feed.read('acme', '', after)).map(({ sequence, record }) => ({
      sequence,
      body: Buffer.from(JSON.stringify(record)),
    }));
  const holds = (owner: string): AgentExecution | undefined =>
    owner === agentOwnerOf('uid-of-acme') ? execution : undefined;
  const archive: ArchiveReader = {
    async read(owner, nameOrUid) {
      const held = holds(owner);
      const { name, uid } = held?.metadata ?? {};
      if (held === undefined || (nameOrUid !== uid && nameOrUid !== name)) return undefined;
      return writeAgentRecord(held, entries, rest);
    },
    async page(owner) {
      const held = holds(owner);
      return { rows: held === undefined ? [] : [agentRowOf(held)], next: undefined };
    },
  };
  return createArchives({ archive, clock: systemClock, ownerOf: (tenant) => `uid-of-${tenant}` }).agents;
}
