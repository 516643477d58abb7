import { describe, type Exchange, isLease, isWrite } from '../../../test/cluster/harness/exchange.ts';
import type { ApiProxy } from '../../../test/cluster/harness/api-proxy.ts';
import { pods } from '../../../lib/kube/index.ts';
import { waitForView } from '../../../test/cluster/harness/wait.ts';
import { type BenchCluster, chainOf, register, runExecutions, trueState } from '../bench-cluster.ts';
import type { Program } from '../program.ts';

const [short, long] = [1, 6];

/** Writes the proxy saw while one execution ran, bookkeeping after its end included. */
async function writesOf(bench: BenchCluster, proxy: ApiProxy, workflow: string): Promise<Exchange[]> {
  proxy.forget();
  await runExecutions(bench, workflow, { count: 1 });
  // The remaining work for an execution ends when no pod of it holds a finalizer any more.
  const free = { resource: pods, namespace: bench.namespace };
  await waitForView(bench.kube, free, (view) =>
    [...view.values()].every((pod) => (pod.metadata.finalizers ?? []).length === 0) ? true : undefined,
  );
  return proxy.exchanges.filter((exchange) => isWrite(exchange) && !isLease(exchange));
}

function byKind(exchanges: readonly Exchange[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const exchange of exchanges) {
    const kind = describe(exchange).split(' ').slice(0, 2).join(' ');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/**
 * The cost of one more ContainerRun state: the writes of a chain of six less those of a chain of one, by five. Events
 * are writes and count. The writes of a whole one-step workflow are beside it.
 */
export const writes: Program = {
  name: 'writes',
  title: 'API writes for one ContainerRun state',
  unit: 'writes',
  bar: { of: 'ours', atMost: 4 },
  async measure(bench) {
    const { proxy } = await bench.controllers({ counted: true });
    if (proxy === undefined) throw new Error('the proxy that counts did not start');
    await register(bench, 'short', chainOf(short, trueState));
    await register(bench, 'long', chainOf(long, trueState));
    await runExecutions(bench, 'short', { count: 1 });
    const one = await writesOf(bench, proxy, 'short');
    const six = await writesOf(bench, proxy, 'long');
    const kinds = Object.entries(byKind(one)).map(([kind, count]) => [`one-step workflow: ${kind}`, count] as const);
    return {
      ours: (six.length - one.length) / (long - short),
      extra: { 'writes of a one-step workflow': one.length, ...Object.fromEntries(kinds) },
    };
  },
};
