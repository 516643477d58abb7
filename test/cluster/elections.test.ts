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
    /** Exit code, or the signal that ended it. */
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
      child.on('exit', (code, signal) => resolve(code ?? signal));
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

  /** Stops a leader in the middle of its writes, lets another take over, resumes it, and tells what it did then. */
  async function overtake(scale: number, stoppedMs: number) {
    try {
      await makeLedgers();
      const old = await start(`old-${newId()}`, scale);
      await expect.poll(() => writesOf(old).length, { timeout: 30_000 }).toBeGreaterThan(50);
      const next = await start(`next-${newId()}`, scale);
      await pause(1_500);
      const early = leads(next);

      const wake = pause(stoppedMs);
      old.process.kill('SIGSTOP');
      await expect.poll(() => writesOf(next).length, { timeout: stoppedMs }).toBeGreaterThan(50);
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
      const lateEffects = late.filter(({ status = 0 }) => status < 300).length;
      const [end, refused] = (old.said.at(-1) ?? '').split(' ');
      const failed = old.said.filter((line) => line.startsWith('failed')).length;
      return {
        early,
        exitCode,
        late: late.length,
        lateEffects,
        end,
        refusedSome: Number(refused) > 0,
        failed,
        apartMs: firstNext - lastOld,
      };
    } finally {
      await endAll();
    }
  }

  const want = { early: false, exitCode: 1, lateEffects: 0, end: 'lost', refusedSome: true, failed: 0 };
  /** A process can be stopped between its last look at the clock and the kernel taking the bytes: one request fits. */
  const mostLate = 1;

  it('a leader stopped for 40 s and resumed finds another in its place and writes nothing', async () => {
    const { apartMs, late, ...seen } = await overtake(1, 40_000);
    expect(seen).toEqual(want);
    expect(late).toBeLessThanOrEqual(mostLate);
    expect(apartMs).toBeGreaterThan(5_000);
  });

  it.each([1, 2, 3])('the same with short timings, round %i', async () => {
    const { apartMs, late, ...seen } = await overtake(0.2, 10_000);
    expect(seen).toEqual(want);
    expect(late).toBeLessThanOrEqual(mostLate);
    expect(apartMs).toBeGreaterThan(1_000);
  });

  it('a graceful stop hands over at once, and an outage of the API server costs no restart', async () => {
    try {
      await makeLedgers();
      const old = await start(`old-${newId()}`, 1);
      await expect.poll(() => leads(old), { timeout: 20_000 }).toBe(true);
      await old.proxy.goDown();
      await pause(12_000);
      await old.proxy.comeUp();
      old.proxy.forget();
      const renewed = () => old.proxy.exchanges.some(({ status, method }) => method === 'PUT' && status === 200);
      const state = () => (renewed() ? 'renewed' : (old.process.exitCode ?? old.process.signalCode ?? 'silent'));
      await expect.poll(state, { timeout: 20_000 }).toBe('renewed');
      const next = await start(`next-${newId()}`, 1);
      await pause(2_000);
      expect(leads(next)).toBe(false);
      old.process.kill('SIGTERM');
      expect(await old.exited).toBe(0);
      const leftAt = Date.now();
      await expect.poll(() => leads(next), { timeout: 15_000 }).toBe(true);
      // Without the release the other would wait for the whole lease, 15 s.
      expect(Date.now() - leftAt).toBeLessThan(10_000);
    } finally {
      await endAll();
    }
  });
});
