import { type EdgeChunk, edgeBuckets, edgeLimits } from '../../lib/edge/index.ts';

/** The part of a command's output that was passed on. */
export interface PassedOutput {
  /** Bytes as the command wrote them, of both of its streams, and of the texts of states. */
  readonly bytes: number;
  readonly chunks: number;
  /** Its readers have heard that more followed. */
  readonly isCut: boolean;
  /** When the first of it came. */
  readonly since: number;
}

interface Passing {
  progress: Map<string, PassedOutput> | undefined;
}

/** Commands in flight whose output a stream counts. A further one has its output cut, as none that is counted may be forgotten. */
const commandsCounted = 256;
/** The readers of as many hear that output is left out; what follows for others is dropped without a word. */
const commandsKnown = 2 * commandsCounted;
/** A command is forgotten where its result never came: its record in the bus is gone by then. */
const forgottenMs = edgeBuckets.commands.ttlMs;
const cut: EdgeChunk = { cut: true };

/** Whether nothing of a command's output is passed on any more. */
export const isPassed = ({ progress }: Passing, commandId: string): boolean => progress?.get(commandId)?.isCut === true;

interface Output {
  readonly commandId: string;
  readonly chunk: EdgeChunk;
  /** In time that never steps. */
  readonly nowMs: number;
}

/**
 * The part of a chunk that is passed on: the first 64 KiB of a command to the byte, in 1024 chunks at
 * most. The chunk that does not fit is cut, and the word that more followed comes behind it.
 */
export function passOn(stream: Passing, { commandId, chunk, nowMs }: Output): readonly EdgeChunk[] {
  const progress = (stream.progress ??= new Map());
  const known = progress.get(commandId);
  if (known === undefined) forgetOld(progress, nowMs);
  if (known === undefined && progress.size >= commandsCounted) return refused(progress, commandId, nowMs);
  const { bytes, chunks, since } = known ?? { bytes: 0, chunks: 0, since: nowMs };
  const left = chunks < edgeLimits.progressChunks ? edgeLimits.progressBytes - bytes : 0;
  const size = bytesOf(chunk);
  const isCut = size > left || chunks >= edgeLimits.progressChunks;
  progress.set(commandId, { bytes: bytes + Math.min(size, left), chunks: chunks + 1, isCut, since });
  return isCut ? [...beginningOf(chunk, left), cut] : [chunk];
}

function refused(progress: Map<string, PassedOutput>, commandId: string, since: number): readonly EdgeChunk[] {
  if (progress.size >= commandsKnown) return [];
  progress.set(commandId, { bytes: 0, chunks: 0, isCut: true, since });
  return [cut];
}

/** The oldest come first. */
function forgetOld(progress: Map<string, PassedOutput>, nowMs: number): void {
  for (const [commandId, { since }] of progress) {
    if (nowMs - since < forgottenMs) return;
    progress.delete(commandId);
  }
}

function bytesOf(chunk: EdgeChunk): number {
  if ('data' in chunk) return Buffer.byteLength(chunk.data, 'base64');
  return 'state' in chunk ? Buffer.byteLength(chunk.state) + Buffer.byteLength(chunk.message) : 0;
}

/** A part of a state says nothing. */
function beginningOf(chunk: EdgeChunk, left: number): readonly EdgeChunk[] {
  if (left <= 0 || !('data' in chunk)) return [];
  return [{ stream: chunk.stream, data: Buffer.from(chunk.data, 'base64').subarray(0, left).toString('base64') }];
}
