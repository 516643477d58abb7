import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../lib/clock.ts';
import type { Environment } from '../../lib/config.ts';
import { newId, shortHash } from '../../lib/ids.ts';
import { CliError } from '../exit-codes.ts';
import type { Login, LoginStore } from './login.ts';

/** How long to wait for another process that renews the same login. */
const longestWaitMs = 120_000;
const lookAgainMs = 50;

/** `$XDG_CONFIG_HOME/windlass/logins`, by default below `~/.config`. */
export function loginFolder(env: Environment): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'windlass', 'logins');
}

/** One file for each server, which only its owner can read. */
export function createLoginStore(folder: string, clock: Clock): LoginStore {
  const fileOf = (server: string): string => join(folder, `${nameOf(server)}.json`);
  return {
    async read(server) {
      const text = await readFile(fileOf(server), 'utf8').catch(unlessMissing);
      return text === undefined ? undefined : parse(text, fileOf(server));
    },
    async write(login) {
      await makePrivate(folder);
      const file = fileOf(login.server);
      const draft = `${file}.${newId()}`;
      try {
        await writeFile(draft, `${JSON.stringify(login, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
        await rename(draft, file);
      } finally {
        await rm(draft, { force: true });
      }
    },
    async remove(server) {
      const had = (await stat(fileOf(server)).catch(unlessMissing)) !== undefined;
      await rm(fileOf(server), { force: true });
      return had;
    },
    async alone(server, work) {
      await makePrivate(folder);
      const free = await take(`${fileOf(server)}.lock`, clock);
      try {
        return await work();
      } finally {
        free();
      }
    },
  };
}

/** The folder and the one above it, both of which are ours. */
async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const own of [dirname(folder), folder]) await chmod(own, 0o700);
}

/** Readable, and different for each address. */
function nameOf(server: string): string {
  return `${server.replace(/^https?:\/\//, '').replaceAll(/[^A-Za-z0-9.-]+/g, '_')}-${shortHash(server, 12)}`;
}

/**
 * Resolves to what gives the lock back. It is a lock of the operating system, through SQLite: it ends with its process,
 * however that ends, so none is ever left behind for others to judge. The file stays, empty: a lock on a file that is
 * deleted locks out no process.
 */
async function take(file: string, clock: Clock): Promise<() => void> {
  const { DatabaseSync } = await import('node:sqlite');
  const lock = new DatabaseSync(file);
  const until = clock.now() + longestWaitMs;
  try {
    while (!isTaken(lock)) {
      if (clock.now() >= until) throw stuck();
      await clock.sleep(lookAgainMs);
    }
    return () => lock.close();
  } catch (error) {
    lock.close();
    throw error;
  }
}

function stuck(): CliError {
  return new CliError('conflict', 'another windlass is renewing this login and does not end', 'Find it, and end it.');
}

/** SQLITE_BUSY: another connection has it. */
const busy = 5;

function isTaken(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return false;
    throw error;
  }
}

function parse(text: string, file: string): Login {
  const login = parsed(text);
  const required = ['server', 'issuer', 'clientId', 'scope', 'accessToken'] as const;
  if (required.every((name) => typeof login?.[name] === 'string')) return login as unknown as Login;
  throw new CliError('usage', `${file} holds no login`, 'Log in again: windlass login');
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
