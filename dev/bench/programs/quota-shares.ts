import { type KubeClient, resourceQuotas } from '../../../lib/kube/index.ts';
import type { ApiProxy } from '../../../test/cluster/harness/api-proxy.ts';
import { apiPathOf, type Exchange, verbOf } from '../../../test/cluster/harness/exchange.ts';
import { workflowExecutions } from '../../../test/cluster/harness/kinds.ts';
import { type Observer, observe } from '../../../test/cluster/harness/observer.ts';
import { pause, waitForObject } from '../../../test/cluster/harness/wait.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { type BenchCluster, chainOf, register, startAll, trueState } from '../bench-cluster.ts';
import type { Program } from '../program.ts';
import { sharedMeasure } from '../shared.ts';

/** How large the measurement is. */
interface QuotaLoad {
  readonly tenants: number;
  /** Rate of all tenants together. */
  readonly executions: number;
  /** `pods` of each tenant's quota. */
  readonly pods: number;
  readonly seconds: number;
}

/** A tenant's share in the time. */
interface Shares {
  /** Executions that completed, of each tenant. */
  readonly completed: readonly number[];
  /** Creates that the API server refused for a full quota, of each tenant, a second. */
  readonly inVain: readonly number[];
}

/** How far the tenant that is furthest from an equal share of all that was completed is from it, in per cent. */
export function furthestFromEqual(completed: readonly number[]): number {
  const equal = completed.reduce((sum, count) => sum + count, 0) / completed.length;
  return (Math.max(...completed.map((count) => Math.abs(count - equal))) / equal) * 100;
}

const isInVain = (exchange: Exchange, namespace: string): boolean =>
  exchange.status === 403 && verbOf(exchange) === 'create' && apiPathOf(exchange.path)?.namespace === namespace;

/** A tenant that may have so many pods at once. Resolves once the server has counted. */
async function limitPods(kube: KubeClient, namespace: string, pods: number): Promise<void> {
  const metadata = { name: 'bench', namespace };
  await kube.create(resourceQuotas, { metadata, spec: { hard: { pods: String(pods) } } });
  const counted = { resource: resourceQuotas, ...metadata };
  await waitForObject(kube, counted, ({ status }) => status?.hard !== undefined);
}

/** One-step executions of many tenants that are all there before the controllers begin. */
export async function measureShares(
  bench: BenchCluster,
  load: QuotaLoad,
  say: (text: string) => void,
): Promise<Shares> {
  const { kube } = bench;
  const { process, proxy } = await bench.controllers({ counted: true });
  if (proxy === undefined) throw new Error('the proxy that counts did not start');
  const namespaces = [bench.namespace, ...(await bench.furtherTenants(load.tenants - 1))];
  for (const namespace of namespaces) {
    await limitPods(kube, namespace, load.pods);
    await register({ ...bench, namespace }, 'step', chainOf(1, trueState));
  }
  await process.stop();
  const each = Math.floor(load.executions / load.tenants);
  await Promise.all(
    namespaces.map((namespace) => startAll({ ...bench, namespace }, { workflow: 'step', count: each, inFlight: 4 })),
  );
  say(`${each * load.tenants} executions are queued`);
  const observers = await Promise.all(
    namespaces.map((namespace) => observe(kube, { resource: workflowExecutions, namespace })),
  );
  proxy.forget();
  await bench.controllers({ through: proxy });
  await Promise.race(observers.map((observer) => observer.until((view) => (completedOf(view) > 0 ? true : undefined))));
  const shares = await during(load.seconds, namespaces, { observers, proxy });
  await Promise.all(observers.map((observer) => observer.stop()));
  return shares;
}

interface Watched {
  readonly observers: readonly Observer<WorkflowExecution>[];
  readonly proxy: ApiProxy;
}

/** From the first completed execution on. */
async function during(seconds: number, namespaces: readonly string[], { observers, proxy }: Watched): Promise<Shares> {
  await pause(seconds * 1_000);
  const exchanges = [...proxy.exchanges];
  const [first] = exchanges;
  const passed = (Date.now() - (first?.arrivedAt ?? 0)) / 1_000;
  return {
    completed: observers.map(({ view }) => completedOf(view)),
    inVain: namespaces.map(
      (namespace) => exchanges.filter((exchange) => isInVain(exchange, namespace)).length / passed,
    ),
  };
}

function completedOf(view: Observer<WorkflowExecution>['view']): number {
  let count = 0;
  for (const { status } of view.values()) if (status?.phase === 'completed') count += 1;
  return count;
}

const full: QuotaLoad = { tenants: 20, executions: 10_000, pods: 10, seconds: 300 };
const measured = sharedMeasure((bench, say) => measureShares(bench, full, say));
const what = `${full.executions.toLocaleString('en')} queued one-step executions of ${full.tenants} tenants with a quota of ${full.pods} pods each, over ${full.seconds / 60} minutes`;

const [ofShares, ofInVain] = [measured('quota-shares'), measured('quota-in-vain')];

/** The tenant that is furthest from an equal share of the throughput. */
export const quotaShares: Program = {
  name: 'quota-shares',
  title: `${what}: how far a tenant's share is from equal`,
  unit: '%',
  bar: { of: 'ours', atMost: 20 },
  runs: 1,
  async measure(bench, say) {
    const { completed } = await ofShares(bench, say);
    return {
      ours: furthestFromEqual(completed),
      extra: {
        'executions completed': completed.reduce((sum, count) => sum + count, 0),
        'of the tenant with the fewest': Math.min(...completed),
        'of the tenant with the most': Math.max(...completed),
      },
    };
  },
};

/** Creates that a full quota refused, of the tenant with the most. */
export const quotaInVain: Program = {
  name: 'quota-in-vain',
  title: 'the same: requests in vain a second of the tenant with the most',
  unit: 'requests/s',
  bar: { of: 'ours', atMost: 1 },
  runs: 1,
  async measure(bench, say) {
    const { inVain } = await ofInVain(bench, say);
    const all = Math.round(inVain.reduce((sum, rate) => sum + rate, 0) * 100) / 100;
    return { ours: Math.max(...inVain), extra: { 'of all tenants': all } };
  },
};
