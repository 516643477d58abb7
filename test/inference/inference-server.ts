import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { forgetProcess, recordProcess } from '../cluster/harness/process-record.ts';
import { projectDir } from '../cluster/harness/project.ts';

/** A real inference server on loopback: that of llama.cpp, with a model of the test. */
export interface InferenceServer {
  readonly url: string;
  /** Credentials of a request. */
  readonly key: string;
  stop(): Promise<void>;
}

/** A model that says the words of a chain one after the other once it has read the first. */
interface BigramModel {
  /** Chat template (Jinja), which makes one text of a conversation. */
  readonly template: string;
  /** The model ends behind the last word; "..." says the word before for ever. */
  readonly chains: readonly (readonly string[])[];
}

const key = 'sk-of-the-test';

async function writeModel(python: string, path: string, model: BigramModel): Promise<void> {
  const writing = promisify(execFile)(python, [join(import.meta.dirname, 'bigrams.py'), path], { timeout: 60_000 });
  writing.child.stdin?.end(JSON.stringify(model));
  await writing;
}

/** Installs the server if need be, writes the model, and starts the server with it. */
export async function startInferenceServer(model: BigramModel): Promise<InferenceServer> {
  const installing = await promisify(execFile)(join(projectDir, 'dev/setup/inference'), { timeout: 600_000 });
  const python = join(installing.stdout.trim(), 'bin/python');
  const folder = await mkdtemp(join(tmpdir(), 'windlass-inference-'));
  const path = join(folder, 'bigrams.gguf');
  await writeModel(python, path, model);
  const child = spawn(python, [join(import.meta.dirname, 'serve.py'), path], { stdio: ['pipe', 'pipe', 'pipe'] });
  await once(child, 'spawn');
  const { pid = 0 } = child;
  await recordProcess(pid, 'inference server');
  const url = await addressOf(child);
  return {
    url,
    key,
    async stop() {
      const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGKILL');
      await gone;
      await forgetProcess(pid);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The line with the address comes when the model is loaded. */
async function addressOf({ stdout, stderr }: ChildProcess): Promise<string> {
  if (stdout === null || stderr === null) throw new Error('the server was started without pipes');
  let log = '';
  stderr.on('data', (chunk: Buffer) => (log += String(chunk)));
  for await (const line of createInterface(stdout)) if (line.startsWith('http://')) return line;
  throw new Error(`the inference server did not start:\n${log}`);
}
