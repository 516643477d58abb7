import { type EdgeChunk, edgeLimits } from '../../lib/edge/index.ts';

/** The part of a command's output that was passed on. */
export interface PassedOutput {
  /** Bytes as the command wrote them, of both of its streams, and of the texts of states. */
  readonly bytes: number;
  readonly chunks: number;
  /** Its readers have heard that more followed. */
  readonly isCut: boolean;
}

interface Passing {
  progress: Map<string, PassedOutput> | undefined;
}

/** Commands whose output a stream counts at a time. */
const commandsCounted = 256;
const none: PassedOutput = { bytes: 0, chunks: 0, isCut: false };

/** Whether nothing of a command's output is passed on any more. */
export const isPassed = ({ progress }: Passing, commandId: string): boolean => progress?.get(commandId)?.isCut === true;

/**
 * The part of a chunk that is passed on: the first 64 KiB of a command to the byte, in 1024 chunks at
 * most. The chunk that does not fit is cut, and the word that more followed comes behind it.
 */
export function passOn(stream: Passing, commandId: string, chunk: EdgeChunk): readonly EdgeChunk[] {
  const progress = (stream.progress ??= new Map());
  const { bytes, chunks } = progress.get(commandId) ?? none;
  const left = chunks < edgeLimits.progressChunks ? edgeLimits.progressBytes - bytes : 0;
  const size = bytesOf(chunk);
  const isCut = size > left || chunks >= edgeLimits.progressChunks;
  progress.set(commandId, { bytes: bytes + Math.min(size, left), chunks: chunks + 1, isCut });
  const [oldest] = progress.keys();
  if (progress.size > commandsCounted && oldest !== undefined) progress.delete(oldest);
  return isCut ? [...beginningOf(chunk, left), { cut: true }] : [chunk];
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
