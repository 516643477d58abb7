import type { StreamName } from '../lib/capture/captured-streams.ts';
import type { LogSink } from '../lib/execution/read-logs.ts';

const lineFeed = 0x0a;

/**
 * Puts `prefix` before each line, for output of several commands at once. Only whole lines are passed on, so that
 * commands never write into each other's lines; `end` passes on the rest with a line end.
 */
export function createLinePrefix(prefix: string, sink: LogSink): { readonly sink: LogSink; end(): Promise<void> } {
  const start = Buffer.from(prefix);
  const rest: Record<StreamName, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  return {
    async sink(stream, bytes) {
      const data = Buffer.concat([rest[stream], bytes]);
      const parts: Buffer[] = [];
      let from = 0;
      for (let end = data.indexOf(lineFeed); end >= 0; end = data.indexOf(lineFeed, from)) {
        parts.push(start, data.subarray(from, end + 1));
        from = end + 1;
      }
      rest[stream] = data.subarray(from);
      if (parts.length > 0) await sink(stream, Buffer.concat(parts));
    },
    async end() {
      for (const stream of ['stdout', 'stderr'] as const) {
        if (rest[stream].length > 0) await sink(stream, Buffer.concat([start, rest[stream], Buffer.from('\n')]));
        rest[stream] = Buffer.alloc(0);
      }
    },
  };
}
