import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { EdgeHost } from '../../../crds/schema/edge-host.ts';
import { type EdgeNews, mintCommandToken, nodeIdOf } from '../../../lib/edge/index.ts';
import { type FleetProcess, FleetServer, perNodeOf, startFleetController } from '../../support/fleet-controller.ts';
import { type PythonDaemon, pythonDaemon } from '../../support/python-daemon.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import { type Claimed, ProtocolWorld } from './protocol-world.ts';

const root = join(import.meta.dirname, '../../..');

let world: ProtocolWorld;
let relay: TestRelay & { readonly client: Client };
let folder: string;
let python: PythonDaemon;
/** Node ids of the daemon in Python, and of ours. */
let theirs: string;
let ours: string;
const started = new Set<ChildProcess>();
/** Nodes that have acknowledged a Drain. */
const drained: unknown[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'third-party-'));
  python = await pythonDaemon(folder);
  world = await ProtocolWorld.start();
  const info = (fields: Readonly<Record<string, unknown>>, message: string): void => {
    if (message === 'host drained') drained.push(fields['node']);
  };
  relay = await world.relay({ heartbeatMs: 1_000, logger: { ...silentLogger, info } });
  theirs = await enrolled((token, endpoint) => python.start('enroll', join(folder, 'theirs'), endpoint, token));
  ours = await enrolled((token, endpoint) =>
    ourDaemon('enroll', '--token-file', token, '--endpoint', endpoint, '--insecure'),
  );
  const shell = { default: { subcommand_allowlist: { sh: ['-c'] } } };
  await writeFile(join(folder, 'config.yaml'), JSON.stringify({ security_contexts: shell }));
}, 660_000);
afterAll(async () => {
  await python.stop();
  for (const child of started) child.kill('SIGKILL');
  await world.stop();
  await rm(folder, { recursive: true, force: true });
});

function ourDaemon(...args: string[]): ChildProcess {
  const program = join(root, 'edge/main.ts');
  const child = spawn(process.execPath, [program, ...args, '--state', join(folder, 'ours')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  started.add(child);
  return child;
}

async function enrolled(daemon: (tokenFile: string, endpoint: string) => ChildProcess): Promise<string> {
  const jti = randomUUID();
  await writeFile(join(folder, 'token'), await world.token('acme', jti));
  const child = daemon(join(folder, 'token'), `127.0.0.1:${relay.listener.port}`);
  expect((await once(child, 'exit'))[0]).toBe(0);
  return nodeIdOf(jti);
}

const becomes = (nodeId: string, state: string): Promise<void> =>
  vi.waitFor(async () => expect((await world.statusOf('acme', nodeId))?.status).toBe(state), { timeout: 20_000 });

/** Starts it, and waits for a stream that is not the one before. */
async function running(): Promise<ChildProcess> {
  const { hostUid } = await world.addressOf('acme', theirs);
  const before = relay.streams.get(hostUid);
  const child = python.start('run', join(folder, 'theirs'), 'sh');
  await vi.waitFor(
    () => {
      const stream = relay.streams.get(hostUid);
      if (stream === undefined || stream === before || stream.epoch === 0) throw new Error('no new stream');
    },
    { timeout: 20_000 },
  );
  await becomes(theirs, 'Connected');
  return child;
}

interface Order extends Claimed {
  readonly nodeId: string;
  readonly token: string;
  readonly args: { readonly command: string; readonly args: string[] };
}

/** A command of an operator, as a fleet run makes it. */
async function order(
  script: string,
  changes: { readonly seconds?: number; readonly key?: 'other' } = {},
): Promise<Order> {
  const [run, commandId] = [randomUUID(), randomUUID()];
  const deadline = new Date(Date.now() + 60_000).toISOString();
  await world.commands.claim({ run, commandId, node_id: theirs, tenant: 'acme', tool: 'cmd.run', deadline });
  const args = { command: 'sh', args: ['-c', script] };
  const key = changes.key === undefined ? world.edgeKey : generateKeyPairSync('ed25519');
  const token = await mintCommandToken(key.privateKey, {
    author: 'ops',
    tid: 'acme',
    node: theirs,
    commandId,
    tool: 'cmd.run',
    args,
    context: 'default',
    deadlineSeconds: changes.seconds ?? 20,
    now: Date.now(),
    lifeMs: 60_000,
  });
  return { run, commandId, nodeId: theirs, token, args };
}

async function send({ run, commandId, token, args }: Order, sent: object = args): Promise<void> {
  const command = { commandId, run, tool: 'cmd.run', context: 'default', token, deadlineMs: 20_000 };
  await world.commands.send(await world.addressOf('acme', theirs), { ...command, args: { ...sent } });
}

const resultIn = (news: readonly EdgeNews[]) => news.flatMap((one) => (one.kind === 'result' ? [one.result] : []));
const stdoutIn = (news: readonly EdgeNews[]): string =>
  news
    .flatMap((one) =>
      one.kind === 'progress' && 'data' in one.chunk && one.chunk.stream === 'stdout' ? [one.chunk] : [],
    )
    .map(({ data }) => Buffer.from(data, 'base64').toString())
    .join('');
const begun = (of: Order): Promise<void> =>
  vi.waitFor(async () => expect(stdoutIn(await world.news(of, 0))).toContain('begun'), { timeout: 10_000 });

describe('a daemon in Python, from docs/edge-protocol.md alone', () => {
  let daemon: ChildProcess;

  it('EDGE-FLOW-01 EDGE-FLOW-04 EDGE-PROTO-04 attests, answers the challenge, and connects', async () => {
    expect((await world.statusOf('acme', theirs))?.status).toBe('Disconnected');
    daemon = await running();
    expect((await world.statusOf('acme', theirs))?.capabilities).toMatchObject({
      os: 'linux',
      local_tools: ['cmd.run'],
      labels: { made: 'python' },
    });
  });

  it('EDGE-PROTO-14 EDGE-PROTO-15 EDGE-PROTO-27 runs a command: progress, then its result', async () => {
    const of = await order('echo out; echo err >&2; exit 3');
    await send(of);
    const news = await world.news(of, 4);
    expect(stdoutIn(news)).toBe('out\n');
    expect(resultIn(news)).toMatchObject([
      { outcome: 'ok', exit_code: 3, payload: { stdout: 'out\n', stderr: 'err\n', exit_code: 3 } },
    ]);
    expect(news.at(-1)?.kind).toBe('result');
  });

  it('EDGE-PROTO-39 runs nothing that is not proven, and a repeated command once', async () => {
    const file = join(folder, 'count');
    const [foreign, changed, good] = [
      await order(`echo no >> ${file}`, { key: 'other' }),
      await order('true'),
      await order(`echo yes >> ${file}`),
    ];
    await send(foreign);
    await send(changed, foreign.args);
    for (const of of [foreign, changed]) {
      expect(resultIn(await world.news(of, 1))).toMatchObject([{ outcome: 'err', code: 'CommandUnproven' }]);
    }
    await send(good);
    await send(good);
    await vi.waitFor(async () => expect(resultIn(await world.news(good, 0))).toHaveLength(1));
    await send(good);
    const last = await order('true');
    await send(last);
    await world.news(last, 2);
    expect(await readFile(file, 'utf8')).toBe('yes\n');
    expect(resultIn(await world.news(good, 0))).toHaveLength(1);
  });

  it('EDGE-PROTO-29 EDGE-PROTO-30 EDGE-PROTO-43 ends at the deadline, and by Cancel', async () => {
    const late = await order('sleep 31', { seconds: 1 });
    await send(late);
    const slow = await order('echo begun; sleep 31');
    await send(slow);
    await begun(slow);
    await world.commands.cancel(await world.addressOf('acme', theirs), { commandId: slow.commandId, reason: 'enough' });
    expect(resultIn(await world.news(slow, 3))).toEqual([{ outcome: 'cancelled', reason: 'enough' }]);
    expect(resultIn(await world.news(late, 2))).toEqual([{ outcome: 'timed_out', deadline_ms: 1_000 }]);
  });

  it('EDGE-FLOW-08 EDGE-FLOW-12 takes a PushConfig, and reports its new labels', async () => {
    const delta = JSON.stringify({ labels: { ring: '1' } });
    await world.commands.pushConfig(await world.addressOf('acme', theirs), { delta, version: '1' });
    await vi.waitFor(
      async () => {
        const { labels } = (await world.statusOf('acme', theirs))?.capabilities ?? {};
        expect(labels).toEqual({ made: 'python', ring: '1' });
      },
      { timeout: 10_000 },
    );
  });

  it('EDGE-FLOW-21 EDGE-FLOW-22 rotates its key on the open stream, and continues', async () => {
    const before = await world.statusOf('acme', theirs);
    const { hostUid } = await world.addressOf('acme', theirs);
    const stream = relay.streams.get(hostUid);
    daemon.kill('SIGUSR1');
    await vi.waitFor(
      async () => expect((await world.statusOf('acme', theirs))?.keys.previous).toBe(before?.keys.current),
      {
        timeout: 10_000,
      },
    );
    const of = await order('echo rotated');
    await send(of);
    expect(stdoutIn(await world.news(of, 3))).toBe('rotated\n');
    expect(relay.streams.get(hostUid)).toBe(stream);
  });

  it('AMB-200 reports OutcomeUnknown for a command during which it was killed, and never runs it again', async () => {
    const file = join(folder, 'killed');
    const of = await order(`echo x >> ${file}; echo begun; sleep 2`);
    await send(of);
    await begun(of);
    await python.kill(daemon);
    daemon = await running();
    await vi.waitFor(async () => expect(resultIn(await world.news(of, 0))).toHaveLength(1), { timeout: 10_000 });
    expect(resultIn(await world.news(of, 0))).toMatchObject([{ outcome: 'err', code: 'OutcomeUnknown' }]);
    await send(of);
    const last = await order('true');
    await send(last);
    await world.news(last, 2);
    expect(await readFile(file, 'utf8')).toBe('x\n');
  });

  it('EDGE-RES-21 EDGE-RES-27 runs beside windlass-edge in one fleet run', async () => {
    ourDaemon('run', '--config', join(folder, 'config.yaml'));
    await becomes(ours, 'Connected');
    const members: EdgeHost[] = [...world.hosts.known()].map(({ object }) => object);
    const server = new FleetServer({ args: { command: 'sh', args: ['-c', 'echo fleet; exit 4'] } });
    const facts = { bus: world.nats.connect(), edgeKey: world.edgeKey.privateKey, server, hosts: members };
    const controller: FleetProcess = startFleetController(facts);
    try {
      await vi.waitFor(() => expect(server.status.phase).toBe('Ended'), { timeout: 20_000 });
    } finally {
      await controller.kill();
    }
    expect(server.status).toMatchObject({ outcome: 'complete', targets_resolved: 2, summary: { ok: 2, err: 0 } });
    const perNode = await perNodeOf(server);
    expect(perNode.map(({ node_id: id }) => id).toSorted()).toEqual([ours, theirs].toSorted());
    for (const one of perNode) expect(one).toMatchObject({ outcome: 'ok', exit_code: 4, stdout_tail: 'fleet\n' });
  });

  it('EDGE-FLOW-13 EDGE-FLOW-14 AMB-010 drains: refuses new work, ends what is under way, then acknowledges', async () => {
    const of = await order('echo begun; sleep 1; echo done');
    await send(of);
    await begun(of);
    await world.commands.drain(await world.addressOf('acme', theirs));
    const refused = await order('true');
    await send(refused);
    expect(resultIn(await world.news(refused, 1))).toMatchObject([{ outcome: 'err', code: 'Draining' }]);
    expect(drained).toEqual([]);
    await vi.waitFor(() => expect(drained).toEqual([theirs]), { timeout: 10_000 });
    expect(resultIn(await world.news(of, 0))).toMatchObject([{ outcome: 'ok', exit_code: 0 }]);
  });

  it('EDGE-FLOW-15 EDGE-PROTO-46 shuts down: cancels after the grace, sends the result, and ends with 0', async () => {
    await python.kill(daemon);
    daemon = await running();
    const of = await order('echo begun; sleep 31');
    await send(of);
    await begun(of);
    const exit = once(daemon, 'exit');
    await world.commands.shutdown(await world.addressOf('acme', theirs), 200);
    expect(resultIn(await world.news(of, 3))).toMatchObject([{ outcome: 'cancelled' }]);
    expect((await exit)[0]).toBe(0);
  });

  it('EDGE-FLOW-18 ends with 78 once its host is revoked', async () => {
    daemon = await running();
    const exit = once(daemon, 'exit');
    world.hosts.revoke('acme', theirs);
    expect((await exit)[0]).toBe(78);
  });
});
