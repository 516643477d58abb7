import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { enroll } from '../../../edge/enroll.ts';
import { openHostState } from '../../../edge/state/host-state.ts';
import { createRelayClient } from '../../../edge/stream/relay-client.ts';
import { systemClock } from '../../../lib/clock.ts';
import { isJsonObject } from '../../../lib/json-object.ts';
import { openingPace } from '../../../relay/streams/tenant-streams.ts';
import { type DaemonProgram, daemonProgram } from '../../edge/daemon-program.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import { ProtocolWorld } from '../edge-protocol/protocol-world.ts';

let world: ProtocolWorld;
beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());

const main = join(import.meta.dirname, '../../../edge/main.ts');
type Line = Readonly<Record<string, unknown>> & { readonly time: number };

/** Enrolls the folder of the daemon, and uses up the pace of its host by streams that say no Hello. */
async function pacedOut({ listener }: TestRelay, { folder }: DaemonProgram): Promise<string> {
  const state = await openHostState(join(folder, 'state'), { uid: process.geteuid?.() ?? 0 });
  const deps = { clock: systemClock, state, open: createRelayClient, version: '1.0.0', pid: process.pid };
  const address = { endpoint: `127.0.0.1:${listener.port}`, insecure: true };
  await enroll(deps, { address, token: await world.token(), name: 'host', replace: false });
  using client = createRelayClient(address);
  const { token = '' } = (await state.credential()) ?? {};
  for (let opened = 0; opened <= openingPace.burst; opened += 1) {
    const stream = client.connect(token);
    stream.write(Uint8Array.of(0xff));
    const [error] = (await once(stream, 'error')) as [Error];
    const isLast = opened === openingPace.burst;
    expect(error.message).toContain(isLast ? 'opened too often; try again in 2 s' : 'INVALID_ARGUMENT');
  }
  return (await state.identity())?.nodeId ?? '';
}

/** Lines of its log, as they come. */
function logOf({ stdout }: ChildProcess): Line[] {
  const lines: Line[] = [];
  if (stdout !== null) {
    createInterface({ input: stdout }).on('line', (text) => {
      const line: unknown = JSON.parse(text);
      if (isJsonObject(line)) lines.push({ ...line, time: systemClock.steadyMs() });
    });
  }
  return lines;
}

const named = (lines: readonly Line[], msg: string): Line[] => lines.filter((line) => line['msg'] === msg);

it('EDGE-FLOW-29 our daemon waits as long as the relay says, tells its owner so, and comes back by itself', async () => {
  let steady = systemClock.steadyMs();
  const relay = await world.relay({ clock: { ...world.clock, steadyMs: () => steady } });
  await using daemon = await daemonProgram([process.execPath, main]);
  const config = ['--config', join(daemon.folder, 'config.yaml')];
  await writeFile(join(daemon.folder, 'config.yaml'), '{"security_contexts":{"default":{}}}');
  const nodeId = await pacedOut(relay, daemon);
  const lines = logOf(daemon.start('run', ...config));
  await vi.waitFor(() => expect(named(lines, 'pause before the next stream').length).toBeGreaterThan(0), {
    timeout: 30_000,
  });
  const problem = 'the relay answered RESOURCE_EXHAUSTED: streams of this host are opened too often; try again in 2 s';
  const [lost] = named(lines, 'stream lost');
  expect(lost).toMatchObject({ problem, reason: 'RESOURCE_EXHAUSTED' });
  const [pause] = named(lines, 'pause before the next stream');
  expect(pause?.['pauseMs']).toBeGreaterThanOrEqual(openingPace.intervalMs);
  const { text } = await daemon.run('status', '-o', 'json');
  expect(JSON.parse(text)).toMatchObject({ running: true, connected: false, problem, again_in_ms: expect.any(Number) });
  const doctor = await daemon.run('doctor', ...config);
  expect(doctor.text).toMatch(/^WRONG daemon: it has no stream.*RESOURCE_EXHAUSTED.*it tries again in \d+ s$/m);
  // It has asked again meanwhile, and never sooner than the relay said.
  await vi.waitFor(() => expect(named(lines, 'stream opened').length).toBeGreaterThan(1), { timeout: 30_000 });
  const [, again] = named(lines, 'stream opened');
  expect((again?.time ?? 0) - (lost?.time ?? 0)).toBeGreaterThan(openingPace.intervalMs - 200);
  steady += openingPace.intervalMs;
  const status = async () => (await world.statusOf('acme', nodeId))?.status;
  await vi.waitFor(async () => expect(await status()).toBe('Connected'), { timeout: 60_000, interval: 100 });
  expect((await daemon.run('doctor', ...config)).text).toMatch(/^ok {4}daemon: it has a stream/m);
}, 180_000);
