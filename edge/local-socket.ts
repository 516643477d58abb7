import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import type { DaemonFacts } from './daemon.ts';

const socketFile = 'daemon.sock';
/** An answer is a few hundred bytes. */
const answerBytes = 65_536;
const answerMs = 2_000;

/**
 * Answers each connection to the socket of the state folder with the facts as JSON. The caller holds the folder's lock.
 */
export async function serveFacts(folder: string, facts: () => DaemonFacts): Promise<AsyncDisposable> {
  const path = join(folder, socketFile);
  // Left by a daemon that was killed.
  await rm(path, { force: true });
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(JSON.stringify(facts()));
  });
  server.listen(path);
  await listening(server, path);
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      await rm(path, { force: true });
    },
  };
}

async function listening(server: Server, path: string): Promise<void> {
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new AppError('unavailable', `the socket ${path} cannot be opened; its path may be too long`, {
      cause: error,
    });
  }
}

/** The answer of the folder's daemon; undefined where none runs. */
export async function askFacts(folder: string, clock: Clock): Promise<unknown> {
  const over = new AbortController();
  const socket = connect(join(folder, socketFile));
  const late = clock.sleep(answerMs, over.signal).then(() => socket.destroy());
  let text = '';
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      text += chunk.toString('utf8');
      if (text.length > answerBytes) return undefined;
    }
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  } finally {
    over.abort();
    socket.destroy();
    await late;
  }
}
