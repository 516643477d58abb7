import { describe, isLease, verbOf } from '../../../test/cluster/harness/exchange.ts';
import { pause } from '../../../test/cluster/harness/wait.ts';
import { chainOf, register, runExecutions, trueState } from '../bench-cluster.ts';
import type { Program } from '../program.ts';

const seconds = 60;

/** Requests of a controller that has nothing to do, other than watches and Lease renewals, over a minute. */
export const idle: Program = {
  name: 'idle',
  title: `requests of an idle controller in ${seconds} s but watches and Lease renewals`,
  unit: 'requests',
  bar: { of: 'ours', atMost: 0 },
  runs: 1,
  async measure(bench, say) {
    const { proxy } = await bench.controllers({ counted: true, elected: true });
    if (proxy === undefined) throw new Error('the proxy that counts did not start');
    await register(bench, 'short', chainOf(1, trueState));
    await runExecutions(bench, 'short', { count: 3 });
    await pause(10_000);
    proxy.forget();
    await pause(seconds * 1000);
    const seen = [...proxy.exchanges];
    const others = seen.filter((exchange) => verbOf(exchange) !== 'watch' && !isLease(exchange));
    for (const exchange of others) say(`not idle: ${describe(exchange)}`);
    const extra = {
      'watches opened anew': seen.filter((exchange) => verbOf(exchange) === 'watch').length,
      'Lease requests': seen.filter(isLease).length,
    };
    return { ours: others.length, extra };
  },
};
