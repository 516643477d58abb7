import { printable } from '../text-width.ts';
import type { Terminal } from '../terminal.ts';
import type { FleetChunk } from './fleet-state.ts';

/** Most signs of a line that is kept until its end comes. */
const longestLine = 8_192;

/** Prints output of several hosts, a whole line at a time, each with the name of its host. */
export function createFleetLines(terminal: Pick<Terminal, 'out' | 'note'>, nameOf: (id: string) => string) {
  const rests = new Map<string, string>();
  const print = (id: string, stream: string, line: string): void => {
    const text = printable(`${nameOf(id)} | ${line}`);
    if (stream === 'stdout') terminal.out(text);
    else terminal.note(text);
  };
  return {
    push({ node_id: id, chunk }: FleetChunk): void {
      if ('status' in chunk) {
        print(id, 'status', chunk.status);
        return;
      }
      const [stream, text] = 'stdout' in chunk ? ['stdout', chunk.stdout] : ['stderr', chunk.stderr];
      const key = `${stream} ${id}`;
      const lines = `${rests.get(key) ?? ''}${text}`.split('\n');
      const rest = lines.pop() ?? '';
      for (const line of lines) print(id, stream, line);
      if (rest.length <= longestLine) rests.set(key, rest);
      else {
        print(id, stream, rest);
        rests.delete(key);
      }
    },
    /** Prints what no line end followed: of one host, or of all. */
    flush(host?: string): void {
      for (const [key, rest] of rests) {
        const [stream = '', id = ''] = key.split(' ');
        if (host !== undefined && id !== host) continue;
        if (rest !== '') print(id, stream, rest);
        rests.delete(key);
      }
    },
  };
}
