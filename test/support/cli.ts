import { Readable } from 'node:stream';
import { connect } from '../../cli/connect.ts';
import { explainError } from '../../cli/explain-error.ts';
import { createLaunch } from '../../cli/launch.ts';
import { createFiles } from '../../cli/node-files.ts';
import { createProgram, withChildren } from '../../cli/program.ts';
import { systemClock } from '../../lib/clock.ts';

/** Output and exit code of a command. */
interface Ran {
  readonly code: number;
  readonly out: string;
  readonly notes: string;
}

/** Runs the command line in this process, with this environment and no terminal. */
export async function runCli(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  { stdin = '', interrupted = new AbortController().signal, onLine = (_line: string): void => undefined } = {},
): Promise<Ran> {
  const [out, notes]: [string[], string[]] = [[], []];
  const terminal = {
    out: (line: string) => {
      out.push(line);
      onLine(line);
    },
    note: (line: string) => void notes.push(line),
    bytes: async () => undefined,
    raw: () => undefined,
    live: false,
    colour: false,
    columns: () => 120,
    rows: () => 40,
  };
  const parts = { terminal, files: createFiles(Readable.from([stdin])), clock: systemClock, interrupted };
  const world = { ...parts, open: connect({ ...parts, env, fetch }) };
  let code = 0;
  const program = createProgram(createLaunch(world, (exit) => (code = exit)));
  for (const command of withChildren(program)) command.exitOverride().configureOutput({ writeErr: terminal.note });
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    const { lines, exitCode } = explainError(error);
    notes.push(...lines);
    code = exitCode;
  }
  return { code, out: out.join('\n'), notes: notes.join('\n') };
}
