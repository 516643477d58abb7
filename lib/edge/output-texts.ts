import { StringDecoder } from 'node:string_decoder';

type StreamName = 'stdout' | 'stderr';

/** Text of one stream of a command. */
export interface OutputText {
  readonly stream: StreamName;
  readonly text: string;
}

/**
 * Turns chunks of output into text. A daemon cuts output at any byte, so that a character may begin in one chunk and end in
 * a later one of the same command and stream.
 */
export interface OutputTexts {
  /** The whole characters that are known by now; empty where a chunk completes none. */
  next(commandId: string, stream: StreamName, chunk: Uint8Array): string;
  /** The rest of a character that was never completed, as U+FFFD; the command is forgotten. */
  end(commandId: string): OutputText[];
}

type Decoders = Partial<Record<StreamName, StringDecoder>>;

/** Holds at most three bytes of each stream of a command that has not ended. */
export function createOutputTexts(): OutputTexts {
  const commands = new Map<string, Decoders>();
  return {
    next(commandId, stream, chunk) {
      const decoders = commands.get(commandId) ?? {};
      commands.set(commandId, decoders);
      decoders[stream] ??= new StringDecoder('utf8');
      return decoders[stream].write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    },
    end(commandId) {
      const { stdout, stderr } = commands.get(commandId) ?? {};
      commands.delete(commandId);
      const rests: OutputText[] = [
        { stream: 'stdout', text: stdout?.end() ?? '' },
        { stream: 'stderr', text: stderr?.end() ?? '' },
      ];
      return rests.filter(({ text }) => text !== '');
    },
  };
}
