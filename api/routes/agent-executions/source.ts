import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { slimAgentExecution } from '../../../lib/agent/slim-agent-execution.ts';
import type { ConversationFeed, ConversationListener } from '../../agents/conversation/feed.ts';
import { readRecords } from '../../agents/conversation/read-entries.ts';
import type { Cluster } from '../../cluster/index.ts';
import type { ArchivedAgentExecutions } from '../archived.ts';
import { notFound, unknownExecution } from '../not-found.ts';
import type { ExecutionNews, FollowDeps } from './follow.ts';

export interface SourceDeps extends FollowDeps {
  readonly cluster: Pick<Cluster, 'agentExecutions'>;
  readonly archived: Pick<ArchivedAgentExecutions, 'find'>;
}

/** An execution and its conversation, wherever they are kept. */
export interface Source extends FollowDeps {
  readonly uid: string;
  /** The execution with its texts; the one given where it is gone. */
  readonly whole: (execution: AgentExecution) => Promise<AgentExecution>;
}

/** By id or name, of the tenant: the execution that is there, else its record. Throws 404. */
export async function executionSource(deps: SourceDeps, tenant: string, id: string): Promise<Source> {
  const { agentExecutions } = deps.cluster;
  const found = await agentExecutions.locate(tenant, id);
  if (found === undefined) return archivedSource(deps, tenant, id);
  return {
    uid: found.metadata.uid ?? '',
    clock: deps.clock,
    feed: deps.feed,
    news: deps.news,
    whole: async (execution) => (await agentExecutions.whole(execution)) ?? execution,
  };
}

/** The record is opened anew for each page: a client that reads slowly holds none in memory. */
async function archivedSource(
  { clock, archived }: Pick<SourceDeps, 'clock' | 'archived'>,
  tenant: string,
  id: string,
): Promise<Source> {
  const ended = await archived.find(tenant, id, async ({ execution }) => slimAgentExecution(execution));
  if (ended === undefined) throw notFound(unknownExecution);
  const { uid = '' } = ended.metadata;
  const news: ExecutionNews = { current: () => ended, onChange: () => () => undefined };
  return {
    uid,
    clock,
    news,
    feed: archivedFeed(archived),
    whole: async () => (await archived.find(tenant, uid, async ({ execution }) => execution)) ?? ended,
  };
}

const archivedFeed = (archived: SourceDeps['archived']): ConversationFeed => ({
  // The entries are parts of the unpacked record, which the turn of the reader bounds.
  read: async (tenant, uid, after, { isSmall = false, reserve } = {}) =>
    (await archived.find(tenant, uid, (record) => readRecords(record.entriesBehind(after, isSmall), reserve))) ?? [],
  listen: () => silence,
});

/** Nothing happens to an execution that has ended. */
const silence: ConversationListener = {
  ready: Promise.resolve(),
  news: async () => undefined,
  wake: () => undefined,
  async [Symbol.asyncDispose]() {},
};
