import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { projectDir } from '../harness/project.ts';

const run = promisify(execFile);

const paths = new Map<string, Promise<string>>();

/** Path of a third-party program of `dev/setup`, built if need be; a process asks for each once. */
export function programPath(name: string): Promise<string> {
  const known = paths.get(name) ?? builtPath(name);
  paths.set(name, known);
  // The next call may find the network back.
  known.catch(() => paths.delete(name));
  return known;
}

async function builtPath(name: string): Promise<string> {
  await run(join(projectDir, 'dev', 'setup', 'build'), [name], { timeout: 900_000 });
  const script = `source "$1/dev/setup/programs.sh" && program_dir "$2"`;
  const { stdout } = await run('bash', ['-c', script, 'bash', projectDir, name]);
  return join(stdout.trim(), name);
}
