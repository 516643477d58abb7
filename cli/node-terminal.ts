import type { WriteStream } from 'node:tty';
import type { Environment } from '../lib/config.ts';
import type { Terminal } from './terminal.ts';

interface TerminalDeps {
  readonly stdout: WriteStream | NodeJS.WriteStream;
  readonly stderr: WriteStream | NodeJS.WriteStream;
  readonly env: Environment;
}

/** The process's own streams. Colours follow NO_COLOR and FORCE_COLOR. */
export function createTerminal({ stdout, stderr, env }: TerminalDeps): Terminal {
  const isTerminal = stdout.isTTY === true && env['TERM'] !== 'dumb';
  const forced = env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '0';
  return {
    out: (line) => void stdout.write(`${line}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    raw: (text) => void stdout.write(text),
    bytes: (chunk, stream) => writeAll(stream === 'stdout' ? stdout : stderr, chunk),
    live: isTerminal,
    colour: !env['NO_COLOR'] && (isTerminal || forced),
    columns: () => stdout.columns || 80,
    rows: () => stdout.rows || 24,
  };
}

/** Resolves when the stream has taken the bytes, so that a slow reader slows the source down, or when it never will. */
function writeAll(stream: NodeJS.WriteStream, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve);
    stream.write(chunk, () => {
      stream.off('close', resolve);
      resolve();
    });
  });
}
