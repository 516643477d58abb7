import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import type { Login } from './login.ts';
import { createLoginStore, loginFolder } from './login-store.ts';

const server = 'https://windlass.example.com/path';
const login: Login = {
  server,
  issuer: 'https://id.example.com',
  clientId: 'windlass-cli',
  scope: 'openid',
  accessToken: 'secret',
  refreshToken: 'more secret',
};

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-login-'));
});
afterEach(() => rm(folder, { recursive: true }));

const store = () => createLoginStore(join(folder, 'windlass', 'logins'), systemClock);
const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe('the logins of a user', () => {
  it('are where the user keeps configuration', () => {
    expect(loginFolder({ XDG_CONFIG_HOME: '/x', HOME: '/home/ada' })).toBe('/x/windlass/logins');
    expect(loginFolder({ XDG_CONFIG_HOME: '', HOME: '/home/ada' })).toBe('/home/ada/.config/windlass/logins');
  });

  it('can be read by their owner alone, however careless the umask', async () => {
    const before = process.umask(0);
    try {
      await store().write(login);
    } finally {
      process.umask(before);
    }
    const own = join(folder, 'windlass', 'logins');
    const [file = ''] = await readdir(own);
    expect(await modeOf(join(own, file))).toBe('600');
    expect([await modeOf(own), await modeOf(join(folder, 'windlass'))]).toEqual(['700', '700']);
  });

  it('are found again by their server, and by no other', async () => {
    await store().write(login);
    await store().write({ ...login, server: 'https://windlass.example.com', accessToken: 'other' });
    expect(await store().read(server)).toEqual(login);
    expect(await store().read('https://windlass.example.com/pat')).toBeUndefined();
  });

  it('leave no draft behind when they are written over', async () => {
    await store().write(login);
    await store().write({ ...login, accessToken: 'newer' });
    expect(await readdir(join(folder, 'windlass', 'logins'))).toHaveLength(1);
    expect((await store().read(server))?.accessToken).toBe('newer');
  });

  it('are gone once they are removed', async () => {
    await store().write(login);
    expect(await store().remove(server)).toBe(true);
    expect(await store().remove(server)).toBe(false);
    expect(await store().read(server)).toBeUndefined();
  });

  it.each(['', '{', '[]', '{"server":"x"}'])('are not guessed from %j', async (text) => {
    await store().write(login);
    const own = join(folder, 'windlass', 'logins');
    const [file = ''] = await readdir(own);
    await writeFile(join(own, file), text);
    await expect(store().read(server)).rejects.toThrow('holds no login');
  });

  it('are changed by one process at a time', async () => {
    const counter = join(folder, 'counter');
    await writeFile(counter, '0');
    const add = () =>
      store().alone(server, async () => {
        const seen = Number(await readFile(counter, 'utf8'));
        await systemClock.sleep(5);
        await writeFile(counter, String(seen + 1));
      });
    await Promise.all(Array.from({ length: 8 }, add));
    expect(await readFile(counter, 'utf8')).toBe('8');
  });

  it('are not taken from a process that works slowly, however old its lock', async () => {
    const order: string[] = [];
    const began = Promise.withResolvers<void>();
    const slow = store().alone(server, async () => {
      began.resolve();
      await systemClock.sleep(200);
      order.push('slow');
    });
    await began.promise;
    const own = join(folder, 'windlass', 'logins');
    const longAgo = new Date(Date.now() - 3_600_000);
    for (const file of await readdir(own)) await utimes(join(own, file), longAgo, longAgo);
    const others = [1, 2, 3].map((n) => store().alone(server, async () => void order.push(`other ${n}`)));
    await Promise.all([slow, ...others]);
    expect(order[0]).toBe('slow');
    expect(order).toHaveLength(4);
  });

  it('are locked for other processes, and free once one of those is killed', async () => {
    const module = new URL('login-store.ts', import.meta.url).href;
    const clock = new URL('../../lib/clock.ts', import.meta.url).href;
    const program = `
      import { createLoginStore } from ${JSON.stringify(module)};
      import { systemClock } from ${JSON.stringify(clock)};
      const store = createLoginStore(${JSON.stringify(join(folder, 'windlass', 'logins'))}, systemClock);
      await store.alone(${JSON.stringify(server)}, async () => {
        console.log('locked');
        await systemClock.sleep(60_000);
      });`;
    const other = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(other, 'exit');
    await once(other.stdout, 'data');
    let isDone = false;
    const mine = store().alone(server, async () => void (isDone = true));
    await systemClock.sleep(200);
    expect(isDone).toBe(false);
    other.kill('SIGKILL');
    await ended;
    await mine;
    expect(isDone).toBe(true);
  });

  it('are free again after work that failed', async () => {
    await expect(store().alone(server, () => Promise.reject(new Error('boom')))).rejects.toThrow('boom');
    expect(await store().alone(server, () => Promise.resolve('done'))).toBe('done');
  });
});
