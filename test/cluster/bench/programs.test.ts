import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BenchCluster, chartLimits, withBenchCluster } from '../../../dev/bench/bench-cluster.ts';
import { measureBesideWorst } from '../../../dev/bench/programs/beside-worst.ts';
import { measureHostile } from '../../../dev/bench/programs/hostile-memory.ts';
import { measureMany } from '../../../dev/bench/programs/many-executions.ts';
import { furthestFromEqual, measureShares } from '../../../dev/bench/programs/quota-shares.ts';
import { type Cluster, connect } from '../harness/cluster.ts';
import { restoreInstalled, scaleInstalledTo } from '../harness/installed.ts';

/** The programs of the benchmark that are long, in small: that they measure at all, not what. */
let cluster: Cluster;
beforeAll(async () => {
  cluster = await connect();
  await scaleInstalledTo(cluster.kube, 0);
});
afterAll(async () => {
  await restoreInstalled(cluster.kube);
  await cluster.kube.close();
});

const small = <R>(purpose: string, measure: (bench: BenchCluster) => Promise<R>): Promise<R> =>
  withBenchCluster(cluster, `small-${purpose}`, measure);

describe('the benchmark in small', () => {
  it('three tenants with a quota of one pod each get equal shares, and ask for more less than once a second', async () => {
    const load = { tenants: 3, executions: 40, pods: 1, seconds: 20 };
    const { completed, inVain } = await small('quota', (bench) => measureShares(bench, load, () => undefined));
    expect(completed).toHaveLength(3);
    expect(Math.min(...completed)).toBeGreaterThan(1);
    expect(furthestFromEqual(completed)).toBeLessThan(50);
    expect(Math.max(...inVain)).toBeLessThanOrEqual(1);
    // A quota of one pod is always full: without any refusal it was not in force.
    expect(Math.min(...inVain)).toBeGreaterThan(0);
  }, 240_000);

  it('finished, waiting and child executions are counted, and the memory of controllers and API is read', async () => {
    const load = { finished: 8, waiting: 2, inputBytes: 64 * 1024, settlesMs: 1_000 };
    const { controllers, api } = await small('many', (bench) => measureMany(bench, load, () => undefined));
    for (const mebibytes of [controllers.working, controllers.listing, api.working, api.listing]) {
      expect(mebibytes).toBeGreaterThan(30);
    }
  }, 240_000);

  it('executions are timed alone and beside the dearest legal ones of another tenant', async () => {
    const load = { executions: 1, seconds: 1, least: 1 };
    const { alone, beside } = await small('worst', (bench) => measureBesideWorst(bench, load, () => undefined));
    expect(alone.length).toBeGreaterThan(0);
    expect(beside.length).toBeGreaterThan(0);
  }, 240_000);

  it('hostile objects of one tenant leave controllers and API alive, and refuse nothing of another one', async () => {
    const load = { inputs: 1, prompts: 1, loudSteps: 1, attackers: 1, seconds: 3 };
    const found = await small('hostile', (bench) => measureHostile(bench, load, () => undefined));
    expect(found.asked).toBeGreaterThan(0);
    expect(found.refused).toBe(0);
    expect(found.controllersMiB).toBeLessThan(chartLimits.controllers);
    expect(found.apiMiB).toBeLessThan(chartLimits.api);
  }, 240_000);
});
