import type { EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  type ClaimedCommand,
  type CommandRecord,
  edgeBuckets,
  type EdgeEventCase,
  type EdgeResults,
  type RecentCommands,
} from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import { newUuid } from '../../lib/ids.ts';
import type { Chunk, CommandProgress, CommandResult, EdgeResult } from '../../proto/generated/windlass/node/v1/node.ts';
import { throughGaps } from '../late-bus.ts';
import type { LateAcks } from '../late-acks.ts';
import type { SentCommand, SentCommands } from '../sent-commands.ts';
import type { LiveStream } from './live-stream.ts';
import { capabilitiesOf, chunkOf, outcomeOf } from './outcome-of.ts';
import { isPassed, passOn } from './passed-output.ts';
import type { ReadPayload } from './payload.ts';
import type { Streams } from './streams.ts';

export interface TakeEventDeps {
  readonly clock: Clock;
  readonly bus: Pick<EventBus, 'bucket' | 'problem'>;
  readonly results: Pick<EdgeResults, 'publish'>;
  readonly recent: Pick<RecentCommands, 'ended'>;
  readonly sent: Pick<SentCommands, 'find' | 'take' | 'noteEnded' | 'hasEnded'>;
  readonly acks: Pick<LateAcks, 'add'>;
  readonly streams: Streams;
  /** From `createBusTurns`. */
  readonly turns: Pick<FairPool, 'run'>;
  /** From `createReadPayload`. */
  readonly readPayload: ReadPayload;
}

/**
 * Calls of the bus for messages of daemons that are under way at once. A call has 1.5 s: ten thousand results that came at once would
 * all be late, and be sent again.
 */
const callsAtOnce = 256;

/** Turns of streams to call the bus; one that waits for its own is not read meanwhile. */
export const createBusTurns = (clock: Clock): FairPool => createFairPool({ size: callsAtOnce, clock });

/** Calls the bus in the stream's turn, which lasts while the bus is slow, or away for a moment. */
const atBus = <T>(deps: TakeEventDeps, tenant: string, call: () => Promise<T>): Promise<T> =>
  deps.turns.run({ tenant }, () => throughGaps(deps, call));

/** Does what a proven message of a daemon says. */
export async function takeEvent(deps: TakeEventDeps, stream: LiveStream, event: EdgeEventCase): Promise<void> {
  switch (event.$case) {
    case 'hello':
      throw new AppError('invalid', 'hello is the first message of a stream, and comes once');
    case 'heartbeat':
      deps.streams.heard(stream);
      deps.streams.checkpoint(stream);
      return;
    case 'capabilityUpdate':
      stream.capabilities = capabilitiesOf(event.value.capabilities);
      stream.hasNews = true;
      return;
    case 'commandResult':
      return takeResult(deps, stream, event.value);
    case 'commandProgress':
      return takeProgress(deps, stream, event.value);
  }
}

/**
 * Stores the result, notes that the command has ended, then has the daemon forget it. The content is read where it is stored: anybody may
 * make up ids of commands, and large contents for them.
 */
async function takeResult(deps: TakeEventDeps, stream: LiveStream, message: CommandResult): Promise<void> {
  const { commandId } = message;
  const outcome = outcomeIn(message);
  const sent = deps.sent.take(commandId, hostOf(stream));
  if (!deps.sent.hasEnded(commandId, hostOf(stream))) {
    const claim = sent?.claim ?? (await claimOf(deps, stream, commandId));
    // A command that was sent again after its end has no result for its sender, so that this one is stored. Others are stored once.
    if (claim !== undefined && (claim.record.ended !== true || sent !== undefined))
      await storeResult(deps, claim, { commandId, outcome, begun: sent?.begun });
  }
  stream.progress?.delete(commandId);
  await deps.acks.add(stream, commandId);
}

type Outcome = NonNullable<EdgeResult['outcome']>;

function outcomeIn({ result }: CommandResult): Outcome {
  if (result?.outcome !== undefined) return result.outcome;
  throw new AppError('invalid', 'result holds none of ok, err, timed_out and cancelled');
}

interface EndedCommand {
  readonly commandId: string;
  readonly outcome: Outcome;
  /** Undefined where this relay does not remember that it has sent it. */
  readonly begun: SentCommand['begun'] | undefined;
}

async function storeResult(
  deps: TakeEventDeps,
  { record, revision }: ClaimedCommand,
  { commandId, outcome, begun }: EndedCommand,
): Promise<void> {
  const { tenant, run, node_id: nodeId } = record;
  const at = new Date(deps.clock.now()).toISOString();
  const of = { tenant, node_id: nodeId, command_id: commandId };
  const result = await outcomeOf(outcome, (payload) => deps.readPayload(tenant, payload));
  await atBus(deps, tenant, () => deps.results.publish({ kind: 'result', ...of, run, at, result }));
  // The log has the result: nothing waits for the mark, which other relays read, nor for a list for people.
  deps.sent.noteEnded(commandId, { tenant, nodeId });
  const bucket = deps.bus.bucket<CommandRecord>(edgeBuckets.commands);
  bucket.note(commandId, { ...record, ended: true }, revision);
  deps.recent.ended({ ...of, result, ended_at: at, sent: begun });
}

async function takeProgress(
  deps: TakeEventDeps,
  stream: LiveStream,
  { commandId, chunk }: CommandProgress,
): Promise<void> {
  const kind = chunk?.kind;
  if (kind === undefined) return;
  if (commandId === '') return noteState(deps, stream, kind);
  return takeChunk(deps, stream, { commandId, kind });
}

type Kind = NonNullable<Chunk['kind']>;

/** Output of a command, which is looked at where the host has the command. */
async function takeChunk(
  deps: TakeEventDeps,
  stream: LiveStream,
  { commandId, kind }: { readonly commandId: string; readonly kind: Kind },
): Promise<void> {
  if (isPassed(stream, commandId) || deps.sent.hasEnded(commandId, hostOf(stream))) return;
  const claim = deps.sent.find(commandId, hostOf(stream))?.claim ?? (await claimOf(deps, stream, commandId));
  if (claim === undefined || claim.record.ended === true) return;
  const { tenant, run, node_id: nodeId } = claim.record;
  const of = { tenant, run, node_id: nodeId, command_id: commandId, at: new Date(deps.clock.now()).toISOString() };
  const output = { commandId, chunk: chunkOf(kind), nowMs: deps.clock.steadyMs() };
  for (const kept of passOn(stream, output)) {
    const id = newUuid();
    await atBus(deps, tenant, () => deps.results.publish({ kind: 'progress', ...of, chunk: kept }, id));
  }
}

/** A state of the daemon itself, such as the end of a drain (requirements AMB-010). */
function noteState({ streams }: TakeEventDeps, stream: LiveStream, kind: Kind): void {
  if (kind.$case === 'status' && kind.value.state === 'drained') streams.drained(stream);
}

const hostOf = ({ host, facts }: LiveStream) => ({ tenant: host.tenant, nodeId: facts.nodeId });

/** The record in the bus. Undefined for an unclaimed command, or one of another host: it does not count. */
async function claimOf(
  deps: TakeEventDeps,
  stream: LiveStream,
  commandId: string,
): Promise<ClaimedCommand | undefined> {
  const { tenant, nodeId } = hostOf(stream);
  const bucket = deps.bus.bucket<CommandRecord>(edgeBuckets.commands);
  const entry = await atBus(deps, tenant, () => bucket.get(commandId));
  if (entry?.value.node_id === nodeId && entry.value.tenant === tenant)
    return { record: entry.value, revision: entry.revision };
  deps.streams.strange(stream, entry !== undefined);
  return undefined;
}
