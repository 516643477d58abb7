import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttp2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import { bundledDaemon } from '../test/edge/bundled-daemon.ts';
import { startTestRelay } from '../test/edge/test-relay.ts';
import { enroll as enrollHost } from './enroll.ts';
import { lockFolder } from './state/folder-lock.ts';
import { openHostState } from './state/host-state.ts';
import { createRelayClient } from './stream/relay-client.ts';

const command = bundledDaemon();
const shell = (script: string) => ({ tool: 'cmd.run', args: { command: 'sh', args: ['-c', script] } });

async function finished(child: ChildProcess): Promise<{ readonly code: number; readonly text: string }> {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, text };
}

/** Machines at a time: on a busy one more processes than this start too slowly for the waits of a test. */
const atOnce = 4;
let taken = 0;
const waiting: (() => void)[] = [];

async function takePlace(): Promise<void> {
  if (taken === atOnce) return new Promise((resolve) => void waiting.push(resolve));
  taken += 1;
}

function leavePlace(): void {
  const next = waiting.shift();
  if (next === undefined) taken -= 1;
  else next();
}

/** A relay, a machine with a configuration, and the programs that a test starts on it. They end with the test. */
async function aMachine(options: Parameters<typeof startTestRelay>[0] = { heartbeatMs: 1_000 }) {
  await takePlace();
  const relay = await startTestRelay(options);
  const folder = await mkdtemp(join(tmpdir(), 'edge-'));
  const started: ChildProcess[] = [];
  const allowed = { sh: ['-c'], sleep: ['30'], cat: [] };
  await writeFile(
    join(folder, 'config.yaml'),
    JSON.stringify({
      security_contexts: { default: { subcommand_allowlist: allowed }, narrow: { tools: ['host.info'] } },
    }),
  );
  const start = (...args: string[]): ChildProcess => {
    const [node, main] = command();
    const child = spawn(node, [main, ...args, '--state', join(folder, 'state')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.push(child);
    return child;
  };
  const endpoint = `127.0.0.1:${relay.port}`;
  return {
    relay,
    folder,
    start,
    /** By the command. */
    enroll: (token = 'one-time', ...more: string[]) =>
      finished(start('enroll', '--token', token, '--endpoint', endpoint, '--insecure', ...more)),
    /** As the command does, in this process: for tests of what comes behind it. */
    enrolled: async (): Promise<void> => {
      const state = await openHostState(join(folder, 'state'), { uid: process.geteuid?.() ?? 0 });
      const deps = { clock: systemClock, state, open: createRelayClient, version: '1.0.0', pid: process.pid };
      const address = { endpoint, insecure: true };
      await enrollHost(deps, { address, token: 'one-time', name: 'host', replace: false });
    },
    runDaemon: async (): Promise<ChildProcess> => {
      const before = relay.streams;
      const child = start('run', '--config', join(folder, 'config.yaml'));
      child.stdout?.resume();
      child.stderr?.resume();
      await relay.until(() => relay.streams > before && relay.events.some(({ $case }) => $case === 'hello'));
      return child;
    },
    outcome: async (id: string) => {
      await relay.until(() => relay.results(id).length > 0);
      return relay.results(id)[0]?.outcome;
    },
    /** Changes a file of the state folder. */
    change: async (file: string, change: (content: object) => object): Promise<void> => {
      const path = join(folder, 'state', file);
      await writeFile(path, JSON.stringify(change(JSON.parse(await readFile(path, 'utf8')) as object)), {
        mode: 0o600,
      });
    },
    async [Symbol.asyncDispose]() {
      for (const child of started) {
        const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
        child.kill('SIGKILL');
        await ended;
      }
      relay.close();
      await rm(folder, { recursive: true, force: true });
      leavePlace();
    },
  };
}

/** A token half of whose life is over: its key is due. */
const halfOver = (credential: object): object => {
  const { receivedAt, lifeMs } = credential as { receivedAt: number; lifeMs: number };
  return { ...credential, receivedAt: receivedAt - lifeMs / 2 - 100 };
};

describe.concurrent('windlass-edge enroll', { timeout: 240_000 }, () => {
  it('EDGE-FLOW-01 EDGE-PROTO-03 EDGE-PROTO-04 enrolls once, with files for the owner alone', async () => {
    await using machine = await aMachine();
    const { relay, folder, enroll } = machine;
    expect(await enroll()).toMatchObject({ code: 0, text: expect.stringContaining(relay.nodeId) as string });
    for (const file of ['identity.json', 'credential.json'])
      expect((await stat(join(folder, 'state', file))).mode & 0o777).toBe(0o600);
    expect(await enroll()).toMatchObject({ code: 1, text: expect.stringContaining('--replace') as string });
  });

  it('uses the same key again after a refused token, and keeps no identity', async () => {
    await using machine = await aMachine();
    const { folder, enroll } = machine;
    expect((await enroll('wrong')).code).toBe(1);
    const key = await readFile(join(folder, 'state/enrolling.pem'), 'utf8');
    expect((await enroll()).code).toBe(0);
    const { privateKey } = JSON.parse(await readFile(join(folder, 'state/credential.json'), 'utf8')) as {
      privateKey: string;
    };
    expect(privateKey).toBe(key);
  });

  it('explains a wrong command line with code 2', async () => {
    await using machine = await aMachine();
    const { start } = machine;
    expect(await finished(start('enroll', '--token', 'x', '--endpoint', 'nowhere'))).toMatchObject({
      code: 2,
      text: expect.stringContaining('host:port') as string,
    });
  });
});

describe.concurrent('windlass-edge run', { timeout: 240_000 }, () => {
  it('EDGE-PROTO-19 EDGE-FLOW-03 EDGE-FLOW-05 EDGE-FLOW-07 EDGE-PROTO-20 signs Hello first, then heartbeats and results', async () => {
    await using machine = await aMachine();
    const { relay, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    await runDaemon();
    const id = await relay.invoke(shell('echo out; echo err >&2'));
    expect(await outcome(id)).toMatchObject({ $case: 'ok', value: { exitCode: 0 } });
    expect(relay.output(id)).toContain('out');
    expect(relay.output(id)).toContain('err');
    await relay.until(() => relay.events.some(({ $case }) => $case === 'heartbeat'));
    expect(relay.events[0]).toMatchObject({ $case: 'hello', value: { capabilities: { os: 'linux' } } });
    expect(relay.problems).toEqual([]);
  });

  it('EDGE-PROTO-28 AMB-104 reports the exit code of a command as ok, and policy refusals by their names', async () => {
    await using machine = await aMachine();
    const { relay, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    await runDaemon();
    expect(await outcome(await relay.invoke(shell('exit 3')))).toMatchObject({
      $case: 'ok',
      value: { exitCode: 3 },
    });
    const cases: [object, string][] = [
      [{ tool: 'cmd.run', args: { command: 'rm', args: ['-rf'] } }, 'CommandNotAllowed'],
      [{ tool: 'cmd.run', args: { command: 'sh', args: ['x'] } }, 'SubcommandNotAllowed'],
      [{ ...shell('true'), context: 'narrow' }, 'ToolNotAllowed'],
      [{ ...shell('true'), context: 'other' }, 'SecurityContextUnknown'],
      [{ ...shell('true'), context: '__proto__' }, 'SecurityContextUnknown'],
      [{ tool: 'svc.edge.fleet.invoke', args: {} }, 'UnknownTool'],
    ];
    for (const [facts, code] of cases)
      expect(await outcome(await relay.invoke(facts as ReturnType<typeof shell>))).toMatchObject({
        $case: 'err',
        value: { code },
      });
  });

  it('EDGE-PROTO-39 runs nothing that the pinned command key has not signed for it', async () => {
    await using machine = await aMachine();
    const { relay, folder, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    await runDaemon();
    const file = join(folder, 'ran');
    const facts = shell(`touch ${file}`);
    const other = generateKeyPairSync('ed25519').privateKey;
    const ids = [
      await relay.invoke(facts, { edgeKey: other }),
      await relay.invoke(facts, { withoutEnvelope: true }),
      await relay.invoke(facts, { tenant: 'other' }),
      await relay.invoke({ ...facts, tid: 'other' }),
      await relay.invoke({ ...facts, node: '00000000-0000-4000-8000-000000000000' }),
      await relay.invoke(shell('true'), { sentArgs: facts.args }),
      await relay.invoke({ tool: 'host.info', args: facts.args }, { sentTool: 'cmd.run' }),
      await relay.invoke({ ...facts, context: 'narrow' }, { sentContext: 'default' }),
      await relay.invoke({ ...facts, now: Date.now() - 120_000 }),
    ];
    for (const id of ids) expect(await outcome(id)).toMatchObject({ $case: 'err', value: { code: 'CommandUnproven' } });
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it.each([
    ['another key signed', { key: generateKeyPairSync('ed25519').privateKey }],
    ['has no envelope', { raw: () => Uint8Array.of(0x22, 0) }],
  ])('EDGE-FLOW-06 leaves a stream whose message %s, and comes back', async (_title, options) => {
    await using machine = await aMachine();
    const { relay, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    await runDaemon();
    relay.send({ $case: 'drain', value: {} }, options);
    await relay.until(() => relay.streams === 2);
    const id = await relay.invoke(shell('true'));
    expect(await outcome(id)).toMatchObject({ $case: 'ok' });
  });

  it('EDGE-PROTO-29 EDGE-PROTO-30 EDGE-PROTO-43 ends commands at their deadline and by Cancel, with their children', async () => {
    await using machine = await aMachine();
    const { relay, folder, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    await runDaemon();
    const file = join(folder, 'child');
    const late = await relay.invoke({ ...shell(`(sleep 3; touch ${file}) & sleep 31`), deadlineSeconds: 1 });
    expect(await outcome(late)).toMatchObject({ $case: 'timedOut', value: { deadline: { seconds: 1n } } });
    await systemClock.sleep(3_000);
    await expect(stat(file)).rejects.toThrow('ENOENT');
    const id = await relay.invoke(shell('echo begun; sleep 31'));
    await relay.until(() => relay.output(id).includes('begun'));
    relay.send({ $case: 'cancel', value: { commandId: id, reason: 'enough' } });
    expect(await outcome(id)).toMatchObject({ $case: 'cancelled', value: { reason: 'enough' } });
  });

  it('sends a result again after a lost stream, until it is acknowledged, and runs a repeated command once', async () => {
    await using machine = await aMachine();
    const { relay, folder, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    await runDaemon();
    relay.acknowledges = false;
    const file = join(folder, 'count');
    const facts = { ...shell(`echo x >> ${file}`), commandId: '00000000-0000-4000-8000-000000000001' };
    const id = await relay.invoke(facts);
    await outcome(id);
    relay.drop();
    await relay.until(() => relay.results(id).length === 2);
    await relay.invoke(facts);
    await relay.until(() => relay.results(id).length === 3);
    relay.send(undefined, { acks: [id] });
    const next = await relay.invoke(shell('true'));
    await outcome(next);
    relay.drop();
    await relay.until(() => relay.results(next).length === 2);
    expect(relay.results(id)).toHaveLength(3);
    expect(await readFile(file, 'utf8')).toBe('x\n');
  });

  it('AMB-200 reports a command of a daemon that was killed as OutcomeUnknown, and never runs it again', async () => {
    await using machine = await aMachine();
    const { relay, folder, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    const child = await runDaemon();
    const file = join(folder, 'count');
    const facts = {
      ...shell(`echo x >> ${file}; echo begun; sleep 3`),
      commandId: '00000000-0000-4000-8000-000000000002',
    };
    const id = await relay.invoke(facts);
    await relay.until(() => relay.output(id).includes('begun'));
    child.kill('SIGKILL');
    await once(child, 'exit');
    await runDaemon();
    expect(await outcome(id)).toMatchObject({ $case: 'err', value: { code: 'OutcomeUnknown' } });
    await relay.invoke(facts);
    await outcome(await relay.invoke(shell('true')));
    expect(await readFile(file, 'utf8')).toBe('x\n');
  });

  it.each<readonly [title: string, bytes: Uint8Array]>([
    ['is damaged', Uint8Array.of(0xff, 0xff, 0xff)],
    ['is empty', new Uint8Array()],
  ])('AMB-200 reports OutcomeUnknown for a result whose file %s, and continues', async (title, bytes) => {
    await using machine = await aMachine();
    const { relay, folder, enrolled, runDaemon, outcome } = machine;
    relay.acknowledges = false;
    await enrolled();
    const child = await runDaemon();
    const commandId =
      title === 'is empty' ? '00000000-0000-4000-8000-000000000003' : '00000000-0000-4000-8000-000000000004';
    const id = await relay.invoke({ ...shell('true'), commandId });
    await outcome(id);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await writeFile(join(folder, 'state', 'commands', `${id}.result`), bytes, { mode: 0o600 });
    await runDaemon();
    await relay.until(() => relay.results(id).length === 2);
    expect(relay.results(id)[1]).toMatchObject({ outcome: { $case: 'err', value: { code: 'OutcomeUnknown' } } });
    await outcome(await relay.invoke(shell('true')));
  });

  it("EDGE-RES-24 reports its owner's limit for the time of a command, and says in the result what counted", async () => {
    await using machine = await aMachine();
    const { relay, folder, enrolled, runDaemon, outcome } = machine;
    const file = join(folder, 'config.yaml');
    const config = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...config, command_timeout_secs: 1 }));
    await enrolled();
    await runDaemon();
    const hello = relay.events.find(({ $case }) => $case === 'hello');
    const seconds = { seconds: 1n, nanos: 0 };
    expect(hello).toMatchObject({ value: { capabilities: { commandTimeout: seconds } } });
    const result = await outcome(await relay.invoke(shell('sleep 30')));
    expect(result).toMatchObject({ $case: 'timedOut', value: { deadline: seconds } });
  });

  it('EDGE-FLOW-12 applies a PushConfig before the next InvokeTool, and reports new labels', async () => {
    await using machine = await aMachine();
    const { relay, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    await runDaemon();
    const delta = Buffer.from(
      '{"security_contexts":{"narrow":{"tools":["*"],"subcommand_allowlist":{"sh":["-c"]}}},"labels":{"ring":"1"}}',
    );
    relay.send({ $case: 'pushConfig', value: { configDelta: delta, version: '7' } });
    expect(await outcome(await relay.invoke({ ...shell('true'), context: 'narrow' }))).toMatchObject({ $case: 'ok' });
    expect(relay.events).toContainEqual(
      expect.objectContaining({
        $case: 'capabilityUpdate',
        value: expect.objectContaining({
          capabilities: expect.objectContaining({ customLabels: { ring: '1' } }) as object,
        }) as object,
      }),
    );
  });

  it('EDGE-FLOW-13 EDGE-FLOW-14 AMB-010 drains: refuses new work, ends what is under way, then acknowledges', async () => {
    await using machine = await aMachine();
    const { relay, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    await runDaemon();
    const id = await relay.invoke(shell('echo begun; sleep 1'));
    await relay.until(() => relay.output(id).includes('begun'));
    relay.send({ $case: 'drain', value: {} });
    expect(await outcome(await relay.invoke(shell('true')))).toMatchObject({
      $case: 'err',
      value: { code: 'Draining' },
    });
    const isDrained = (event: (typeof relay.events)[number]) =>
      event.$case === 'commandProgress' &&
      event.value.commandId === '' &&
      event.value.chunk?.kind?.$case === 'status' &&
      event.value.chunk.kind.value.state === 'drained';
    await relay.until(() => relay.events.some(isDrained));
    const at = relay.events.findIndex((event) => event.$case === 'commandResult' && event.value.commandId === id);
    expect(at).toBeGreaterThan(-1);
    expect(relay.events.findIndex(isDrained)).toBeGreaterThan(at);
  });

  it('EDGE-FLOW-15 EDGE-PROTO-46 shuts down after the grace: cancels, sends the results, ends with 0', async () => {
    await using machine = await aMachine();
    const { relay, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    const child = await runDaemon();
    const ended = once(child, 'exit');
    const id = await relay.invoke(shell('echo begun; sleep 31'));
    await relay.until(() => relay.output(id).includes('begun'));
    relay.send({ $case: 'shutdown', value: { grace: { seconds: 0n, nanos: 2e8 } } });
    expect(await outcome(id)).toMatchObject({ $case: 'cancelled' });
    expect((await ended)[0]).toBe(0);
  });
});

describe.concurrent('faults of the machine', { timeout: 240_000 }, () => {
  it('EDGE-FLOW-11 sends a result that the disk does not take, also again, and runs the command once', async () => {
    await using machine = await aMachine();
    const { relay, folder, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    await runDaemon();
    relay.acknowledges = false;
    const commands = join(folder, 'state/commands');
    const facts = {
      ...shell(`echo x >> ${join(folder, 'ran')}; mv ${commands} ${commands}.away`),
      commandId: '00000000-0000-4000-8000-000000000003',
    };
    const id = await relay.invoke(facts);
    expect(await outcome(id)).toMatchObject({ $case: 'ok' });
    await relay.invoke(facts);
    await relay.until(() => relay.results(id).length === 2);
    relay.drop();
    await relay.until(() => relay.results(id).length === 3);
    expect(await readFile(join(folder, 'ran'), 'utf8')).toBe('x\n');
  });

  it('AMB-200 gives a folder to one daemon, also where that does not answer', async () => {
    await using machine = await aMachine();
    const { folder, start, enrolled, runDaemon } = machine;
    await enrolled();
    const one = await runDaemon();
    one.kill('SIGSTOP');
    const second = await finished(start('run', '--config', join(folder, 'config.yaml')));
    expect(second).toMatchObject({ code: 1, text: expect.stringContaining('another windlass-edge (pid ') as string });
    const ended = once(one, 'exit');
    one.kill('SIGKILL');
    await ended;
    await runDaemon();
  });

  it('AMB-200 keeps its folder from an enrollment, which names its process and changes nothing', async () => {
    await using machine = await aMachine();
    const { relay, folder, enroll, enrolled, runDaemon, outcome } = machine;
    await enrolled();
    const one = await runDaemon();
    const files = ['identity.json', 'credential.json'].map((name) => join(folder, 'state', name));
    const contents = () => Promise.all(files.map((file) => readFile(file, 'utf8')));
    const before = await contents();
    const refused = await enroll('one-time', '--replace');
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining(`(pid ${one.pid})`) as string });
    expect(refused.text).toContain('systemctl stop windlass-edge');
    expect([await contents(), await readdir(join(folder, 'state'))]).toEqual([
      before,
      expect.not.arrayContaining(['enrolling.pem']),
    ]);
    expect(await outcome(await relay.invoke(shell('true')))).toMatchObject({ $case: 'ok' });
    // Without --replace the folder's own enrollment is the reason, whether a daemon runs or not.
    expect((await enroll()).text).toContain('--replace');
    const ended = once(one, 'exit');
    one.kill('SIGKILL');
    await ended;
    expect(await enroll('one-time', '--replace')).toMatchObject({ code: 0 });
    expect(await contents()).not.toEqual(before);
  });

  it('AMB-200 takes the folder before it reads the key, which a daemon that ends may replace until then', async () => {
    await using machine = await aMachine();
    const { folder, start, enrolled } = machine;
    await enrolled();
    using _held = lockFolder(join(folder, 'state'), process.pid);
    await writeFile(join(folder, 'state/credential.json'), '{');
    const second = await finished(start('run', '--config', join(folder, 'config.yaml')));
    expect(second).toMatchObject({ code: 1, text: expect.stringContaining('another windlass-edge (pid ') as string });
  });

  it('EDGE-FLOW-15 stops where SIGTERM comes during the rotation before the stream', async () => {
    await using machine = await aMachine();
    const { relay, folder, start, enrolled, change } = machine;
    await enrolled();
    await change('credential.json', halfOver);
    const rotation = Promise.withResolvers<void>();
    relay.rotationMayEnd = rotation.promise;
    const child = start('run', '--config', join(folder, 'config.yaml'));
    await relay.until(() => relay.rotations > 0);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await systemClock.sleep(300);
    rotation.resolve();
    expect((await ended)[0]).toBe(0);
    expect([relay.keys.length, relay.streams]).toEqual([2, 0]);
  });
});

describe.concurrent('a refused stream', { timeout: 240_000 }, () => {
  it('EDGE-FLOW-18 ends the daemon with 78 where the relay says HostRevoked, and not for the bare status', async () => {
    await using machine = await aMachine();
    const { relay, enrolled, runDaemon } = machine;
    await enrolled();
    const child = await runDaemon();
    relay.drop(status.PERMISSION_DENIED);
    await relay.until(() => relay.streams === 2);
    const ended = once(child, 'exit');
    relay.drop(status.PERMISSION_DENIED, 'HostRevoked');
    expect((await ended)[0]).toBe(78);
  });

  it.each([
    ['HTTP 403', { ':status': 403, 'content-type': 'text/html' }],
    ['PERMISSION_DENIED', { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '7' }],
  ])('EDGE-FLOW-18 is tried again where a proxy answers %s', async (_title, answer) => {
    await using machine = await aMachine();
    const { relay, folder, start, enrolled, change } = machine;
    await enrolled();
    let calls = 0;
    const proxy = createHttp2();
    proxy.on('stream', (stream) => {
      calls += 1;
      stream.respond(answer, { endStream: true });
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    await change('identity.json', (identity) => ({ ...identity, endpoint: `127.0.0.1:${port}` }));
    const child = start('run', '--config', join(folder, 'config.yaml'));
    await relay.until(() => calls > 1 || child.exitCode !== null);
    expect([calls, child.exitCode]).toEqual([2, null]);
    proxy.close();
  });
});

describe.concurrent('EDGE-FLOW-22 key rotation', { timeout: 240_000 }, () => {
  it('replaces a key that is due before the stream begins, and keeps the new one on disk', async () => {
    await using machine = await aMachine();
    const { relay, folder, enrolled, runDaemon, outcome, change } = machine;
    await enrolled();
    await change('credential.json', halfOver);
    await runDaemon();
    await relay.until(() => relay.keys.length === 2 && relay.tokens.length > 0);
    expect(relay.problems).toEqual([]);
    const id = await relay.invoke(shell('true'));
    expect(await outcome(id)).toMatchObject({ $case: 'ok' });
    const kept = JSON.parse(await readFile(join(folder, 'state/credential.json'), 'utf8')) as {
      pendingKeys: unknown[];
    };
    expect(kept.pendingKeys).toEqual([]);
  });

  it('continues with the key that the server took, after a rotation whose answer was lost', async () => {
    await using machine = await aMachine({ tokenLifeMs: 4_000 });
    const { relay, folder, start, enrolled } = machine;
    await enrolled();
    relay.losesRotation = true;
    await systemClock.sleep(4_100);
    start('run', '--config', join(folder, 'config.yaml')).stdout?.resume();
    await relay.until(() => relay.keys.length === 3 && relay.events.length > 0, 20_000);
    expect(relay.problems).toEqual([]);
  });

  it('replaces a fresh token before the stream begins, where a rotation had no answer before the daemon ended', async () => {
    await using machine = await aMachine();
    const { relay, enrolled, runDaemon, change } = machine;
    await enrolled();
    const offered = generateKeyPairSync('ed25519');
    const pendingKeys = [offered.privateKey.export({ type: 'pkcs8', format: 'pem' })];
    await change('credential.json', (credential) => ({ ...credential, pendingKeys }));
    relay.keys.push(offered.publicKey);
    await runDaemon();
    expect([relay.keys.length, relay.tokens.length > 0, relay.problems]).toEqual([3, true, []]);
  });
});
