import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../lib/ids.ts';
import { configMaps, type KubeClient, leases } from '../../lib/kube/index.ts';
import { type ApiProxy, startApiProxy } from './harness/api-proxy.ts';
import { type Cluster, connect } from './harness/cluster.ts';
import { apiPathOf, type Exchange, isLease, isWrite } from './harness/exchange.ts';
import { forgetProcess, recordProcess } from './harness/process-record.ts';
import { makeTestNamespace, type TestNamespace } from './harness/test-namespace.ts';
import { pause, waitForNone } from './harness/wait.ts';

let cluster: Cluster;
let kube: KubeClient;
let space: TestNamespace;
let namespace: string;
let folder: string;

beforeAll(async () => {
  cluster = await connect();
  kube = cluster.kube;
  space = await makeTestNamespace(kube, 'elections');
  namespace = space.name;
  folder = await mkdtemp(join(tmpdir(), 'windlass-elections-'));
});

afterAll(async () => {
  await space?.remove();
  await kube?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('leader election between processes', () => {
  const program = fileURLToPath(new URL('./runtime/leader.ts', import.meta.url));

  interface Candidate {
    readonly identity: string;
    readonly proxy: ApiProxy;
    readonly process: ChildProcess;
    readonly said: string[];
    /** Exit code, or the signal that ended it, once everything that it said has been read. */
    readonly exited: Promise<number | string | null>;
  }

  let candidates: Candidate[] = [];

  async function start(identity: string, scale: number): Promise<Candidate> {
    const proxy = await startApiProxy({ upstream: cluster.kubeconfig, kubeconfig: join(folder, `${identity}.yaml`) });
    const args = [program, '--kubeconfig', proxy.kubeconfig, '--namespace', namespace];
    const child = spawn(process.execPath, [...args, '--identity', identity, '--scale', String(scale)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await recordProcess(child.pid ?? 0, 'leader.ts');
    const said: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
    const exited = new Promise<number | string | null>((resolve) => {
      child.on('close', (code, signal) => resolve(code ?? signal));
    });
    const candidate = { identity, proxy, process: child, said, exited };
    candidates.push(candidate);
    return candidate;
  }

  async function endAll(): Promise<void> {
    for (const { process: child, proxy, exited } of candidates) {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await exited;
      await forgetProcess(child.pid ?? 0);
      await proxy.close();
    }
    candidates = [];
    await kube.delete(leases, { namespace, name: 'controllers' });
    await kube.deleteCollection(configMaps, { namespace, labelSelector: 'ledger=yes' });
    await waitForNone(kube, { resource: leases, namespace, fieldSelector: 'metadata.name=controllers' });
  }

  /** Writes of a candidate to anything but the Lease, by the time they arrived. */
  const writesOf = ({ proxy }: Candidate) =>
    proxy.exchanges.filter(({ method, path }) => method === 'PATCH' && path.includes('/ledger-'));

  const leads = (candidate: Candidate) => candidate.said.includes('leading 0');

  const makeLedgers = () =>
    Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        kube.create(configMaps, { metadata: { namespace, name: `ledger-${i}`, labels: { ledger: 'yes' } }, data: {} }),
      ),
    );

  /** Milliseconds of a lease with the timings that are shipped. */
  const leaseMs = 15_000;

  const leaseCalls = ({ proxy }: Candidate) => proxy.exchanges.filter(isLease);

  /** Writes of a candidate to the Lease that took effect, by the time they arrived. */
  const leaseWrites = (candidate: Candidate) =>
    leaseCalls(candidate).filter((one) => isWrite(one) && one.status !== undefined && one.status < 300);

  /** Waits until a candidate has looked at the Lease so often since the call. */
  async function looked(candidate: Candidate, times: number): Promise<void> {
    const before = leaseCalls(candidate).length;
    await expect.poll(() => leaseCalls(candidate).length - before, { timeout: 60_000 }).toBeGreaterThanOrEqual(times);
  }

  /** Milliseconds from the last renewal of one leader to the moment at which the next one took the Lease. */
  function keptMs(old: Candidate, next: Candidate): number {
    const taken = leaseWrites(next)[0]?.arrivedAt ?? Number.POSITIVE_INFINITY;
    return taken - Math.max(...leaseWrites(old).map(({ arrivedAt }) => arrivedAt));
  }

  /** Whether a write to a ledger is in it: no two writes of a candidate to one ledger are equal. */
  async function hasEffect({ identity }: Candidate, { path, body }: Exchange): Promise<boolean> {
    const { data } = await kube.get(configMaps, { namespace, name: apiPathOf(path)?.name ?? '' });
    const sent = JSON.parse(body.toString('utf8')) as { readonly data: Readonly<Record<string, string>> };
    return data?.[identity] === sent.data[identity];
  }

  interface Round {
    /** Factor of the timings that are shipped. */
    readonly scale: number;
    readonly stoppedMs: number;
  }

  /**
   * Stops a leader in the middle of its writes, directly after it has renewed the Lease, lets another take over, resumes
   * it, and tells what it did then. Undefined where the leader lost the Lease before: a busy machine can keep it from
   * renewing in time.
   */
  async function overtake({ scale, stoppedMs }: Round) {
    await makeLedgers();
    const old = await start(`old-${newId()}`, scale);
    await expect.poll(() => writesOf(old).length, { timeout: 60_000 }).toBeGreaterThan(50);
    const next = await start(`next-${newId()}`, scale);
    await looked(next, 2);
    const renewals = leaseWrites(old).length;
    await expect.poll(() => leaseWrites(old).length > renewals || leads(next), { timeout: 60_000 }).toBe(true);
    if (leads(next)) {
      expect(keptMs(old, next)).toBeGreaterThan(leaseMs * scale - 1);
      return undefined;
    }

    const wake = pause(stoppedMs);
    old.process.kill('SIGSTOP');
    await expect.poll(() => writesOf(next).length, { timeout: 60_000 }).toBeGreaterThan(50);
    await wake;
    const wokenAt = Date.now();
    old.process.kill('SIGCONT');
    const exitCode = await old.exited;

    const firstNext = Math.min(...writesOf(next).map(({ arrivedAt }) => arrivedAt));
    const late = writesOf(old).filter(({ arrivedAt }) => arrivedAt >= wokenAt);
    const lastOld = Math.max(
      ...writesOf(old)
        .filter((one) => !late.includes(one))
        .map(({ arrivedAt }) => arrivedAt),
    );
    const effects = await Promise.all(late.map((one) => hasEffect(old, one)));
    const [end, refused] = (old.said.at(-1) ?? '').split(' ');
    const failed = old.said.filter((line) => line.startsWith('failed')).length;
    return {
      exitCode,
      late: late.length,
      lateEffects: effects.filter(Boolean).length,
      end,
      refusedSome: Number(refused) > 0,
      failed,
      apartMs: firstNext - lastOld,
      keptMs: keptMs(old, next),
    };
  }

  /** `overtake`, again where the machine was too busy to let a leader renew in time. */
  async function overtaken(round: Round) {
    for (let left = 5; left > 0; left -= 1) {
      try {
        const seen = await overtake(round);
        if (seen !== undefined) return seen;
      } finally {
        await endAll();
      }
    }
    throw new Error('in none of five rounds did the machine let a leader renew its lease in time');
  }

  const want = { exitCode: 1, lateEffects: 0, end: 'lost', refusedSome: true, failed: 0 };
  /** A process can be stopped between its last look at the clock and the kernel taking the bytes: one request fits. */
  const mostLate = 1;

  it('a leader stopped for 40 s and resumed finds another in its place and writes nothing', {
    timeout: 400_000,
  }, async () => {
    const { apartMs, keptMs: kept, late, ...seen } = await overtaken({ scale: 1, stoppedMs: 40_000 });
    expect(seen).toEqual(want);
    expect(late).toBeLessThanOrEqual(mostLate);
    expect(apartMs).toBeGreaterThan(5_000);
    expect(kept).toBeGreaterThan(leaseMs - 1);
  });

  it.each([1, 2, 3])('the same with short timings, round %i', { timeout: 400_000 }, async () => {
    const scale = 0.2;
    const { apartMs, keptMs: kept, late, ...seen } = await overtaken({ scale, stoppedMs: 10_000 });
    expect(seen).toEqual(want);
    expect(late).toBeLessThanOrEqual(mostLate);
    expect(apartMs).toBeGreaterThan(1_000);
    expect(kept).toBeGreaterThan(leaseMs * scale - 1);
  });

  it('a graceful stop hands over at once, and an outage of the API server costs no restart', async () => {
    try {
      await makeLedgers();
      const old = await start(`old-${newId()}`, 1);
      await expect.poll(() => leads(old), { timeout: 60_000 }).toBe(true);
      await old.proxy.goDown();
      await pause(12_000);
      await old.proxy.comeUp();
      old.proxy.forget();
      const renewed = () => old.proxy.exchanges.some(({ status, method }) => method === 'PUT' && status === 200);
      const state = () => (renewed() ? 'renewed' : (old.process.exitCode ?? old.process.signalCode ?? 'silent'));
      await expect.poll(state, { timeout: 60_000 }).toBe('renewed');
      const next = await start(`next-${newId()}`, 1);
      await looked(next, 2);
      expect(leads(next)).toBe(false);
      old.process.kill('SIGTERM');
      expect(await old.exited).toBe(0);
      const before = leaseCalls(next).length;
      await expect.poll(() => leads(next), { timeout: 60_000 }).toBe(true);
      // One look finds it free, and one may have been under way. Waiting for the whole lease, 15 s, takes six and more.
      const looks = leaseCalls(next)
        .slice(before)
        .filter((one) => !isWrite(one));
      expect(looks.length).toBeLessThanOrEqual(2);
    } finally {
      await endAll();
    }
  });
});
