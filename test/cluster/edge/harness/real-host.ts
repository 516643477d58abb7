import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { daemonProgram, type DaemonProgram, type Finished } from '../../../edge/daemon-program.ts';
import { programFile } from '../../harness/program-file.ts';
import type { EdgeWorld } from './edge-world.ts';

/** The daemon `windlass-edge` as a process of this machine. */
export interface RealHost {
  readonly name: string;
  /** Id from its enrollment; empty before. */
  readonly nodeId: string;
  readonly program: DaemonProgram;
  /** Where commands of a test leave marks; they know it as $MARKS. */
  readonly marks: string;
  enroll(token: string, ...more: string[]): Promise<Finished>;
  /** Starts the daemon and waits until the relay holds its stream. */
  start(): Promise<ChildProcess>;
  /** The daemon that was started last. */
  running(): ChildProcess;
  /** Runs the daemon until it ends by itself. */
  runToEnd(): Promise<Finished>;
  /** Ends the running daemon as systemd does. */
  stop(): Promise<void>;
}

const config = (name: string, marks: string) => ({
  labels: { host: name },
  environment: { MARKS: marks },
  security_contexts: { default: { subcommand_allowlist: { sh: ['-c'], uname: ['-s'] } } },
  max_concurrent_commands: 64,
});

/** A host that is not enrolled yet. It ends with the test file. */
export async function makeHost(world: EdgeWorld, name: string): Promise<RealHost & AsyncDisposable> {
  const program = await daemonProgram([process.execPath, programFile('windlass-edge')]);
  const marks = join(program.folder, 'marks');
  const configFile = join(program.folder, 'config.yaml');
  await mkdir(marks);
  await writeFile(configFile, JSON.stringify(config(name, marks)));
  let running: ChildProcess | undefined;
  const host = {
    name,
    nodeId: '',
    program,
    marks,
    async enroll(token: string, ...more: string[]) {
      const where = ['--endpoint', world.endpoint, '--ca', world.caFile, '--name', name];
      const ended = await patiently(() => program.run('enroll', '--token', token, ...where, ...more));
      host.nodeId = /Enrolled as (\S+)/.exec(ended.text)?.[1] ?? host.nodeId;
      return ended;
    },
    async start() {
      running = program.start('run', '--config', configFile);
      running.stderr?.resume();
      await opened(running);
      await world.hostIs(host.nodeId, 'Connected');
      return running;
    },
    running() {
      if (running === undefined) throw new Error(`${name} was not started`);
      return running;
    },
    runToEnd: () => program.run('run', '--config', configFile),
    async stop() {
      if (running === undefined || running.exitCode !== null) return;
      const ended = once(running, 'exit');
      running.kill('SIGTERM');
      await ended;
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
  return host;
}

/** A host that is enrolled and connected. */
export async function connectedHost(world: EdgeWorld, name: string): Promise<RealHost & AsyncDisposable> {
  const host = await makeHost(world, name);
  const { code, text } = await host.enroll(await world.enrollmentToken(name));
  if (code !== 0) throw new Error(`${name} does not enroll: ${text}`);
  await host.start();
  return host;
}

/** Until the daemon logs that its stream is open. */
async function opened(daemon: ChildProcess): Promise<void> {
  let text = '';
  await new Promise<void>((resolve, reject) => {
    daemon.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('"stream opened"')) resolve();
    });
    daemon.once('exit', (code) => reject(new Error(`the daemon ended with ${code}: ${text}`)));
  });
}

/** All daemons of this machine have the address of a node, which may attest five times a minute. */
async function patiently(enroll: () => Promise<Finished>): Promise<Finished> {
  for (let attempt = 0; ; attempt += 1) {
    const ended = await enroll();
    if (attempt === attemptsMax || !ended.text.includes('five times a minute')) return ended;
    await new Promise((resolve) => setTimeout(resolve, 15_000));
  }
}

const attemptsMax = 6;

/** How often each mark was left on a host: one line for each time that the command with this mark ran. */
export async function marksOf({ marks }: RealHost): Promise<ReadonlyMap<string, number>> {
  const names = await readdir(marks);
  const counted = names.map(async (name): Promise<[string, number]> => {
    const text = await readFile(join(marks, name), 'utf8');
    return [name, text.split('\n').length - 1];
  });
  return new Map(await Promise.all(counted));
}
