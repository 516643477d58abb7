import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { edgeHostName } from '../../../crds/schema/edge-host.ts';
import { type PythonDaemon, pythonDaemon } from '../../support/python-daemon.ts';
import { edgeHosts } from '../harness/kinds.ts';
import { waitForObject } from '../harness/wait.ts';
import { type EdgeWorld, openEdgeWorld } from './harness/edge-world.ts';
import { connectedHost, type RealHost } from './harness/real-host.ts';

let world: EdgeWorld;
let folder: string;
let python: PythonDaemon;
let ours: RealHost & AsyncDisposable;
let theirs: string;
let daemon: ChildProcess;

beforeAll(async () => {
  world = await openEdgeWorld('edge-third-party');
  folder = await mkdtemp(join(tmpdir(), 'third-party-'));
  python = await pythonDaemon(folder, world.caFile);
  ours = await connectedHost(world, 'ours');
}, 700_000);
afterAll(async () => {
  await python.stop();
  await ours[Symbol.asyncDispose]();
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

/** All daemons of this machine have one address, which may attest five times a minute. */
async function enrolled(state: string, tokenFile: string): Promise<string> {
  for (let attempt = 0; ; attempt += 1) {
    const { code, text } = await python.run('enroll', state, world.endpoint, tokenFile);
    if (code === 0) return text.trim();
    if (attempt === 6) throw new Error(`the daemon in Python does not enroll: code ${code}`);
    await new Promise((resolve) => setTimeout(resolve, 15_000));
  }
}

describe('a daemon of another make at the installed relay', () => {
  it('EDGE-FLOW-01 EDGE-FLOW-04 enrolls and connects over TLS', async () => {
    await writeFile(join(folder, 'token'), await world.enrollmentToken('python'));
    theirs = await enrolled(join(folder, 'state'), join(folder, 'token'));
    await world.hostIs(theirs, 'Disconnected');
    daemon = python.start('run', join(folder, 'state'), 'sh');
    const host = await world.hostIs(theirs, 'Connected');
    expect(host.status?.capabilities).toMatchObject({
      os: 'linux',
      local_tools: ['cmd.run'],
      labels: { made: 'python' },
    });
  });

  const everywhere = {
    target: { All: null },
    tool: 'cmd.run',
    args: { command: 'sh', args: ['-c', 'echo fleet; exit 4'] },
  };
  const summaryOf = ({ events }: Awaited<ReturnType<EdgeWorld['invoke']>>): unknown =>
    events.find(({ event }) => event === 'fleet_result')?.data;

  it('EDGE-RES-21 EDGE-FLOW-10 runs beside windlass-edge in one fleet', async () => {
    const invoked = await world.invoke(everywhere);
    expect(invoked.status).toBe(200);
    expect(summaryOf(invoked)).toMatchObject({
      summary: { ok: 2, err: 0, timed_out: 0, cancelled: 0, not_started: 0 },
    });
    const run = await world.http(`/v1/edge/fleet/runs/${invoked.id}`);
    const { per_node: perNode } = run.json<{ readonly per_node: readonly { readonly node_id: string }[] }>();
    expect(perNode.map(({ node_id: id }) => id).toSorted()).toEqual([ours.nodeId, theirs].toSorted());
    for (const one of perNode) expect(one).toMatchObject({ outcome: 'ok', exit_code: 4, stdout_tail: 'fleet\n' });
  });

  it('EDGE-FLOW-22 rotates its key, and continues at once on the same stream', async () => {
    const at = { resource: edgeHosts, namespace: world.tenant, name: edgeHostName(theirs) };
    const { resource, ...ref } = at;
    const before = await world.kube.get(resource, ref);
    daemon.kill('SIGUSR1');
    const after = await waitForObject(
      world.kube,
      at,
      ({ status }) => status?.keys.previous === before.status?.keys.current,
      { timeoutMs: 30_000, what: 'a rotated key' },
    );
    expect(after.status?.keys.current).not.toBe(before.status?.keys.current);
    expect(summaryOf(await world.invoke(everywhere))).toMatchObject({ summary: { ok: 2 } });
    // `since` of a host whose stream was lost and came back would be later.
    expect((await world.kube.get(resource, ref)).status?.since).toBe(before.status?.since);
  });

  it('EDGE-FLOW-18 ends for good once it is revoked', async () => {
    const exit = once(daemon, 'exit');
    expect((await world.http(`/v1/edge/hosts/${theirs}`, { method: 'DELETE' })).status).toBe(204);
    expect((await exit)[0]).toBe(78);
    await world.hostIs(theirs, 'Revoked');
  });
});
