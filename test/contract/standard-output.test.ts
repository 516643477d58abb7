import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { exitCodes } from '../../cli/exit-codes.ts';

const main = new URL('../../cli/main.ts', import.meta.url).pathname;

/** Output of a shell for a command line in which `windlass` is the program. */
async function shell(line: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const bash = spawn('bash', ['-c', `windlass() { "$0" ${main} "$@"; }; ${line}`, process.execPath]);
  const [stdout, stderr] = await Promise.all([text(bash.stdout), text(bash.stderr)]);
  return { stdout, stderr };
}

it('a reader of standard output that has seen enough is no error', async () => {
  const line = 'windlass completion bash | true; echo ${PIPESTATUS[0]}';
  expect(await shell(line)).toEqual({ stdout: `${exitCodes.ok}\n`, stderr: '' });
});

it('a reader of standard error that has seen enough changes nothing in how a command ends', async () => {
  const line = 'windlass nonsense 2> >(true); echo $?';
  expect(await shell(line)).toEqual({ stdout: `${exitCodes.usage}\n`, stderr: '' });
});

it('standard output that cannot be written is one, and is said', async () => {
  expect(await shell('windlass completion bash >/dev/full; echo $?')).toEqual({
    stdout: `${exitCodes.failed}\n`,
    stderr: 'error: standard output cannot be written: ENOSPC\n',
  });
});
