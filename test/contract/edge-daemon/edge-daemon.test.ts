import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import {
  createEdgeResults,
  createHostCommands,
  type EdgeNews,
  type HostCommands,
  mintCommandToken,
  mintEnrollmentToken,
  nodeIdOf,
} from '../../../lib/edge/index.ts';
import type { GrpcListener } from '../../../lib/grpc/listen-grpc.ts';
import { startTestBus, type TestBus } from '../../nats/test-bus.ts';
import { createMemoryHosts } from '../../support/memory-hosts.ts';
import { startTestRelay } from '../../support/test-relay.ts';

const edge = generateKeyPairSync('ed25519');
const relayKey = generateKeyPairSync('ed25519');
const hosts = createMemoryHosts();
const program = join(import.meta.dirname, '../../../edge/main.ts');
let nats: TestBus;
let listener: GrpcListener;
let folder: string;
let daemon: ChildProcess | undefined;
let commands: HostCommands;
let results: ReturnType<typeof createEdgeResults>;

beforeAll(async () => {
  nats = await startTestBus();
  folder = await mkdtemp(join(tmpdir(), 'edge-'));
  const bus = nats.connect();
  results = createEdgeResults({ bus, clock: systemClock });
  commands = createHostCommands({ bus });
  ({ listener } = await startTestRelay({ bus, hosts, relayKey, edgePublicKey: edge.publicKey }));
}, 60_000);
afterAll(async () => {
  daemon?.kill('SIGKILL');
  await listener.close(AbortSignal.abort());
  await nats.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(...args: string[]): ChildProcess {
  return spawn(process.execPath, [program, ...args, '--state', join(folder, 'state')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function host(): Promise<{ readonly tenant: string; readonly hostUid: string; readonly nodeId: string }> {
  const jti = randomUUID();
  const token = await mintEnrollmentToken(edge.privateKey, {
    jti,
    tid: 'acme',
    issuedBy: 'ops',
    now: Date.now(),
    ttlSeconds: 900,
  });
  await writeFile(join(folder, 'token'), token);
  const enrolling = start(
    'enroll',
    '--token-file',
    join(folder, 'token'),
    '--endpoint',
    `127.0.0.1:${listener.port}`,
    '--insecure',
  );
  expect((await once(enrolling, 'exit'))[0]).toBe(0);
  const nodeId = nodeIdOf(jti);
  const found = await hosts.find('acme', nodeId);
  return { tenant: 'acme', hostUid: found?.object.metadata.uid ?? '', nodeId };
}

async function newsOf(run: string, isLast: (news: EdgeNews) => boolean): Promise<EdgeNews[]> {
  const seen: EdgeNews[] = [];
  const over = new AbortController();
  for await (const { news } of results.follow('acme', run, over.signal)) {
    seen.push(news);
    if (isLast(news)) over.abort();
  }
  return seen;
}

describe('windlass-edge and the relay', () => {
  it('enroll, connect, run a proven command, and store its result', async () => {
    const address = await host();
    await writeFile(
      join(folder, 'config.yaml'),
      '{"security_contexts":{"default":{"subcommand_allowlist":{"echo":["hello"]}}}}',
    );
    daemon = start('run', '--config', join(folder, 'config.yaml'));
    const statusOf = async () => (await hosts.find('acme', address.nodeId))?.object.status?.status;
    while ((await statusOf()) !== 'Connected') await systemClock.sleep(50);
    const run = randomUUID();
    const commandId = randomUUID();
    const args = { command: 'echo', args: ['hello'] };
    const facts = {
      author: 'ops',
      tid: 'acme',
      node: address.nodeId,
      commandId,
      tool: 'cmd.run',
      args,
      context: 'default',
      deadlineSeconds: 20,
      now: Date.now(),
      lifeMs: 60_000,
    };
    const token = await mintCommandToken(edge.privateKey, facts);
    const deadline = new Date(Date.now() + 60_000).toISOString();
    await commands.claim({ commandId, run, node_id: address.nodeId, tenant: 'acme', tool: 'cmd.run', deadline });
    await commands.send(address, {
      commandId,
      run,
      tool: 'cmd.run',
      args,
      context: 'default',
      token,
      deadlineMs: 20_000,
    });
    const news = await newsOf(run, ({ kind }) => kind === 'result');
    expect(news.at(-1)).toMatchObject({ kind: 'result', result: { outcome: 'ok', exit_code: 0 } });
    expect(JSON.stringify(news)).toContain(Buffer.from('hello\n').toString('base64'));
  }, 60_000);
});
