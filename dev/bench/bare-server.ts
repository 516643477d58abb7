import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A server in a process of its own that does one thing and nothing else: the baseline of what the API does. */
export interface BareServer {
  readonly url: URL;
  readonly pid: number;
  /** Its program decides the use of the text. */
  send(text: string): void;
  stop(): void;
}

type Folder =
  | 'agent-api'
  | 'bare-koa'
  | 'bare-model'
  | 'bare-verifier'
  | 'broadcast'
  | 'noop-api'
  | 'noop-lane'
  | 'upstream';

/** Starts the program of that folder, with the setup as JSON in its first argument. */
export async function startBareServer(
  folder: Folder,
  setup: object = {},
  env: NodeJS.ProcessEnv = {},
): Promise<BareServer> {
  const child = fork(join(import.meta.dirname, folder, 'main.ts'), [JSON.stringify(setup)], {
    env: { ...process.env, NODE_ENV: 'production', ...env },
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: new URL(`http://127.0.0.1:${port}/`),
    pid: child.pid ?? 0,
    send: (text) => void child.send(text),
    stop: () => child.disconnect(),
  };
}
