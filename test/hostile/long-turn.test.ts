import { describe, it } from 'vitest';
import { startHolder } from './support/holder.ts';

/**
 * A user who may create an object in one namespace may make one that takes long to decide on. While the main loop of
 * the controllers is busy with it, the kubelet must not take the process for dead and hand the object to the next one.
 */
const silentMostMs = 3_000;

async function start() {
  const holder = await startHolder('--silent', String(silentMostMs));
  const ask = async (path: string) => {
    const response = await fetch(`${holder.url}${path}`);
    return { status: response.status, text: await response.text() };
  };
  return { holder, ask, [Symbol.asyncDispose]: () => holder.end() };
}

describe.concurrent('a process whose main loop is busy with one turn', { timeout: 90_000 }, () => {
  it('is alive for as long as a turn may take', async ({ expect }) => {
    await using process = await start();
    const { holder, ask } = process;
    await holder.hold(2_000);
    expect(await ask('/healthz')).toEqual({ status: 200, text: 'ok\n' });
    expect(holder.said.some((happening) => 'held' in happening)).toBe(false);
    await holder.until('held');
  });

  it('counts as stuck after that, and as alive again once the loop turns', async ({ expect }) => {
    await using process = await start();
    const { holder, ask } = process;
    await holder.hold(silentMostMs + 5_000);
    await expect.poll(async () => (await ask('/healthz')).status, { timeout: 20_000 }).toBe(503);
    expect((await ask('/healthz')).text).toMatch(/^loop: the main loop has not turned for \d+ s\n$/);
    expect(await ask('/readyz')).toEqual({ status: 503, text: 'loop: the main loop does not answer\n' });
    expect(holder.said.some((happening) => 'held' in happening)).toBe(false);
    await holder.until('held');
    await expect.poll(async () => (await ask('/healthz')).status, { timeout: 20_000 }).toBe(200);
    expect(await ask('/readyz')).toEqual({ status: 200, text: 'ok\n' });
  });
});
