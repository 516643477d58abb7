import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A bare server of the host's own process that sends the same bytes to everybody. */
export interface Broadcast {
  readonly url: URL;
  readonly pid: number;
  send(text: string): void;
  stop(): void;
}

export async function startBroadcast(): Promise<Broadcast> {
  const child = fork(join(import.meta.dirname, 'main.ts'));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: new URL(`http://127.0.0.1:${port}/`),
    pid: child.pid ?? 0,
    send: (text) => void child.send(text),
    stop: () => child.disconnect(),
  };
}
