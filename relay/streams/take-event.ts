import type { EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  type CommandRecord,
  type EdgeChunk,
  edgeBuckets,
  type EdgeEventCase,
  type EdgeResults,
  type RecentCommands,
} from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { CommandProgress, CommandResult } from '../../proto/generated/windlass/node/v1/node.ts';
import { type LiveStream, progressLeft } from './live-stream.ts';
import { capabilitiesOf, chunkOf, outcomeOf } from './outcome-of.ts';
import type { Streams } from './streams.ts';

export interface TakeEventDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bus: Pick<EventBus, 'bucket'>;
  readonly results: Pick<EdgeResults, 'publish'>;
  readonly recent: Pick<RecentCommands, 'ended'>;
  readonly streams: Streams;
}

/** Does what a proven message of a daemon says. */
export async function takeEvent(deps: TakeEventDeps, stream: LiveStream, event: EdgeEventCase): Promise<void> {
  switch (event.$case) {
    case 'hello':
      throw new AppError('invalid', 'hello is the first message of a stream, and comes once');
    case 'heartbeat':
      deps.streams.heard(stream);
      return deps.streams.checkpoint(stream);
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

/** Stores the result, notes that the command has ended, then tells the daemon to forget it. */
async function takeResult(deps: TakeEventDeps, stream: LiveStream, message: CommandResult): Promise<void> {
  const { commandId } = message;
  const bucket = deps.bus.bucket<CommandRecord>(edgeBuckets.commands);
  const result = outcomeOf(message.result);
  if (result === undefined) throw new AppError('invalid', 'result holds none of ok, err, timed_out and cancelled');
  const entry = await recordOf(deps, stream, commandId);
  if (entry !== undefined && entry.value.ended !== true) {
    const { tenant, run, node_id: nodeId } = entry.value;
    const at = new Date(deps.clock.now()).toISOString();
    await deps.results.publish({ kind: 'result', tenant, run, node_id: nodeId, command_id: commandId, at, result });
    await bucket.update(commandId, { ...entry.value, ended: true }, entry.revision).catch(() => undefined);
    // A list for people: nothing waits for it.
    void deps.recent
      .ended({ tenant, node_id: nodeId, command_id: commandId, result, ended_at: at })
      .catch(() => undefined);
  }
  stream.progress?.delete(commandId);
  await stream.send({ command: undefined, resultAck: { commandIds: [commandId] } });
}

async function takeProgress(deps: TakeEventDeps, stream: LiveStream, message: CommandProgress): Promise<void> {
  const { commandId } = message;
  const chunk = chunkOf(message.chunk);
  if (commandId === '') return noteState(deps, stream, message);
  if (chunk === undefined) return;
  const left = progressLeft(stream, commandId);
  if (left <= 0) return;
  const entry = await recordOf(deps, stream, commandId);
  if (entry === undefined || entry.value.ended === true) return;
  const size = Math.max(chunkOverhead, bytesOf(chunk));
  remember(stream, commandId, size);
  const kept: EdgeChunk = size <= left ? chunk : { cut: true };
  const { tenant, run, node_id: nodeId } = entry.value;
  const at = new Date(deps.clock.now()).toISOString();
  await deps.results.publish({
    kind: 'progress',
    tenant,
    run,
    node_id: nodeId,
    command_id: commandId,
    at,
    chunk: kept,
  });
}

/** A state of the daemon itself, such as the end of a drain (requirements AMB-010). */
function noteState({ logger }: TakeEventDeps, { facts }: LiveStream, { chunk }: CommandProgress): void {
  if (chunk?.kind?.$case === 'status' && chunk.kind.value.state === 'drained') {
    logger.info({ node: facts.nodeId }, 'host drained');
  }
}

/** Of the chunk as JSON. Output is not written twice for it: Base64 has one byte a character, and needs no escapes. */
const bytesOf = (chunk: EdgeChunk): number =>
  'data' in chunk
    ? '{"stream":"","data":""}'.length + chunk.stream.length + chunk.data.length
    : Buffer.byteLength(JSON.stringify(chunk));

/** Least weight of a chunk, so that many small ones end as well. */
const chunkOverhead = 64;
/** Commands whose output a stream counts at a time. */
const commandsCounted = 256;

function remember(stream: LiveStream, commandId: string, size: number): void {
  const progress = (stream.progress ??= new Map());
  progress.set(commandId, (progress.get(commandId) ?? 0) + size);
  const [oldest] = progress.keys();
  if (progress.size > commandsCounted && oldest !== undefined) progress.delete(oldest);
}

/** Undefined for an unclaimed command, or one of another host: it does not count. */
async function recordOf({ bus, streams }: TakeEventDeps, stream: LiveStream, commandId: string) {
  const { host, facts } = stream;
  const entry = await bus.bucket<CommandRecord>(edgeBuckets.commands).get(commandId);
  if (entry?.value.node_id === facts.nodeId && entry.value.tenant === host.tenant) return entry;
  streams.strange(stream, entry !== undefined);
  return undefined;
}
